"""``#tags`` and bare web addresses in running text."""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

# What may stand in a tag is what Obsidian allows: no space and none of this punctuation.
_WIDE_STOPS = "，。；：！？、（）【】《》「」"
_TAG_CHAR = r"[^\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s" + _WIDE_STOPS + "]"
_WIDE_SIGNS = r"\u3000-\u303f\uff00-\uff65"
_SPECIAL = re.compile(
    rf"(?:(?<=\s)|^)#(?P<tag>{_TAG_CHAR}+)"
    rf"|(?<![\w/])(?P<url>https?://[^\s<>\"'`{_WIDE_SIGNS}]*"
    rf"[^\s<>\"'`.,:;!?)\]*_~{_WIDE_SIGNS}])"
)
_COLOUR = re.compile(r"[0-9a-fA-F]{6}|[0-9a-fA-F]{8}|([0-9a-fA-F])\1{2,3}|(?=.*\d)[0-9a-fA-F]{3,4}")
_NUMBER = re.compile(r"[\d/_-]+")


def is_tag(text: str) -> bool:
    """Say whether ``text`` (without #) is a tag: no bare number and no hex colour."""
    return bool(text.strip("/")) and not _NUMBER.fullmatch(text) and not _COLOUR.fullmatch(text)


def split_text(state: StateCore) -> None:
    """Core rule: cut ``tag`` and link tokens out of text; never inside a link."""
    if "#" not in state.src and "://" not in state.src:
        return
    for token in state.tokens:
        if (
            token.type == "inline"
            and token.children
            and ("#" in token.content or "://" in token.content)
        ):
            token.children = _split_children(token.children)


def _split_children(children: list[Token]) -> list[Token]:
    result: list[Token] = []
    links = 0
    for child in children:
        links += (child.type == "link_open") - (child.type == "link_close")
        if child.type == "text" and not links:
            opens = not result or result[-1].nesting == 1 or result[-1].type.endswith("break")
            result.extend(_split(child, opens or result[-1].type == "task"))
        else:
            result.append(child)
    return result


def _split(token: Token, at_start: bool) -> list[Token]:
    text, pieces, done = token.content, [], 0
    for match in _SPECIAL.finditer(text):
        tag = match.group("tag")
        if tag is not None and (not is_tag(tag) or (match.start() == 0 and not at_start)):
            continue
        pieces.append(Token("text", "", 0, content=text[done : match.start()]))
        if tag is not None:
            pieces.append(Token("tag", "", 0, content=tag.strip("/")))
        else:
            pieces += _autolink(match.group("url"))
        done = match.end()
    if not done:
        return [token]
    pieces.append(Token("text", "", 0, content=text[done:]))
    return [piece for piece in pieces if piece.type != "text" or piece.content]


def _autolink(url: str) -> list[Token]:
    return [
        Token("link_open", "a", 1, attrs={"href": url}, info="auto"),
        Token("text", "", 0, content=url),
        Token("link_close", "a", -1, info="auto"),
    ]
