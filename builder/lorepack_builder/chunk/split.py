"""Split a section that is too long, at its blocks and with overlap."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from lorepack_builder.chunk.sections import Section
from lorepack_builder.chunk.tokens import LineCounts
from lorepack_builder.model import Block, Page

OVERLAP = 64
"""Tokens that a piece repeats of the one before it."""

_WHOLE = frozenset(
    {"fence", "code_block", "table", "table_head", "table_row", "math_block", "html_block"}
)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？；;])\s*|\s+")


@dataclass(frozen=True)
class Piece:
    """A part of a section as it will be stored; lines are the file's, both inclusive."""

    text: str
    first_line: int
    last_line: int
    tokens: int
    anchors: tuple[str, ...]


@dataclass(frozen=True)
class _Unit:
    """Lines that stay together (``end`` exclusive), or a part of one line too long for a piece."""

    kind: str
    first: int
    end: int
    tokens: int
    text: str | None = None


def split_section(
    page: Page, section: Section, lines: list[str], counts: LineCounts, max_tokens: int
) -> Iterator[Piece]:
    """Yield the pieces of ``section``, in order; each has text."""
    if counts.between(section.first, section.end) <= max_tokens:
        units = [[_unit("section", section.first, section.end, counts)]]
    else:
        units = _pack(
            list(_units(page, section, lines, counts, max_tokens)), lines, counts, max_tokens
        )
    for number, group in enumerate(units):
        text = _join(group, lines)
        if text.strip():
            first, end = group[0].first, group[-1].end
            # What ends in blank lines is cited without them.
            while end > first + 1 and not lines[end - 1].strip():
                end -= 1
            yield Piece(
                text,
                page.body_line + first,
                page.body_line + end - 1,
                max(1, sum(unit.tokens for unit in group)),
                _anchors(section, units, number),
            )


def _anchors(section: Section, units: list[list[_Unit]], number: int) -> tuple[str, ...]:
    """The headings that begin in this piece; the overlap does not count."""
    begin = units[number - 1][-1].end if number else section.first
    end = units[number][-1].end
    if number == len(units) - 1:
        end = section.end
    return tuple(anchor for line, anchor in section.joined if begin <= line < end)


def _unit(kind: str, first: int, end: int, counts: LineCounts) -> _Unit:
    return _Unit(kind, first, end, counts.between(first, end))


def _units(
    page: Page, section: Section, lines: list[str], counts: LineCounts, max_tokens: int
) -> Iterator[_Unit]:
    """Yield the blocks of a section, gaps included.

    A block that is too long comes in its parts, and a part that is too long line by line.
    """
    blocks: dict[int, Block | None] = {section.first: None}
    for block in _blocks_between(page, section):
        blocks[block.first_line - page.body_line] = block
    starts = sorted(blocks)
    for start, end in zip(starts, [*starts[1:], section.end], strict=True):
        block_here = blocks[start]
        kind = block_here.kind if block_here else "text"
        if counts.between(start, end) <= max_tokens or block_here is None:
            yield from _fitting(_unit(kind, start, end, counts), lines, counts, max_tokens)
            continue
        parts = [line - page.body_line for line in block_here.parts] or [start]
        for number, (first, stop) in enumerate(zip(parts, [*parts[1:], end], strict=True)):
            part_kind = kind if kind != "table" else ("table_row" if number else "table_head")
            yield from _fitting(_unit(part_kind, first, stop, counts), lines, counts, max_tokens)


def _blocks_between(page: Page, section: Section) -> Iterator[Block]:
    first, end = page.body_line + section.first, page.body_line + section.end
    at = bisect_left(page.blocks, first, key=lambda block: block.first_line)
    while at < len(page.blocks) and page.blocks[at].first_line < end:
        yield page.blocks[at]
        at += 1


def _fitting(unit: _Unit, lines: list[str], counts: LineCounts, max_tokens: int) -> Iterator[_Unit]:
    if unit.tokens <= max_tokens:
        yield unit
        return
    for line in range(unit.first, unit.end):
        single = _unit(unit.kind, line, line + 1, counts)
        if single.tokens <= max_tokens:
            yield single
        else:
            yield from _windows(single, lines[line], counts.columns(line), max_tokens)


