"""What flows through the rendering of a site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lorepack.pack.diff.model import Change as RowChange
from lorepack.pack.site import SiteFile
from lorepack_builder.history.changes import Changes
from lorepack_builder.maintenance.model import Upkeep
from lorepack_builder.model import Finding, Heading, LinkedPage, Source, SourceFile


@dataclass(frozen=True)
class SiteMap:
    """All pages with their addresses, for links and embeds."""

    pages: Mapping[str, LinkedPage]
    urls: Mapping[str, str]


@dataclass(frozen=True)
class SiteInput:
    """Everything that a site is made of.

    ``urls`` are by path; ``files`` are all files that a page may show. ``changes`` are None where
    no earlier pack is; ``row_changes`` are those of edges, symbols and findings. ``epoch``
    (seconds) stands for now. ``address`` is where the site will live (``https://host/path/``), or
    '' where nobody said.
    """

    pages: Sequence[LinkedPage]
    urls: Mapping[str, str]
    sources: Sequence[Source]
    files: Mapping[str, SourceFile]
    findings: Sequence[Finding]
    upkeep: Upkeep
    changes: Changes | None
    row_changes: Sequence[RowChange]
    name: str
    title: str
    version: str
    epoch: int
    address: str = ""

    @cached_property
    def map(self) -> SiteMap:
        """The pages by path."""
        return SiteMap({page.page.path: page for page in self.pages}, self.urls)


@dataclass(frozen=True)
class SitePage:
    """One page of the site.

    ``body`` makes its HTML; ``inputs`` is a digest of all that goes into it, so that it need not be
    made to know whether it changed. ``lore`` is what the theme's ``main.html`` shows around it.
    """

    url: str
    title: str
    body: Callable[[], str]
    inputs: str
    headings: tuple[Heading, ...] = ()
    description: str = ""
    lang: str = "en"
    in_nav: bool = False
    lore: Mapping[str, Any] = field(default_factory=dict)

    @property
    def src_uri(self) -> str:
        """The Markdown file that mkdocs is told of."""
        return f"{self.url}index.md"


@dataclass(frozen=True)
class Theme:
    """What all pages of a site have in common: ``nav`` are titles and addresses."""

    title: str
    address: str
    epoch: int
    nav: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Rendered:
    """A page as it is shipped, its body's plain HTML, and the theme's scripts that it refers to."""

    html: SiteFile
    body: str
    scripts: Mapping[str, bytes]
