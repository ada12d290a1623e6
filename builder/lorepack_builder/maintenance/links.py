"""Links that pages could have: names mentioned without one, broken ones mended, near pages."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import log1p
from urllib.parse import quote

from lorepack_builder.link.outgoing import backlinks, outgoing
from lorepack_builder.link.resolve import FileIndex
from lorepack_builder.maintenance.broken import (
    LEAST_ALIKE,
    NearestNames,
    place_in_text,
    wanted_name,
)
from lorepack_builder.maintenance.mentions import Mentions
from lorepack_builder.maintenance.model import Mention, Suggestion
from lorepack_builder.maintenance.names import page_names
from lorepack_builder.model import LinkedPage, Page, SourceFile

_NEAR_LEAST, _NEAR_MOST = 0.35, 5
"""Cosine of near pages that are worth a link, and how many of them are proposed."""

Near = Mapping[str, Sequence[tuple[str, float]]]
"""For each page the paths of near pages and their likeness (cosine), nearest first."""


def suggest_links(
    pages: Sequence[LinkedPage], files: Sequence[SourceFile], mentions: Mentions, near: Near
) -> dict[str, list[Suggestion]]:
    """Return the links that each page could have to others of its source, the best first."""
    forth = {item.page.path: set(outgoing(item)) for item in pages}
    back = {path: set(sources) for path, sources in backlinks(pages).items()}
    sources = {item.page.source.name: item.page.source for item in pages}
    documents = [item.page for item in pages]
    writers = {
        name: _Writer(FileIndex(source, documents, files), documents, name)
        for name, source in sources.items()
    }
    found: dict[str, list[Suggestion]] = {}
    for item in pages:
        page = item.page
        if page.code:
            continue
        writer, links = writers[page.source.name], forth[page.path]
        rate = partial(_rate, page.path, mentions, dict(near.get(page.path, ())), forth, back)
        said = list(_unlinked(page, mentions, links, rate, writer))
        known = links.union(back.get(page.path, ()), (s.target for s in said))
        apart = _apart(page, near.get(page.path, ()), known, writer)
        ranked = sorted(
            [*said, *_broken(item, writer), *apart], key=lambda s: (-s.score, s.line, s.target)
        )
        if ranked:
            found[page.path] = ranked
    return found


class _Writer:
    """Knows the pages of one source: how they are called, and how a link to them is written."""

    def __init__(self, index: FileIndex, pages: Sequence[Page], source: str) -> None:
        self._index = index
        self.pages = {page.path: page for page in pages if page.source.name == source}
        named = [
            (name, page.path)
            for page in self.pages.values() if not page.code
            for name in page_names(page)
        ]  # fmt: skip
        self.nearest = NearestNames(named)

    def title(self, path: str) -> str:
        """Return a page's title and path, for people."""
        return f"“{self.pages[path].title}” ({path})"

    def name(self, target: str, page: str) -> str:
        """Return the shortest target of a wikilink from ``page`` that means ``target``."""
        inside = posixpath.splitext(target.partition("/")[2])[0]
        short = posixpath.basename(inside)
        match = self._index.resolve(short, page)
        return short if match.path == target and not match.others else inside

    def link(self, target: str, page: Page, said: str, line: str) -> str:
        """Return the link to write for the words ``said`` on a ``line`` of a page."""
        if page.source.layout != "vault":
            return f"[{said}]({self.address(target, page.path)})"
        name = self.name(target, page.path)
        bar = r"\|" if line.lstrip().startswith("|") else "|"
        return f"[[{name}]]" if name == said else f"[[{name}{bar}{said}]]"

    def address(self, target: str, page: str) -> str:
        """Return a page's address as a Markdown link from ``page`` has it."""
        return quote(posixpath.relpath(target, posixpath.dirname(page)))


def _rate(
    page: str, mentions: Mentions, likeness: Mapping[str, float], forth: Mapping[str, set[str]],
    back: Mapping[str, set[str]], mention: Mention,
) -> float:  # fmt: skip
    """Return how good a link a mention would be: how often its name is linked where it is said, how
    alike the pages are in meaning, and how many links they share (as Milne and Witten 2008).

    The weights are measured by benchmarks/links.py.
    """
    target = mention.target
    shared = len(forth[page] & forth[target])
    shared += len(back.get(page, set()) & back.get(target, set()))
    return mentions.keyphraseness(mention) + likeness.get(target, 0.0) + 0.1 * log1p(shared)


def _unlinked(
    page: Page, mentions: Mentions, links: set[str], rate: Callable[[Mention], float],
    writer: _Writer,
) -> Iterator[Suggestion]:  # fmt: skip
    """Yield the first mention of each page that is not linked."""
    first: dict[str, Mention] = {}
    for mention in mentions.by_page.get(page.path, ()):
        if mention.target not in links:
            first.setdefault(mention.target, mention)
    for target, mention in first.items():
        said = page.body[mention.start : mention.end]
        begin = page.body.rfind("\n", 0, mention.start) + 1
        yield Suggestion(
            kind="mention",
            target=target,
            message=f"mentions “{said}” without a link to {writer.title(target)}",
            text=said,
            line=page.body_line + page.body.count("\n", 0, mention.start),
            start=mention.start,
            link=writer.link(target, page, said, page.body[begin : mention.end]),
            score=rate(mention),
        )


def _broken(item: LinkedPage, writer: _Writer) -> Iterator[Suggestion]:
    """Yield each target that is missing, with the page whose name is nearest."""
    page = item.page
    seen: set[str] = set()
    for link, target in zip(item.page.links, item.targets, strict=True):
        if target is None or target.kind != "missing" or link.embed or link.target in seen:
            continue
        seen.add(link.target)
        found = writer.nearest.nearest(wanted_name(link))
        shown = f"[[{link.target}]]" if link.syntax == "wikilink" else f"({link.target})"
        if found is None:
            message = f"{shown} leads nowhere, and no page has a name like it"
            yield Suggestion("broken", "", message, link.target, link.line)
            continue
        path, alike = found
        score = 0.6 * (alike - LEAST_ALIKE) / (100 - LEAST_ALIKE)
        text, start = place_in_text(page, link)
        wiki = link.syntax == "wikilink"
        right = writer.name(path, page.path) if wiki else writer.address(path, page.path)
        message = f"{shown} leads nowhere; the nearest name is {writer.title(path)}"
        yield Suggestion(
            "broken", path, message, text or link.target, link.line, start, right, score
        )


def _apart(
    page: Page, near: Sequence[tuple[str, float]], known: set[str], writer: _Writer
) -> Iterator[Suggestion]:
    """Yield near pages of the same source without a link in either direction."""
    apart = [(path, likeness) for path, likeness in near
             if path in writer.pages and path not in known and likeness >= _NEAR_LEAST]  # fmt: skip
    for path, likeness in apart[:_NEAR_MOST]:
        message = f"is near in meaning to {writer.title(path)}; neither links to the other"
        yield Suggestion("near", path, message, score=0.3 * likeness)