def _windows(unit: _Unit, line: str, columns: list[int], max_tokens: int) -> Iterator[_Unit]:
    """Cut one endless line after a sentence or word, near every ``max_tokens`` tokens."""
    start = 0
    while start < len(columns):
        stop = min(start + max_tokens, len(columns))
        left = columns[start] if start else 0
        right = len(line) if stop == len(columns) else columns[stop]
        if stop < len(columns):
            breaks = [m.end() for m in _SENTENCE_END.finditer(line, left, right) if m.end() > left]
            right = breaks[-1] if breaks and breaks[-1] > (left + right) // 2 else right
            stop = max(start + 1, bisect_left(columns, right))
        yield _Unit(unit.kind, unit.first, unit.end, stop - start, line[left:right])
        start = stop


def _pack(
    units: list[_Unit], lines: list[str], counts: LineCounts, max_tokens: int
) -> list[list[_Unit]]:
    """Fill pieces greedily; each begins with the end of the one before it."""
    groups: list[list[_Unit]] = []
    current: list[_Unit] = []
    total = 0
    for unit in units:
        if current and total + unit.tokens > max_tokens:
            groups.append(current)
            current = _lead(current, unit, units, lines, counts, max_tokens - unit.tokens)
            total = sum(part.tokens for part in current)
        current.append(unit)
        total += unit.tokens
    return [*groups, current]


def _lead(
    group: list[_Unit],
    following: _Unit,
    units: list[_Unit],
    lines: list[str],
    counts: LineCounts,
    room: int,
) -> list[_Unit]:
    """Return what the next piece repeats: a table's head, or the tail of the text before."""
    if following.kind == "table_row":
        heads = [u for u in units if u.kind == "table_head" and u.first < following.first]
        if heads and heads[-1].tokens <= room:
            head = heads[-1]
            # It stands for its text only: the piece's lines begin where its rows do.
            text = "\n".join(lines[head.first : head.end])
            return [_Unit("table_head", following.first, following.first, head.tokens, text)]
        return []
    return _tail(group[-1], lines, counts, min(OVERLAP, room))


def _tail(unit: _Unit, lines: list[str], counts: LineCounts, room: int) -> list[_Unit]:
    if unit.kind in _WHOLE or room <= 0:
        return []
    if unit.text is None:
        first = unit.end
        while first > unit.first and counts.between(first - 1, unit.end) <= room:
            first -= 1
        if first < unit.end and any(line.strip() for line in lines[first : unit.end]):
            return [_unit("overlap", first, unit.end, counts)]
    line = _last_line_with_text(unit, lines)
    text = lines[line] if unit.text is None else unit.text
    start = len(text) - _characters(text, room, unit, counts, line)
    match = _SENTENCE_END.search(text, start)
    start = match.end() if match and match.end() < len(text) else start
    kept = text[start:].strip()
    share = room * len(kept) // max(1, len(text) - start)
    return [_Unit("overlap", line, line + 1, min(room, share), kept)] if kept else []


def _last_line_with_text(unit: _Unit, lines: list[str]) -> int:
    for line in range(unit.end - 1, unit.first, -1):
        if lines[line].strip():
            return line
    return unit.first


def _characters(text: str, tokens: int, unit: _Unit, counts: LineCounts, line: int) -> int:
    """Return how many characters at the end of ``text`` hold about ``tokens`` tokens."""
    total = unit.tokens if unit.text is not None else counts.between(line, line + 1)
    return len(text) * tokens // max(total, 1) if total > tokens else len(text)


def _join(group: list[_Unit], lines: list[str]) -> str:
    parts: list[str] = []
    for previous, unit in zip([None, *group[:-1]], group, strict=True):
        text = unit.text if unit.text is not None else "\n".join(lines[unit.first : unit.end])
        if previous is not None and previous.text is not None and unit.text is not None:
            same_line = previous.first == unit.first and previous.kind != "table_head"
            parts.append("" if same_line else "\n")
        elif previous is not None:
            parts.append("\n")
        parts.append(text)
    return "".join(parts).strip("\n").rstrip()
