"""What the build knows of a wiki's state, beside findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Mention:
    """A page's name in another page's text: from ``start`` to ``end`` of its Markdown.

    ``name`` is the name as the page has it, folded; the text may have another form of it.
    """

    target: str
    start: int
    end: int
    name: str


@dataclass(frozen=True)
class Suggestion:
    """A link that a page could have; all paths are the pack's.

    ``text`` stands at ``start`` of the page's Markdown (-1: nowhere), on ``line`` of its file (0:
    nowhere), and ``link`` is what to write instead. ``target`` is '' where no page has a name like
    a broken link's.
    """

    kind: Literal["mention", "broken", "near"]
    target: str
    message: str
    text: str = ""
    line: int = 0
    start: int = -1
    link: str = ""
    score: float = 0.0


Why = Literal["case", "hyphen", "plural", "translation"]


@dataclass(frozen=True)
class Twin:
    """Another tag that means the same, and why: it differs in case, hyphen, plural, or language."""

    tag: str
    why: Why


@dataclass(frozen=True)
class Tag:
    """A tag in use, or one that the taxonomy allows.

    ``use`` is the tag to write instead, or ''; ``allowed`` is None without a taxonomy.
    """

    tag: str
    pages: int
    twins: Sequence[Twin] = ()
    use: str = ""
    allowed: bool | None = None
    about: str = ""
    message: str = ""


@dataclass(frozen=True)
class Passage:
    """A chunk that shows something: its page, its number there, its place and its text."""

    path: str
    number: int
    anchor: str
    line: int
    text: str


@dataclass(frozen=True)
class ConceptGroup:
    """Concepts that passages hold together oftener than by chance, while no page joins them.

    ``concepts`` are titles of pages; ``pages`` counts those that hold all of them in one passage,
    ``lift`` says how much oftener that is than by chance, ``score`` how sure (log-likelihood).
    """

    concepts: Sequence[str]
    targets: Sequence[str]
    pages: int
    lift: float
    score: float
    message: str
    passages: Sequence[Passage]


@dataclass(frozen=True)
class Upkeep:
    """What a wiki could be better in. Everything by page is by its path.

    ``day`` is the pack's own, or ''; ``near`` holds pages that mean alike, nearest first.
    """

    day: str
    near: Mapping[str, Sequence[str]]
    suggestions: Mapping[str, Sequence[Suggestion]]
    tags: Sequence[Tag]
    concepts: Sequence[ConceptGroup]
