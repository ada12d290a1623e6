"""For links that lead nowhere, the existing name that is nearest."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable
from urllib.parse import quote

from rapidfuzz import fuzz

from lorepack_builder.maintenance.normalize import fold_in_place
from lorepack_builder.model import Link, Page

LEAST_ALIKE = 70
"""How much alike (normalised indel similarity, of 100) a nearest name is at least."""
_COMPARED = 30


class NearestNames:
    """Names by their pairs of letters, so that only those that share some are compared."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self._names = sorted(set(names))
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for number, (name, _) in enumerate(self._names):
            for pair in _pairs(name):
                self._holders[pair].append(number)

    def nearest(self, name: str) -> tuple[str, float] | None:
        """Return what the name most like ``name`` stands for, and how alike it is, of 100."""
        shared: Counter[int] = Counter()
        for pair in _pairs(name):
            shared.update(self._holders.get(pair, ()))
        most = sorted(shared.items(), key=lambda item: (-item[1], item[0]))[:_COMPARED]
        rated = [(-fuzz.ratio(name, self._names[number][0]), number) for number, _ in most]
        if not rated or -min(rated)[0] < LEAST_ALIKE:
            return None
        unlike, number = min(rated)
        return self._names[number][1], -unlike


def _pairs(name: str) -> set[str]:
    padded = f" {name} "
    return {padded[at : at + 2] for at in range(len(padded) - 1)}


def wanted_name(link: Link) -> str:
    """Return the name that a link asks for: without folders and suffix, folded."""
    name = posixpath.basename(link.target.replace("\\", "/").rstrip("/"))
    return fold_in_place(name.removesuffix(".md")).strip()


def place_in_text(page: Page, link: Link) -> tuple[str, int]:
    """Return a link's target as it stands in the page's Markdown, and where; '' and -1: nowhere."""
    lines = page.body.split("\n")
    index = link.line - page.body_line
    if not 0 <= index < len(lines):
        return "", -1
    opening = "[[" if link.syntax == "wikilink" else "]("
    before = sum(len(line) + 1 for line in lines[:index])
    for written in (link.target, quote(link.target), link.target.replace(" ", "%20")):
        place = lines[index].find(opening + written)
        if place >= 0:
            return written, before + place + len(opening)
    return "", -1
