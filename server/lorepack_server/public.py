"""A pack as Python programs use it: `lorepack.open`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from lorepack.errors import LorepackError
from lorepack.pack.diff import diff_packs
from lorepack.pack.diff.model import Difference
from lorepack.pack.verify import Check, verify_pack
from lorepack.paths import find_pack
from lorepack_server.packs.mount import mount_pack
from lorepack_server.retrieve.neighbors import Neighbor, by_meaning, find_nodes, walk
from lorepack_server.retrieve.page_names import find_pages
from lorepack_server.retrieve.query import FILTERS
from lorepack_server.retrieve.search import Answer, Result, find_chunks

_META = "SELECT key, value FROM meta"
_SOURCES = "SELECT name, kind, origin, web, revision, subdir, licence FROM sources ORDER BY id"
_PAGES = """
SELECT path, title, lang, category, tags, aliases, summary, lifecycle, tool, created, updated, url,
    markdown FROM pages WHERE :path IS NULL OR path = :path ORDER BY path
"""
_FINDINGS = "SELECT rule, severity, path, line, message, fix FROM findings ORDER BY id"


@dataclass(frozen=True)
class Source:
    """Where pages of a pack come from; ``revision`` is the commit, where there is one."""

    name: str
    kind: str
    origin: str
    web: str
    revision: str
    subdir: str
    licence: str


@dataclass(frozen=True)
class Page:
    """A page: what it is called, what is said of it, and its Markdown without frontmatter."""

    path: str
    title: str
    lang: str
    category: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    summary: str
    lifecycle: str
    tool: str
    created: str
    updated: str
    url: str
    markdown: str


@dataclass(frozen=True)
class Finding:
    """Something that lint found. ``severity`` is error, warning or info; line 0 is none."""

    rule: str
    severity: str
    path: str
    line: int
    message: str
    fix: str


class Pack:
    """An open pack: read-only, immutable, and usable from several threads at once."""

    def __init__(self, path: Path) -> None:
        self._mount = mount_pack(path)
        self.path = path
        self.name = self._mount.name
        self.version = self._mount.version
        self.title = self._mount.title

    def __enter__(self) -> Pack:
        """Return the pack itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the connections; nothing can be asked any more."""
        self._mount.close()

    def __repr__(self) -> str:
        return f"<Pack {self.name} {self.version}>"

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection, for SQL of one's own; `schema.sql` describes the tables."""
        return self._mount.connection()

    @property
    def meta(self) -> Mapping[str, Any]:
        """What the pack says of itself; counts, languages, embedder and changes as data."""
        facts: dict[str, Any] = dict(self.connection.execute(_META).fetchall())
        for name in ("counts", "languages", "embedder", "changes"):
            if name in facts:
                facts[name] = json.loads(facts[name])
        return facts

    @property
    def sources(self) -> list[Source]:
        """Where the pages come from."""
        return [Source(*row) for row in self.connection.execute(_SOURCES)]

    def pages(self) -> Iterator[Page]:
        """Yield every page, in the order of their paths."""
        return map(_page, self.connection.execute(_PAGES, {"path": None}))

    def page(self, name: str) -> Page:
        """Return a page by its path, title, alias, citation or qualified symbol.

        Raises:
            LorepackError: there is none, or several.
        """
        places = find_pages(self.connection, name)
        if len(places) != 1:
            found = ", ".join(place.path for place in places[:5])
            wrong = f"{len(places)} pages are called" if places else "no page is called"
            raise LorepackError(f"{wrong} {name!r} in {self.name}", f"use one of {found}" if found
                                else "see Pack.pages()")  # fmt: skip
        return _page(self.connection.execute(_PAGES, {"path": places[0].path}).fetchone())

    def search(
        self, query: str, *, limit: int = 8, filters: Mapping[str, str] | None = None
    ) -> Results:
        """Search with both retrievers; the results are best first.

        Args:
            filters: by source, path, tag, category, lifecycle, lang or tool.

        Raises:
            LorepackError: a filter has another name.
        """
        unknown = sorted(set(filters or ()) - set(FILTERS))
        if unknown:
            raise LorepackError(f"there is no filter {unknown[0]!r}", f"use {', '.join(FILTERS)}")
        return Results(find_chunks(self._mount, query, limit=limit, filters=filters))

    def neighbors(
        self, name: str, *, kinds: Sequence[str] = (), depth: int = 1, query: str = ""
    ) -> list[Neighbor]:
        """Return what is linked with a page, symbol, #tag or node, nearest first.

        Args:
            kinds: of edges; all without any.
            depth: steps, in either direction.
            query: what comes nearest to it is first.

        Raises:
            LorepackError: there is no such node, or there are several.
        """
        nodes = find_nodes(self.connection, name)
        if len(nodes) != 1:
            names = ", ".join(node["name"] for node in nodes[:5])
            wrong = f"{len(nodes)} nodes are called" if nodes else "no node is called"
            raise LorepackError(f"{wrong} {name!r} in {self.name}", f"use one of {names}" if names
                                else "see Pack.pages()")  # fmt: skip
        found = walk(self.connection, nodes[0], kinds, depth)
        return by_meaning(self._mount, found, query) if query else found

    def findings(self) -> list[Finding]:
        """Return what lint found when the pack was built."""
        return [Finding(*row) for row in self.connection.execute(_FINDINGS)]

    def diff(self, other: Pack | str | Path) -> Difference:
        """Return what came, went and changed from ``other``, an older version, to this pack."""
        return diff_packs(other.path if isinstance(other, Pack) else Path(other), self.path)

    def verify(self) -> list[Check]:
        """Run every check on the file; those whose ``problem`` is not empty have failed."""
        return verify_pack(self.path)


class Results(Sequence[Result]):
    """What a search found, best first.

    ``status`` is ok, no_match or no_docs: with no_match, the results are the few nearest. ``hint``
    says why, and ``degraded`` what failed, as where the model is not installed.
    """

    def __init__(self, answer: Answer) -> None:
        self._results = answer.results
        self.status, self.hint, self.degraded = answer.status, answer.hint, answer.degraded

    def __len__(self) -> int:
        return len(self._results)

    def __getitem__(self, place: Any) -> Any:
        """Return a result, or some."""
        return self._results[place]


def open(path: str | Path) -> Pack:
    """Open a pack: a file, or the name of one that was pulled.

    Raises:
        PackDamagedError: it is no pack, or cannot be read.
        LorepackError: there is no such file or pack.
    """
    return Pack(find_pack(str(path)))


def _page(row: sqlite3.Row) -> Page:
    facts = dict(row)
    for name in ("tags", "aliases"):
        facts[name] = tuple(json.loads(facts[name]))
    return Page(**facts)
