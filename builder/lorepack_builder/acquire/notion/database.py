"""A database of an export: its CSV as a page with a table that links to its rows."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lorepack_builder.acquire.notion.links import relative, relink
from lorepack_builder.acquire.notion.page import Note

csv.field_size_limit(2**24)
_RELATION = re.compile(r"([^,()]+?) \(([^()]+\.md)\)")


@dataclass(frozen=True)
class Database:
    """The columns, and the cells of each row; the first column is the row's title."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def titles(self) -> list[str]:
        """The titles of all rows, in order."""
        return [row[0].strip() if row else "" for row in self.rows]


def read_database(text: str) -> Database | None:
    """Read a CSV whose byte order mark is already gone; rows without any value are left out.

    None if it is no CSV.
    """
    try:
        rows = [tuple(row) for row in csv.reader(io.StringIO(text, newline=""), strict=False)]
    except csv.Error:
        return None
    if not rows:
        return Database((), ())
    kept = tuple(row for row in rows[1:] if any(cell.strip() for cell in row))
    return Database(tuple(name.strip() for name in rows[0]), kept)


def database_markdown(
    title: str, database: Database, notes: Mapping[str, Note], name: str, names: Mapping[str, str]
) -> str:
    """Return a page with the table; a row links to its page if only one bears its title.

    Args:
        notes: the row's pages by path in the export, where the database is ``name``; ``names``
            are the paths in the pack.
    """
    by_title: defaultdict[str, list[str]] = defaultdict(list)
    for path, note in notes.items():
        by_title[note.title].append(path)
    lines = [f"# {title}", ""]
    lines += [_row(database.columns), _row(["---"] * len(database.columns))]
    for row, row_title in zip(database.rows, database.titles, strict=True):
        cells = [_cell(cell, name, names) for cell in row]
        own = by_title.get(row_title, [])
        if len(own) == 1:
            cells[0] = f"[{cells[0]}]({relative(names[own[0]], names[name])})"
        lines.append(_row(cells))
    in_table = set(database.titles)
    others = [path for path, note in notes.items() if len(by_title[note.title]) > 1
              or note.title not in in_table]  # fmt: skip
    if others:
        lines += ["", *(f"- [{_escape(notes[path].title)}]({relative(names[path], names[name])})"
                        for path in sorted(others))]  # fmt: skip
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str, name: str, names: Mapping[str, str]) -> str:
    """Return a cell in one line; ``Title (path.md)`` is how Notion writes a relation."""
    shown = _escape(" ".join(text.split()))
    linked = _RELATION.sub(lambda m: f"[{m[1].strip()}]({m[2]})", shown)
    return relink(linked, name, names) if linked != shown else shown


def _escape(text: str) -> str:
    return re.sub(r"([|\[\]<>`*_\\])", r"\\\1", text)
