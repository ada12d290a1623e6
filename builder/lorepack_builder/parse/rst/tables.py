"""reStructuredText's tables → rows of Markdown."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

_GRID_BORDER = re.compile(r"\+(?:[-=]+\+)+\s*")
_SIMPLE_BORDER = re.compile(r"=+(?: +=+)+\s*")
_SPAN = re.compile(r"-+(?: +-+)*\s*")

Rows = list[list[str]]


def is_grid(line: str) -> bool:
    """Say whether a line begins a grid table."""
    return _GRID_BORDER.fullmatch(line) is not None


def is_simple(line: str) -> bool:
    """Say whether a line begins a simple table."""
    return _SIMPLE_BORDER.fullmatch(line) is not None


def grid_rows(lines: Sequence[str]) -> Rows:
    """Return the cells of a grid table, the first row being its head."""
    rows: Rows = []
    current: list[str] = []
    for line in lines:
        if line.startswith("+"):
            if any(current):
                rows.append(current)
            current = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != len(current):
            current = current + [""] * (len(cells) - len(current))
        current = [f"{a} {b}".strip() for a, b in zip(current, cells, strict=False)]
    return rows


def simple_table_end(lines: Sequence[str], start: int) -> int:
    """Return the line after a simple table: after its second or third border."""
    borders = [i for i in range(start, len(lines)) if is_simple(lines[i])]
    blanks = [i for i in range(start, len(lines)) if not lines[i].strip()]
    for border in borders[1:]:
        if border + 1 >= len(lines) or (border + 1) in blanks:
            return border + 1
    return start + 1


def simple_rows(lines: Sequence[str]) -> Rows:
    """Return the cells of a simple table, the first row being its head."""
    starts = [match.start() for match in re.finditer(r"=+", lines[0])]
    ends = [*starts[1:], None]
    rows: Rows = []
    has_head = sum(is_simple(line) for line in lines) > 2
    for line in lines[1:]:
        if is_simple(line) or _SPAN.fullmatch(line) or not line.strip():
            continue
        cells = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
        if rows and not cells[0]:
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows if has_head else [[""] * len(starts), *rows]


def list_rows(lines: Sequence[str], *, has_head: bool) -> Rows:
    """Return the cells of a ``list-table``: a list of lists."""
    rows: Rows = []
    for line in lines:
        text = line.strip()
        if text.startswith("* -"):
            rows.append([text[3:].strip()])
        elif text.startswith("- ") or text == "-":
            if rows:
                rows[-1].append(text[1:].strip())
        elif text and rows:
            rows[-1][-1] = f"{rows[-1][-1]} {text}".strip()
    return rows if has_head or not rows else [[""] * len(rows[0]), *rows]


def csv_rows(lines: Sequence[str], header: str) -> Rows:
    """Return the cells of a ``csv-table``."""
    head = next(csv.reader([header], skipinitialspace=True), []) if header else []
    rows = [row for row in csv.reader(lines, skipinitialspace=True) if row]
    return [head or [""] * max(map(len, rows), default=0), *rows]


def markdown_rows(rows: Rows) -> list[str]:
    """Return a Markdown table; the first row is its head."""
    width = max(map(len, rows), default=0)
    if not width:
        return []
    shown = ["| " + " | ".join(_cell(c) for c in row + [""] * (width - len(row))) + " |"
             for row in rows]  # fmt: skip
    return [shown[0], "|" + "---|" * width, *shown[1:]]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
