"""Anchors of headings: from their text alone, unique in a page, and steady.

The first heading with a text has that text's slug. A later one with the same text is told apart by
the heading above it, and only then by a number; neither takes the slug of a real heading. So
adding a heading below others leaves theirs alone.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_DROPPED = re.compile(r"[^\w\s-]")
_SPACES = re.compile(r"[\s-]+")
_SILENT = frozenset({"footnote_ref", "footnote_anchor", "html_inline", "task"})


def slugify(text: str) -> str:
    """Return the slug of a heading; one without letters or digits gets a hash of its text."""
    kept = _DROPPED.sub("", unicodedata.normalize("NFC", text).lower())
    slug = _SPACES.sub("-", kept).strip("-")
    return slug or "s-" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def inline_text(token: Token) -> str:
    """Return what a reader sees of an inline token."""
    parts = []
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "tag":
            parts.append("#" + child.content)
        elif child.type not in _SILENT:
            parts.append(child.content)
    return " ".join("".join(parts).split())


def set_anchors(state: StateCore) -> None:
    """Core rule: give every heading the attribute ``id``."""
    tokens = state.tokens
    found = [i for i, token in enumerate(tokens) if token.type == "heading_open"]
    texts = [inline_text(tokens[i + 1]) for i in found]
    levels = [int(tokens[i].tag[1]) for i in found]
    for index, anchor in zip(found, unique_anchors(texts, levels), strict=True):
        marked = tokens[index].attrGet("id")
        if marked:
            tokens[index].meta["block_id"] = marked
        tokens[index].attrSet("id", anchor)


def unique_anchors(texts: list[str], levels: list[int]) -> list[str]:
    """Return an anchor for each heading of a page, in order."""
    slugs = [slugify(text) for text in texts]
    real = set(slugs)
    used: set[str] = set()
    anchors: list[str] = []
    open_slugs: list[tuple[int, str]] = []
    numbers: dict[str, int] = {}
    for slug, level in zip(slugs, levels, strict=True):
        while open_slugs and open_slugs[-1][0] >= level:
            open_slugs.pop()
        anchor = slug
        if slug in used:
            parents = [parent for _, parent in open_slugs]
            anchor = _distinct("-".join([*parents[-1:], slug]), used, real, numbers)
        used.add(anchor)
        anchors.append(anchor)
        open_slugs.append((level, slug))
    return anchors


def _distinct(wanted: str, used: set[str], real: set[str], numbers: dict[str, int]) -> str:
    """Return ``wanted`` with the first number that is free; ``numbers`` are the last ones given."""
    number = numbers.get(wanted, 1)
    anchor = wanted if number == 1 else f"{wanted}-{number}"
    while anchor in used or anchor in real:
        number += 1
        anchor = f"{wanted}-{number}"
    numbers[wanted] = number
    return anchor
