"""Rich text and properties of Notion's API → text."""

from __future__ import annotations

from typing import Any

from lorepack.util.untrusted import dicts, tables

_MARKS = (("code", "`"), ("bold", "**"), ("italic", "*"), ("strikethrough", "~~"))


def plain_text(parts: Any) -> str:
    """Return rich text without its marks."""
    return "".join(str(part.get("plain_text") or "") for part in dicts(parts)).strip()


def rich_markdown(parts: Any) -> str:
    """Return rich text as Markdown."""
    return "".join(map(_part, dicts(parts)))


def property_text(value: Any) -> str:
    """Return a property's value as one line."""
    if not isinstance(value, dict):
        return ""
    kind = str(value.get("type") or "")
    return " ".join(_value(kind, value.get(kind)).split())


def _value(kind: str, content: Any) -> str:
    if content is None or content is False:
        return "No" if content is False and kind == "checkbox" else ""
    if content is True:
        return "Yes"
    if kind in ("title", "rich_text"):
        return plain_text(content)
    if kind in ("select", "status"):
        return str(tables(content).get("name") or "")
    if kind in ("multi_select", "people", "files"):
        return ", ".join(str(entry.get("name") or "") for entry in dicts(content))
    if kind == "date":
        return " → ".join(str(day) for key in ("start", "end") if (day := tables(content).get(key)))
    if kind in ("formula", "rollup") and isinstance(content, dict):
        inner = str(content.get("type") or "")
        if inner == "array":
            return ", ".join(filter(None, map(property_text, dicts(content.get("array")))))
        return _value(inner, content.get(inner))
    if kind in ("created_by", "last_edited_by") and isinstance(content, dict):
        return str(content.get("name") or "")
    return str(content) if isinstance(content, str | int | float) else ""


def _part(part: dict[str, Any]) -> str:
    if part.get("type") == "equation":
        return f"${tables(part.get('equation')).get('expression', '')}$"
    text = str(part.get("plain_text") or "")
    marks = tables(part.get("annotations"))
    core = text.strip()
    if not core:
        return text
    shown = core
    for name, sign in _MARKS:
        if marks.get(name):
            shown = f"{sign}{shown}{sign}"
    if href := part.get("href"):
        address = f"https://www.notion.so{href}" if str(href).startswith("/") else str(href)
        shown = f"[{shown}]({address})"
    # Marks must stand at the words, not at the spaces around them.
    return text.replace(core, shown, 1)
