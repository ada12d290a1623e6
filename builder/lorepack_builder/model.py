"""What flows between the stages of a build."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """Something wrong or odd in a source. ``path`` is in the pack (``handbook/install.md``)."""

    rule: str
    severity: Severity
    path: str
    line: int
    message: str
    fix: str = ""


@dataclass(frozen=True)
class Source:
    """One mounted source. ``root`` is where its files lie while the build runs.

    ``web`` is where its repository is browsed (``https://host/owner/name``), '' if nobody said.
    ``layout`` is how its files are to be read: an archive's is what it holds. ``code`` says whether
    files of code become pages.
    """

    name: str
    kind: str
    origin: str
    root: Path
    revision: str = ""
    subdir: str = ""
    licence: str = ""
    lang: str = ""
    web: str = ""
    layout: str = ""
    code: bool = False

    def facts(self) -> dict[str, str]:
        """Return what the address of a file at its commit is made of."""
        return {"kind": self.kind, "web": self.web, "revision": self.revision,
                "subdir": self.subdir}  # fmt: skip


@dataclass(frozen=True)
class Mention:
    """What may name a symbol or a file; ``certain`` if nothing else can be meant.

    ``lines`` are those of the file that is named, both inclusive.
    """

    text: str
    line: int
    lines: tuple[int, int] | None = None
    certain: bool = False


@dataclass(frozen=True)
class SourceFile:
    """A file of a source. ``path`` is in the pack, NFC, with forward slashes.

    What lies beside a file may tell of its page: ``mentions`` code that it is about, ``related``
    the paths of pages below it.
    """

    source: Source
    path: str
    disk: Path
    mentions: tuple[Mention, ...] = ()
    related: tuple[str, ...] = ()


@dataclass(frozen=True)
class Heading:
    """A heading. ``line`` is the file's; ``top_level`` is false inside quotes and lists."""

    level: int
    text: str
    anchor: str
    line: int
    top_level: bool = True


@dataclass(frozen=True)
class Link:
    """A link as written, decoded; a target '' is the page itself."""

    syntax: Literal["wikilink", "markdown"]
    target: str
    fragment: str
    label: str
    line: int
    embed: bool = False


@dataclass(frozen=True)
class Block:
    """A piece of a page that is not split when it fits. Lines are the file's, both inclusive.

    ``parts`` are the first lines of the items, rows or inner blocks between which it is split when
    it does not; empty when it has none.
    """

    kind: str
    first_line: int
    last_line: int
    parts: tuple[int, ...] = ()


@dataclass(frozen=True)
class DiagramEdge:
    """An arrow of a diagram, between node ids."""

    src: str
    dst: str
    label: str
    line: int


@dataclass(frozen=True)
class Diagram:
    """A diagram: labels by node id, arrows, and (cluster, node) memberships."""

    kind: str
    line: int
    nodes: tuple[tuple[str, str], ...]
    edges: tuple[DiagramEdge, ...]
    clusters: tuple[tuple[str, str], ...] = ()
    members: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Symbol:
    """Something that code defines. ``name`` is qualified (``Flask.run``), ``doc`` its comment.

    Lines are the file's, both inclusive; ``anchor`` is its id in the rendered page, ``parent`` the
    qualified name of what it stands in, or ''.
    """

    name: str
    kind: str
    signature: str
    first_line: int
    last_line: int
    doc: str
    anchor: str
    parent: str = ""


@dataclass(frozen=True)
class Page:
    """One parsed document."""

    source: Source
    path: str
    title: str
    lang: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    summary: str
    lifecycle: str
    tool: str
    created: str
    updated: str
    frontmatter: str
    properties: str
    body: str
    body_line: int
    hash: str
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    tag_lines: tuple[tuple[str, int], ...] = ()
    blocks: tuple[Block, ...] = ()
    block_ids: tuple[tuple[str, int], ...] = ()
    diagrams: tuple[Diagram, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    """Names that links of the same source may use for a place here, and its anchor."""
    code: str = ""
    """The language of a file of code, as fences name it."""
    symbols: tuple[Symbol, ...] = ()
    mentions: tuple[Mention, ...] = ()

    @property
    def day(self) -> str:
        """The day on which it was last touched, as ``2026-01-31``; '' if it does not say."""
        return max(self.created, self.updated)[:10]


@dataclass(frozen=True)
class Target:
    """Where a link leads. ``anchor`` is an id in the rendered page.

    A ``file`` may lie outside the pack (``owner/name/src/a.py``); a ``web`` target's path is a
    whole address, and a ``symbol`` is known by name alone.
    """

    kind: Literal["page", "file", "missing", "web", "symbol", "repo"]
    path: str
    anchor: str = ""


@dataclass(frozen=True)
class CodeRef:
    """A file or symbol that a page names. ``target`` is the file's page, or a file outside.

    ``symbol`` is the symbol's qualified name, or ''.
    """

    mention: Mention
    target: Target
    symbol: str = ""


@dataclass(frozen=True)
class LinkedPage:
    """A page, where each of its links leads in order (None: out of the pack), and named code."""

    page: Page
    targets: tuple[Target | None, ...]
    code_refs: tuple[CodeRef, ...] = ()


@dataclass(frozen=True)
class Chunk:
    """One heading section, or a part of one. Lines are the file's, both inclusive."""

    page: str
    ordinal: int
    key: str
    anchor: str
    headings: tuple[str, ...]
    text: str
    first_line: int
    last_line: int
    tokens: int
    anchors: tuple[str, ...]
    """The anchors of all headings that this chunk holds."""
