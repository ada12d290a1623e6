"""Index: pages, chunks and vectors → the rows of a pack."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lorepack.index.vectors import binary_planes, centre, language_means, quantize
from lorepack.text.tokenize import fold
from lorepack_builder.embed import embedding_text, text_hash
from lorepack_builder.history.changes import Changes
from lorepack_builder.index.fulltext import segmented
from lorepack_builder.index.graph import ChunkPlaces, Graph, build_graph
from lorepack_builder.index.maintenance import write_upkeep
from lorepack_builder.index.postings import term_postings
from lorepack_builder.maintenance.model import Upkeep
from lorepack_builder.model import Chunk, Finding, LinkedPage, Source
from lorepack_builder.recipe import Dependency

_PAGE = """
INSERT INTO pages (id, source_id, path, title, lang, category, tags, aliases, summary, lifecycle,
    tool, created, updated, url, body_line, hash, frontmatter, markdown)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_NAME = "INSERT OR IGNORE INTO names (name, page_id) VALUES (?, ?)"
_SOURCE = """
INSERT INTO sources (id, name, kind, origin, web, revision, subdir, licence)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_DEPENDENCY = """
INSERT OR REPLACE INTO dependencies (ecosystem, name, version, repo, source_id)
VALUES (?, ?, ?, ?, ?)
"""
_CHUNK = """
INSERT INTO chunks (id, page_id, ordinal, key, anchor, headings, text, first_line, last_line,
    tokens, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_HEADING = """
INSERT INTO headings (page_id, ordinal, level, text, anchor, line, chunk_id)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_WORDS = "INSERT INTO chunks_fts (rowid, title, headings, body, path) VALUES (?, ?, ?, ?, ?)"
_OPTIMIZE = "INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')"
_TERM = "INSERT INTO terms (term, chunks, postings) VALUES (?, ?, ?)"
_VECTOR = "INSERT INTO vectors (chunk_id, vector, scale) VALUES (?, ?, ?)"
_MEAN = "INSERT INTO vector_means (lang, mean) VALUES (?, ?)"
_PLANE = "INSERT INTO vector_planes (plane, bits) VALUES (?, ?)"
_NODE = "INSERT INTO nodes (id, kind, name, label, page_id, chunk_id) VALUES (?, ?, ?, ?, ?, ?)"
_EDGE = """
INSERT INTO edges (id, src, dst, kind, label, fragment, chunk_id, line)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_SYMBOL = """
INSERT INTO symbols (id, source_id, name, kind, signature, file, anchor, first_line, last_line, doc,
    chunk_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SYMBOL_NAME = "INSERT OR IGNORE INTO symbol_names (name, symbol_id) VALUES (?, ?)"
_FINDING = """
INSERT INTO findings (id, rule, severity, path, line, message, fix) VALUES (?, ?, ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True)
class Content:
    """Everything that becomes rows, in the order of paths. ``vectors`` is None without a model."""

    sources: Sequence[Source]
    pages: Sequence[LinkedPage]
    chunks: Sequence[tuple[Chunk, ...]]
    urls: Mapping[str, str]
    findings: Sequence[Finding]
    vectors: npt.NDArray[np.float32] | None
    upkeep: Upkeep
    changes: Changes | None
    dependencies: Sequence[Dependency] = ()


def write_rows(pack: sqlite3.Connection, content: Content) -> Graph:
    """Write all rows but ``meta`` and ``sqlar``; return the graph that was written."""
    source_ids = _write_sources(pack, content.sources)
    pack.executemany(
        _DEPENDENCY,
        (
            (d.ecosystem, d.package, d.version, d.repo, source_ids.get(d.source))
            for d in sorted(content.dependencies, key=lambda d: (d.ecosystem, d.package))
        ),
    )
    _write_pages(pack, content, source_ids)
    flat = [
        (linked.page, chunk)
        for linked, own in zip(content.pages, content.chunks, strict=True)
        for chunk in own
    ]
    page_ids = {linked.page.path: number for number, linked in enumerate(content.pages, 1)}
    pack.executemany(
        _CHUNK,
        (
            (
                number, page_ids[page.path], chunk.ordinal, chunk.key, chunk.anchor,
                json.dumps(chunk.headings, ensure_ascii=False), chunk.text, chunk.first_line,
                chunk.last_line, chunk.tokens, text_hash(embedding_text(page, chunk)),
            )
            for number, (page, chunk) in enumerate(flat, 1)
        ),
    )  # fmt: skip
    _write_headings(pack, content)
    _write_symbols(pack, content, source_ids)
    write_words(pack, [segmented(page, chunk) for page, chunk in flat])
    if content.vectors is not None:
        write_vectors(pack, content.vectors, [page.lang for page, _ in flat])
    graph = build_graph(content.pages, content.chunks)
    pack.executemany(_NODE, graph.nodes)
    pack.executemany(_EDGE, graph.edges)
    pack.executemany(
        _FINDING,
        (
            (number, f.rule, f.severity, f.path, f.line, f.message, f.fix)
            for number, f in enumerate(content.findings, 1)
        ),
    )
    write_upkeep(pack, content.upkeep, page_ids, _first_chunks(content))
    return graph


def _first_chunks(content: Content) -> dict[str, int]:
    """Return the id of each page's first chunk."""
    first, found = 1, {}
    for linked, own in zip(content.pages, content.chunks, strict=True):
        found[linked.page.path] = first
        first += len(own)
    return found


def _write_sources(pack: sqlite3.Connection, sources: Sequence[Source]) -> dict[str, int]:
    for number, s in enumerate(sources, 1):
        row = (number, s.name, s.kind, s.origin, s.web, s.revision, s.subdir, s.licence)
        pack.execute(_SOURCE, row)
    return {source.name: number for number, source in enumerate(sources, 1)}


def _write_pages(pack: sqlite3.Connection, content: Content, source_ids: dict[str, int]) -> None:
    for number, linked in enumerate(content.pages, 1):
        page = linked.page
        folders = page.path.split("/")[1:-1]
        pack.execute(
            _PAGE,
            (
                number, source_ids[page.source.name], page.path, page.title, page.lang,
                folders[0] if folders else "", json.dumps(page.tags, ensure_ascii=False),
                json.dumps(page.aliases, ensure_ascii=False), page.summary, page.lifecycle,
                page.tool, page.created, page.updated, content.urls[page.path], page.body_line,
                page.hash, page.frontmatter, page.body,
            ),
        )  # fmt: skip
        pack.executemany(_NAME, ((fold(n).strip(), number) for n in (page.title, *page.aliases)))


def _write_headings(pack: sqlite3.Connection, content: Content) -> None:
    chunk_id = 0
    for page_id, (linked, chunks) in enumerate(zip(content.pages, content.chunks, strict=True), 1):
        holder: dict[str, int] = {}
        for chunk in chunks:
            chunk_id += 1
            for anchor in chunk.anchors:
                holder.setdefault(anchor, chunk_id)
        for ordinal, h in enumerate(linked.page.headings):
            row = (page_id, ordinal, h.level, h.text, h.anchor, h.line, holder.get(h.anchor))
            pack.execute(_HEADING, row)


def _write_symbols(pack: sqlite3.Connection, content: Content, source_ids: dict[str, int]) -> None:
    number, first_chunk = 0, 1
    for linked, chunks in zip(content.pages, content.chunks, strict=True):
        page, places = linked.page, ChunkPlaces(first_chunk, chunks)
        first_chunk += len(chunks)
        for s in page.symbols:
            number += 1
            row = (
                number, source_ids[page.source.name], s.name, s.kind, s.signature, page.path,
                s.anchor, s.first_line, s.last_line, s.doc, places.at_line(s.first_line),
            )  # fmt: skip
            pack.execute(_SYMBOL, row)
            names = (fold(s.name), fold(s.name.rpartition(".")[2]))
            pack.executemany(_SYMBOL_NAME, ((name, number) for name in names))


def write_words(pack: sqlite3.Connection, rows: list[tuple[str, str, str, str]]) -> None:
    """Write the words index and the postings; a row a chunk, in chunk order."""
    pack.executemany(_WORDS, ((number, *row) for number, row in enumerate(rows, 1)))
    pack.execute(_OPTIMIZE)
    pack.executemany(_TERM, term_postings(rows))


def write_vectors(
    pack: sqlite3.Connection, vectors: npt.NDArray[np.float32], langs: Sequence[str]
) -> None:
    """Write vectors, means and planes: ``vectors`` float32 (chunks, dims), unit length."""
    means = language_means(vectors, langs)
    centred = centre(vectors, langs, means)
    int8, scales = quantize(centred)
    pack.executemany(
        _VECTOR,
        (
            (number, row.tobytes(), float(scale))
            for number, (row, scale) in enumerate(zip(int8, scales, strict=True), 1)
        ),
    )
    pack.executemany(_MEAN, ((lang, mean.astype("<f4").tobytes()) for lang, mean in means.items()))
    if len(vectors):
        planes = binary_planes(centred)
        pack.executemany(_PLANE, ((number, plane.tobytes()) for number, plane in enumerate(planes)))
