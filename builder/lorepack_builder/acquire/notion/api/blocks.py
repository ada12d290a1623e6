"""Blocks of Notion's API → Markdown, as its export writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lorepack.util.untrusted import items, tables
from lorepack_builder.acquire.notion.api.text import plain_text, rich_markdown

Block = dict[str, Any]
_HEADINGS = {"heading_1": "#", "heading_2": "##", "heading_3": "###"}
_LISTS = frozenset({"bulleted_list_item", "numbered_list_item", "to_do"})
_TIGHT = _LISTS | {"table_row"}
_FILES = frozenset({"image", "file", "video", "pdf", "audio"})
_LINKS = frozenset({"bookmark", "embed", "link_preview"})
_AROUND = frozenset({"column_list", "column", "synced_block"})
_BELOW = frozenset({"child_page", "child_database"})


def block_markdown(
    blocks: Sequence[Block], inner: Callable[[Block], str], below: Callable[[Block], str]
) -> str:
    """Return blocks as Markdown.

    Args:
        inner: gives the Markdown of what stands in a block.
        below: writes a page or database, and gives a link to it.
    """
    parts: list[str] = []
    number = 0
    before = ""
    for block in blocks:
        kind = str(block.get("type") or "")
        number = number + 1 if kind == "numbered_list_item" else 0
        text = _one(kind, block, number, inner, below)
        if text:
            tight = kind in _TIGHT and before == kind
            parts += ([] if not parts else ["\n"] if tight else ["\n\n"]) + [text]
            before = kind
    return "".join(parts)


def _one(
    kind: str, block: Block, number: int, inner: Callable[[Block], str],
    below: Callable[[Block], str],
) -> str:  # fmt: skip
    content = tables(block.get(kind))
    if kind in _BELOW:
        return below(block)
    if kind in _AROUND:
        return inner(block)
    children = inner(block) if block.get("has_children") else ""
    if kind == "table":
        return _table(children)
    text = rich_markdown(content.get("rich_text"))
    if kind in _HEADINGS:
        return "\n\n".join(filter(None, (f"{_HEADINGS[kind]} {text}", children)))
    if kind in _LISTS:
        marker = {"to_do": f"- [{'x' if content.get('checked') else ' '}]"}.get(kind, "-")
        marker = f"{number}." if kind == "numbered_list_item" else marker
        return f"{marker} {text}" + _indented(children)
    if kind == "toggle":
        return f"- {text}" + _indented(children)
    if kind in ("quote", "callout"):
        whole = "\n\n".join(filter(None, (f"{_icon(content)}{text}", children)))
        if kind == "callout":
            return f"<aside>\n{whole}\n\n</aside>"
        return "\n".join(f"> {line}".rstrip() for line in whole.split("\n"))
    return _leaf(kind, content) or "\n\n".join(filter(None, (text, children)))


def _leaf(kind: str, content: Block) -> str:
    """Convert a block that holds neither rich text nor other blocks; '' for any other."""
    if kind == "code":
        return f"```{content.get('language') or ''}\n{plain_text(content.get('rich_text'))}\n```"
    if kind == "equation":
        return f"$$\n{content.get('expression') or ''}\n$$"
    if kind == "divider":
        return "---"
    if kind in _FILES or kind in _LINKS:
        return _link(kind, content)
    return _table_row(content) if kind == "table_row" else ""


def _table(rows: str) -> str:
    """Put the line below the first row that makes rows a table."""
    head, _, rest = rows.partition("\n")
    width = head.replace("\\|", "").count("|") - 1
    return "\n".join(filter(None, (head, "|" + "---|" * width, rest))) if head else ""


def _table_row(content: Block) -> str:
    cells = [rich_markdown(cell).replace("|", "\\|") for cell in items(content.get("cells"))]
    return f"| {' | '.join(cells)} |"


def _link(kind: str, content: Block) -> str:
    where = tables(content.get(str(content.get("type") or "")))
    url = str(content.get("url") or where.get("url") or "")
    name = rich_markdown(content.get("caption")) or str(content.get("name") or "") or kind
    # A signed address holds a key, and stops working within the hour.
    address = url.partition("?")[0] if content.get("type") == "file" else url
    return f"{'!' if kind == 'image' else ''}[{name}]({address})" if address else ""


def _icon(content: Block) -> str:
    emoji = tables(content.get("icon")).get("emoji")
    return f"{emoji} " if emoji else ""


def _indented(text: str) -> str:
    return "".join(f"\n    {line}".rstrip(" ") for line in text.split("\n")) if text else ""
