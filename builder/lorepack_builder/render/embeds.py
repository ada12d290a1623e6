"""The part of a page that an embed shows."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from markdown_it.token import Token


def is_lone_embed(inline: Token) -> bool:
    """Say whether a paragraph is nothing but one embed, which then may hold blocks."""
    children = [c for c in inline.children or [] if c.content.strip() or c.type != "text"]
    if len(children) != 1:
        return False
    child = children[0]
    return child.type == "image" or (child.type == "wikilink" and bool(child.meta["embed"]))


def section_tokens(tokens: Sequence[Token], anchor: str) -> list[Token]:
    """Return the tokens below a heading, or of one marked block; all of them without an anchor."""
    if not anchor:
        return list(tokens)
    for index, token in enumerate(tokens):
        if anchor in (token.attrGet("id"), token.meta.get("block_id")):
            if token.type == "heading_open" and not anchor.startswith("^"):
                return _section(tokens, index)
            return _block(tokens, index)
    return list(tokens)


def without_ids(tokens: Sequence[Token]) -> list[Token]:
    """Return copies without ids, which must stay unique in the page that embeds them."""
    copies = []
    for token in tokens:
        clone = copy.copy(token)
        clone.attrs = {key: value for key, value in token.attrs.items() if key != "id"}
        clone.meta = {key: value for key, value in token.meta.items() if key != "block_id"}
        copies.append(clone)
    return copies


def _section(tokens: Sequence[Token], start: int) -> list[Token]:
    opening = tokens[start]
    for end in range(start + 1, len(tokens)):
        token = tokens[end]
        ends = token.level < opening.level or token.type == "footnote_block_open"
        if ends or (
            token.type == "heading_open"
            and token.level == opening.level
            and token.tag <= opening.tag
        ):
            return list(tokens[start:end])
    return list(tokens[start:])


def _block(tokens: Sequence[Token], start: int) -> list[Token]:
    opening = tokens[start]
    if opening.nesting != 1:
        return [opening]
    for end in range(start + 1, len(tokens)):
        if tokens[end].level == opening.level and tokens[end].nesting == -1:
            block = list(tokens[start : end + 1])
            if opening.type == "list_item_open":
                return [
                    Token("bullet_list_open", "ul", 1),
                    *block,
                    Token("bullet_list_close", "ul", -1),
                ]
            return block
    return [opening]
