"""The index that travels as scripts: a table of pages, and their texts in shards.

A page opened from file:// may load scripts but fetch nothing, so the box looks through the texts
themselves. The table serves both ways of searching, for titles and filters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lorepack_builder.model import Page
from lorepack_builder.render.scripts import numbered, script_call
from lorepack_builder.render.search.sections import Section

SHARD_CHARACTERS = 500_000


def page_table(
    pages: Sequence[Page], urls: Mapping[str, str], fragments: Mapping[str, str], shards: int
) -> bytes:
    """Return the script that calls ``lorepack.search.pages`` with all pages.

    A row is title, address, the numbers of source, language and lifecycle in their lists, those of
    its tags, and Pagefind's id; ``shards`` scripts hold the texts.
    """
    sources = numbered(page.source.name for page in pages)
    langs = numbered(page.lang for page in pages)
    lifecycles = numbered(page.lifecycle for page in pages)
    tags = numbered(tag.lower() for page in pages for tag in page.tags)
    rows = [
        [
            page.title, urls[page.path], sources[page.source.name], langs[page.lang],
            lifecycles[page.lifecycle], sorted({tags[tag.lower()] for tag in page.tags}),
            fragments.get(urls[page.path], ""),
        ]
        for page in pages
    ]  # fmt: skip
    table = {
        "source": list(sources),
        "language": list(langs),
        "lifecycle": list(lifecycles),
        "tag": list(tags),
        "shards": shards,
        "rows": rows,
    }
    return script_call("lorepack.search.pages", table)


def text_shards(pages: Sequence[Sequence[Section]]) -> Iterator[bytes]:
    """Yield scripts that call ``lorepack.search.text`` with rows of page number and sections."""
    rows: list[Any] = []
    size = 0
    for number, own in enumerate(pages):
        rows.append([number, [[s.anchor, s.heading, _nfc(s.text)] for s in own]])
        size += sum(len(s.text) + len(s.heading) for s in own)
        if size >= SHARD_CHARACTERS:
            yield script_call("lorepack.search.text", rows)
            rows, size = [], 0
    yield script_call("lorepack.search.text", rows)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
