"""Chunks that touch, as one passage."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

PER_PAGE = 3
"""Chunks of one page in an answer."""
WINDOW = 30
"""Ranks below its best chunk in which a passage still grows."""

_PAGE = "SELECT markdown, body_line FROM pages WHERE id = ?"
_OVERLAP = 4_000
"""Characters in which the repeated end of the chunk before is looked for."""


@dataclass
class Passage:
    """One chunk, or several of a section that follow each other; ``best`` is ranked first."""

    best: sqlite3.Row
    rank: int
    rows: list[sqlite3.Row] = field(default_factory=list)

    def touches(self, row: sqlite3.Row) -> bool:
        """Return whether ``row`` comes right before or after, in the same section."""
        same = ("page_id", "anchor", "headings")
        if any(row[name] != self.best[name] for name in same):
            return False
        return row["ordinal"] in (self.rows[0]["ordinal"] - 1, self.rows[-1]["ordinal"] + 1)

    def add(self, row: sqlite3.Row) -> None:
        """Put ``row`` before or after the others, as it is in the page."""
        self.rows.insert(0 if row["ordinal"] < self.rows[0]["ordinal"] else len(self.rows), row)

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line, from 1, of the page's file."""
        return self.rows[0]["first_line"], self.rows[-1]["last_line"]


def group_chunks(rows: Iterable[sqlite3.Row], limit: int) -> list[Passage]:
    """Return up to ``limit`` passages in the order of their best chunks.

    The first ones are the same whatever the limit, so that a list can go on where it ended.

    Args:
        rows: chunks, best first; at most a few of each page are taken.
    """
    passages: list[Passage] = []
    per_page: dict[int, int] = {}
    for rank, row in enumerate(rows):
        if len(passages) > limit and rank > passages[limit].rank + WINDOW:
            break
        if per_page.get(row["page_id"], 0) >= PER_PAGE:
            continue
        near = next((p for p in passages if rank <= p.rank + WINDOW and p.touches(row)), None)
        if near is not None:
            near.add(row)
            _join_neighbours(passages, near)
        else:
            passages.append(Passage(row, rank, [row]))
        per_page[row["page_id"]] = per_page.get(row["page_id"], 0) + 1
    return passages[:limit]


def _join_neighbours(passages: list[Passage], grown: Passage) -> None:
    """A chunk that fills the gap between two passages makes one of them."""
    for other in passages:
        if other is not grown and (grown.touches(other.rows[0]) or grown.touches(other.rows[-1])):
            first, second = sorted((grown, other), key=passages.index)
            passages.remove(second)
            first.rows = sorted(first.rows + second.rows, key=lambda row: row["ordinal"])
            return


def passage_text(pack: sqlite3.Connection, rows: Sequence[sqlite3.Row]) -> str:
    """Return the text of chunks that follow each other; what they both hold comes once."""
    if len(rows) == 1:
        return str(rows[0]["text"])
    whole = _from_page(pack, rows)
    if whole is not None:
        return whole
    text = str(rows[0]["text"])
    for before, row in pairwise(rows):
        if row["first_line"] > before["last_line"]:
            text += f"\n\n{row['text']}"
        else:
            text += row["text"][_repeated(text, row["text"]) :]
    return text


def _from_page(pack: sqlite3.Connection, rows: Sequence[sqlite3.Row]) -> str | None:
    """Return the page's own lines, if they are what the chunks were cut from."""
    page = pack.execute(_PAGE, (rows[0]["page_id"],)).fetchone()
    begin = rows[0]["first_line"] - page["body_line"]
    lines = page["markdown"].split("\n")[begin : rows[-1]["last_line"] - page["body_line"] + 1]
    text = "\n".join(lines).strip("\n").rstrip()
    first, last = rows[0]["text"], rows[-1]["text"].rpartition("\n")[2]
    same = begin >= 0 and text.startswith(first) and last and text.endswith(last)
    return text if same and len(text) <= sum(len(row["text"]) for row in rows) + 1_000 else None


def _repeated(before: str, after: str) -> int:
    """Return how many characters at the beginning of ``after`` are the end of ``before``."""
    # The longest border of a text, as in the search of Knuth, Morris and Pratt.
    text = f"{after[:_OVERLAP]}\0{before[-_OVERLAP:]}"
    borders = [0] * len(text)
    for place in range(1, len(text)):
        length = borders[place - 1]
        while length and text[place] != text[length]:
            length = borders[length - 1]
        borders[place] = length + 1 if text[place] == text[length] else 0
    return borders[-1]


def headings_of(row: sqlite3.Row) -> tuple[str, ...]:
    """Return the heading path of a chunk, outermost first, without the page's title again."""
    headings = tuple(json.loads(row["headings"]))
    return headings[1:] if headings[:1] == (row["title"],) else headings
