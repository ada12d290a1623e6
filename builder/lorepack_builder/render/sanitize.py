"""What HTML of a source may stay: what Obsidian shows, and nothing that runs or phones home."""

from __future__ import annotations

import re
from collections.abc import Mapping

import nh3

_TAGS = nh3.ALLOWED_TAGS | frozenset(
    {
        "audio", "details", "div", "figure", "figcaption", "input", "label", "mark", "object",
        "section", "source", "span", "summary", "video", "kbd",
    }
)  # fmt: skip
_GLOBAL = frozenset({"id", "class", "title", "lang", "dir", "align", "role", "aria-label"})
_ATTRIBUTES: Mapping[str, set[str]] = {
    "a": {"href", "data-target"},
    "img": {"src", "alt", "width", "height", "loading"},
    "audio": {"src", "controls", "preload"},
    "video": {"src", "controls", "preload", "width", "height"},
    "source": {"src", "type"},
    "input": {"type", "checked", "disabled", "data-task"},
    "details": {"open"},
    "ol": {"start", "type"},
    "td": {"colspan", "rowspan", "style"},
    "th": {"colspan", "rowspan", "scope", "style"},
    "div": {"data-callout", "data-embed"},
    "object": {"type", "data", "width", "height"},
    "pre": {"data-lang"},
}
_LOADED = frozenset({("img", "src"), ("audio", "src"), ("video", "src"), ("source", "src"),
                     ("object", "data")})  # fmt: skip


# Elements in which an HTML parser sees no tags, or drops them: one that is not closed would
# swallow the rest of the page.
_SWALLOWING = (
    "script|style|iframe|noembed|noframes|noscript|template|textarea|title|xmp|plaintext|select"
    "|svg|math|object|embed"
)
_SWALLOWS = re.compile(rf"<({_SWALLOWING})\b[^>]*>", re.IGNORECASE)
_ATTRIBUTE = r"\s+[A-Za-z_:][\w:.-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?"
_TAG = re.compile(rf"<(?:([A-Za-z][\w-]*)(?:{_ATTRIBUTE})*\s*/?|/([A-Za-z][\w-]*)\s*)>")
_GENERATED = frozenset({"object"})
"""Elements that Lorepack writes, and no source may."""


def whole_tags(html: str) -> str:
    """Return raw HTML of a source with whole tags that may stay; a lone ``<`` becomes text.

    So nothing in it takes what follows away, whatever it leaves open.
    """
    html = _without_swallowing(html)
    kept, position = [], 0
    for match in _TAG.finditer(html):
        kept.append(html[position : match.start()].replace("<", "&lt;"))
        name = (match.group(1) or match.group(2)).lower()
        if name in _TAGS and name not in _GENERATED:
            kept.append(match.group())
        position = match.end()
    return "".join(kept) + html[position:].replace("<", "&lt;")


def _without_swallowing(html: str) -> str:
    """Return HTML without the elements of `_SWALLOWING` that are closed, in one pass."""
    kept, position = [], 0
    unclosed: set[str] = set()
    # Behind the last ``>`` no tag ends, and none is looked for.
    for match in _SWALLOWS.finditer(html, 0, html.rfind(">") + 1):
        name = match[1].lower()
        if match.start() < position or name in unclosed:
            continue
        closing = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(html, match.end())
        if closing is None:
            unclosed.add(name)
            continue
        kept.append(html[position : match.start()])
        position = closing.end()
    return "".join(kept) + html[position:]


def sanitize(html: str) -> str:
    """Return ``html`` without scripts, handlers, frames and anything loaded from elsewhere."""
    return nh3.clean(
        html,
        tags=set(_TAGS),
        clean_content_tags={"script", "style", "template", "noscript", "iframe"},
        attributes={tag: _ATTRIBUTES.get(tag, set()) | _GLOBAL for tag in _TAGS},
        attribute_filter=_filter,
        url_schemes={"http", "https", "mailto", "tel", "obsidian", "ftp"},
        link_rel="noopener noreferrer",
        filter_style_properties={"text-align"},
        strip_comments=True,
    )


def _filter(tag: str, name: str, value: str) -> str | None:
    if (tag, name) in _LOADED and (
        "//" in value[:8] or "\\" in value or ":" in value.split("/", maxsplit=1)[0]
    ):
        return None
    if tag == "object" and value.rpartition(".")[2] != "pdf" and name == "data":
        return None
    if tag == "object" and name == "type" and value != "application/pdf":
        return None
    if tag == "input" and name == "type" and value != "checkbox":
        return None
    return value
