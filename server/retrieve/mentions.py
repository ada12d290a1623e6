"""Names of pages in a text that does not link them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from lorepack.packfile.segment import fold, segment

_NAMED = """
SELECT names.name, min(pages.path) AS path FROM names JOIN pages ON pages.id = names.page_id
WHERE names.name IN (SELECT value FROM json_each(?)) GROUP BY names.name HAVING count(*) = 1
"""
_COUNT = "SELECT chunks FROM terms WHERE term = ?"
_HIDDEN = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)"  # fenced code
    r"|^#{1,6} [^\n]*$|^ {0,3}\|?[-|: ]+\|?$"  # headings, rules of tables
    r"|`[^`\n]*`|!?\[\[[^\]\n]*\]\]|!?\[[^\]\n]*\]\([^)\n]*\)"  # inline code and links
    r"|https?://\S+|<[^>\n]+>|\$[^$\n]+\$|(?<!\w)#[\w/-]+",
    re.MULTILINE | re.DOTALL,
)
_WORD = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]+|[^\W_\u3400-\u9fff]+(?:['’-]\w+)*")
_MOST_WORDS, _MOST_CHARACTERS = 6, 10
_SHORTEST = 4
"""Letters of a name that is one word; shorter ones stand in too many texts by chance."""
_COMMON = 0.1
"""A name in more than this share of the chunks is a word like others."""


@dataclass(frozen=True)
class Mention:
    """A page's name in another page's text: from ``start`` to ``end`` of the Markdown."""

    path: str
    start: int
    end: int


def find_mentions(pack: sqlite3.Connection, markdown: str, chunks: int) -> list[Mention]:
    """Return the first mention of each page, in the order of the text; longer names first.

    Code, headings, links and tags are no mentions.

    Args:
        chunks: how many the pack has.
    """
    prose = _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), markdown)
    spans: dict[str, list[tuple[int, int]]] = {}
    for start, end in _spans(prose):
        spans.setdefault(fold(prose[start:end]).strip(), []).append((start, end))
    found = pack.execute(_NAMED, (json.dumps(list(spans), ensure_ascii=False),)).fetchall()
    candidates = [
        Mention(row["path"], *span)
        for row in found
        if _tells(pack, row["name"], chunks)
        for span in spans[row["name"]]
    ]
    candidates.sort(key=lambda mention: (mention.start, -mention.end))
    chosen: dict[str, Mention] = {}
    last = 0
    for mention in candidates:
        if mention.start >= last and mention.path not in chosen:
            chosen[mention.path] = mention
            last = mention.end
    return list(chosen.values())


def _spans(prose: str) -> Iterator[tuple[int, int]]:
    """Yield what may be a name: up to six words of a line, or a part of an unspaced run."""
    words = list(_WORD.finditer(prose))
    for place, word in enumerate(words):
        if "\u2e80" < word.group()[0] < "\ud7b0":
            for begin in range(word.start(), word.end()):
                longest = min(word.end(), begin + _MOST_CHARACTERS)
                yield from ((begin, end) for end in range(begin + 2, longest + 1))
            continue
        for last in words[place : place + _MOST_WORDS]:
            if "\n" in prose[word.start() : last.end()]:
                break
            yield word.start(), last.end()


def _tells(pack: sqlite3.Connection, name: str, chunks: int) -> bool:
    tokens = list(segment(name))
    if len(tokens) != 1:
        return True
    row = pack.execute(_COUNT, (tokens[0],)).fetchone()
    common = row is not None and row[0] > max(_COMMON * chunks, 20)
    return not common and (len(name) >= _SHORTEST or not name.isascii())
