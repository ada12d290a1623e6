"""Rules about links: to the page itself, to archived pages, and pages without any to them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from lorepack_builder.link.outgoing import backlinks, outgoing
from lorepack_builder.lint.report import finding
from lorepack_builder.model import Finding, LinkedPage, Page

_ENTRANCES = frozenset({"index", "readme", "home", "start here", "overview", "_index", "changelog"})
"""Names of pages that are come to by other ways than links."""

_LINKED_BY_PEOPLE = frozenset({"vault", "folder", "notion"})
"""Layouts whose pages are found by links; others have trees and menus of their own."""


def link_findings(item: LinkedPage, pages: Mapping[str, Page]) -> Iterator[Finding]:
    """Yield what is odd about a page's links."""
    page = item.page
    archived: set[str] = set()
    for link, target in zip(page.links, item.targets, strict=True):
        if target is None or target.kind != "page":
            continue
        if target.path == page.path and link.target and not link.fragment:
            yield finding("self-link", page.path, link.line, "links to itself", "take the link out")
        other = pages[target.path]
        if other.lifecycle == "archived" != page.lifecycle and other.path not in archived:
            archived.add(other.path)
            message = f"links to {other.path}, which is archived"
            yield finding(
                "archived-target", page.path, link.line, message, "link to what took its place"
            )


def orphans(pages: Sequence[LinkedPage]) -> Iterator[Finding]:
    """Yield the pages that no page links to, of sources whose pages do link to each other."""
    back = backlinks(pages)
    linking = {item.page.source.name for item in pages if outgoing(item)}
    for item in pages:
        page = item.page
        layout = page.source.layout or page.source.kind
        if layout not in _LINKED_BY_PEOPLE or page.source.name not in linking:
            continue
        if page.code or back.get(page.path):
            continue
        name = posixpath.splitext(posixpath.basename(page.path))[0].casefold()
        if name not in _ENTRANCES and page.lifecycle != "archived":
            fix = "link to it from a page about something near" if outgoing(item) else "link it"
            yield finding("orphan", page.path, 1, "no page links here", fix)
