"""Cut a page at its headings, and join what is too small to stand alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from lorepack_builder.chunk.tokens import LineCounts
from lorepack_builder.model import Heading, Page

TINY = 40
"""A section with fewer tokens joins its parent's text."""


@dataclass(frozen=True)
class Section:
    """Lines ``first`` to ``end`` (exclusive) of a body, from 0, below one heading.

    ``joined`` are the anchors of the headings that lie in it, with the line of each.
    """

    first: int
    end: int
    level: int = 0
    anchor: str = ""
    headings: tuple[str, ...] = ()
    joined: tuple[tuple[int, str], ...] = ()
    bare: bool = False
    """Whether it holds headings only, and no text."""


def group_sections(page: Page, lines: list[str], counts: LineCounts) -> list[Section]:
    """Return the sections of a page in order; together they hold every line that is not blank.

    A heading without text of its own goes with the section below it. A tiny section goes with the
    text before it when that is its parent's (or of another child joined to it).
    """
    groups: list[Section] = []
    for section in _sections(page, lines):
        last = groups[-1] if groups else None
        if last and last.bare and section.level > last.level:
            joined = last.joined + section.joined
            groups[-1] = replace(section, first=last.first, joined=joined)
        elif (
            last
            and not last.bare
            and 0 < last.level < section.level
            and counts.between(section.first, section.end) < TINY
        ):
            groups[-1] = replace(last, end=section.end, joined=last.joined + section.joined)
        else:
            groups.append(section)
    return groups


def _sections(page: Page, lines: list[str]) -> Iterator[Section]:
    cuts = [heading for heading in page.headings if heading.top_level]
    starts = [heading.line - page.body_line for heading in cuts]
    # The fence around code is not the file's.
    begin, stop = (1, _closing_fence(lines)) if page.code else (0, len(lines))
    first = starts[0] if starts else stop
    if any(line.strip() for line in lines[begin:first]):
        yield Section(begin, first)
    path: list[Heading] = []
    for heading, (start, end) in zip(cuts, pairwise([*starts, stop]), strict=True):
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        # A heading of the underlined kind has a second line.
        body = start + (1 if lines[start].lstrip().startswith("#") else 2)
        yield Section(
            start,
            end,
            heading.level,
            heading.anchor,
            tuple(item.text for item in path),
            ((start, heading.anchor),),
            bare=not page.code and not any(line.strip() for line in lines[body:end]),
        )


def _closing_fence(lines: list[str]) -> int:
    return next((n for n in range(len(lines) - 1, 0, -1) if lines[n].strip()), 0)
