"""``^block-id`` at the end of a block, or on a line of its own after one."""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$")
_MARKABLE = frozenset(
    {
        "paragraph_open", "blockquote_open", "callout_open", "bullet_list_open",
        "ordered_list_open", "table_open", "fence", "code_block", "math_block",
        "list_item_open", "heading_open",
    }
)  # fmt: skip


def set_block_ids(state: StateCore) -> None:
    """Core rule: give the marked block the attribute ``id`` = ``^block-id``."""
    if "^" not in state.src:
        return
    tokens = state.tokens
    for index, token in enumerate(tokens):
        if token.type == "inline" and "^" in token.content and token.children:
            last = token.children[-1]
            match = _BLOCK_ID.search(last.content) if last.type == "text" else None
            if match:
                last.content = last.content[: match.start()]
                _mark(tokens, index, "^" + match.group(1))


def _mark(tokens: list[Token], index: int, block_id: str) -> None:
    opening, inline = tokens[index - 1], tokens[index]
    children = inline.children or []
    if opening.type == "paragraph_open" and not any(c.content or c.nesting for c in children):
        before = _block_before(tokens, index - 1)
        if before is not None:
            before.attrSet("id", block_id)
            opening.hidden = tokens[index + 1].hidden = True
            inline.children = []
            return
    in_item = index >= 2 and tokens[index - 2].type == "list_item_open"
    (tokens[index - 2] if in_item else opening).attrSet("id", block_id)
    while (children and children[-1].type in ("softbreak", "hardbreak")) or _is_blank(children):
        children.pop()


def _is_blank(children: list[Token]) -> bool:
    return bool(children) and children[-1].type == "text" and not children[-1].content


def _block_before(tokens: list[Token], index: int) -> Token | None:
    level = tokens[index].level
    for token in reversed(tokens[:index]):
        if token.level < level:
            return None
        if token.level == level and token.type in _MARKABLE:
            return token
    return None
