"""``> [!note]- Title`` becomes a callout."""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_MARKER = re.compile(r"\[!([^\]\n]+)\]([+-]?)[ \t]*")
_BREAKS = ("softbreak", "hardbreak")


def make_callouts(state: StateCore) -> None:
    """Core rule: turn quotes that begin with a marker into ``callout_open`` … ``callout_close``."""
    if "[!" not in state.src:
        return
    tokens = state.tokens
    for index in range(len(tokens) - 1, -1, -1):
        if tokens[index].type == "blockquote_open" and index + 2 < len(tokens):
            inline = tokens[index + 2]
            match = _MARKER.match(inline.content) if inline.type == "inline" else None
            if match and inline.children and inline.children[0].type == "text":
                _make_callout(tokens, index, match)


def _make_callout(tokens: list[Token], index: int, marker: re.Match[str]) -> None:
    opening, paragraph, inline = tokens[index : index + 3]
    children = inline.children or []
    children[0].content = children[0].content[marker.end() :]
    cut = next((i for i, c in enumerate(children) if c.type in _BREAKS), len(children))
    kind = marker.group(1).split("|")[0].strip().lower()
    title, rest = children[:cut], children[cut + 1 :]
    if not any(child.content or child.nesting for child in title):
        title = [Token("text", "", 0, content=kind.replace("-", " ").capitalize())]
    _retype(tokens, index, kind, marker.group(2))
    title_inline = Token("inline", "", 0, content="", children=title, level=inline.level)
    title_inline.map = [opening.map[0], opening.map[0] + 1] if opening.map else None
    head = [
        Token("callout_title_open", "p", 1, level=paragraph.level, map=title_inline.map),
        title_inline,
        Token("callout_title_close", "p", -1, level=paragraph.level),
    ]
    if not rest:
        tokens[index + 1 : index + 4] = head
        return
    inline.children = rest
    _, _, inline.content = inline.content.partition("\n")
    if inline.map:
        inline.map = [inline.map[0] + 1, inline.map[1]]
        paragraph.map = list(inline.map)
    tokens[index + 1 : index + 1] = head


def _retype(tokens: list[Token], index: int, kind: str, fold: str) -> None:
    opening = tokens[index]
    for position in range(index + 1, len(tokens)):
        closing = tokens[position]
        if closing.type == "blockquote_close" and closing.level == opening.level:
            closing.type = "callout_close"
            closing.meta = {"kind": kind, "fold": fold}
            break
    opening.type = "callout_open"
    opening.meta = {"kind": kind, "fold": fold}
