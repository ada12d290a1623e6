"""Find the symbols and files of code that documents name."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lorepack.forges import blob_url, repo_name
from lorepack_builder.model import CodeRef, Mention, Page, Source, SourceFile, Symbol, Target

_SHORTEST_WORD = 3


@dataclass(frozen=True)
class _Place:
    """A symbol, and the page of its file."""

    page: Page
    symbol: Symbol


class CodeIndex:
    """The symbols of all pages by the last part of their name, and the files by theirs."""

    def __init__(self, pages: Sequence[Page], files: Iterable[SourceFile]) -> None:
        self._symbols: defaultdict[str, list[_Place]] = defaultdict(list)
        self._components: dict[tuple[str, str], _Place] = {}
        self._files: defaultdict[str, list[SourceFile]] = defaultdict(list)
        self._pages = {page.path: page for page in pages}
        self._with_code = {page.source.name for page in pages if page.code}
        for page in pages:
            dotted = posixpath.splitext(page.path.partition("/")[2])[0].replace("/", ".")
            for symbol in page.symbols:
                place = _Place(page, symbol)
                self._symbols[symbol.name.rpartition(".")[2]].append(place)
                key = (page.source.web or page.source.name, f"{dotted}.{symbol.name}")
                self._components.setdefault(key, place)
        if self._symbols or any(page.mentions for page in pages):
            for file in files:
                self._files[posixpath.basename(file.path)].append(file)

    def resolve(self, mention: Mention, page: Page) -> CodeRef | None:
        """Return what ``mention`` on ``page`` means.

        None if nothing here is meant, or more than one thing could be.
        """
        if page.source.web and mention.certain and ":" not in mention.text:
            place = self._components.get((page.source.web, mention.text))
            if place:
                return _to_symbol(mention, place)
        return self._file(mention, page) or self._symbol(mention, page) or _outside(mention, page)

    def _file(self, mention: Mention, page: Page) -> CodeRef | None:
        repo, _, path = mention.text.rpartition(":")
        if not path:
            return None
        wanted = "/" + posixpath.normpath(path).lstrip("./")
        found = [
            file
            for file in self._files.get(posixpath.basename(path), ())
            if f"/{file.path}".endswith(wanted) and file.path != page.path
            and (not repo or repo_name(file.source.web) == repo)
        ]  # fmt: skip
        # A bare name is a file only where there is such a one of code.
        if "/" not in path and not mention.certain:
            found = [f for f in found if (p := self._pages.get(f.path)) and p.code]
        near = [file for file in found if _same(file.source, page.source)] or (
            found if mention.certain else []
        )
        exact = [f for f in near if f.path.partition("/")[2] == wanted[1:]] or near
        if len(exact) != 1:
            return None
        return CodeRef(mention, self.at_lines(exact[0].path, mention.lines))

    def at_lines(self, path: str, lines: tuple[int, int] | None) -> Target:
        """Return the place of lines in a file: the innermost symbol that holds the first."""
        page = self._pages.get(path)
        if page is None:
            return Target("file", path)
        holding = [s for s in page.symbols if lines and s.first_line <= lines[0] <= s.last_line]
        inner = min(holding, key=lambda s: s.last_line - s.first_line, default=None)
        return Target("page", path, inner.anchor if inner else "")

    def _symbol(self, mention: Mention, page: Page) -> CodeRef | None:
        name = mention.text.lstrip(".")
        last = name.rpartition(".")[2]
        if len(last) < _SHORTEST_WORD and "." not in name:
            return None
        places = [place for place in self._symbols.get(last, ()) if place.page.path != page.path]
        near = [place for place in places if _same(place.page.source, page.source)]
        if not near:
            near = [place for place in places if self._may_cross(name, place, page)]
        best = _longest_match(name, near)
        # Overloads and declarations of one thing are one: the first stands for them.
        meant = {(place.page.path, place.symbol.name) for place in best}
        return _to_symbol(mention, best[0]) if len(meant) == 1 else None

    def _may_cross(self, name: str, place: _Place, page: Page) -> bool:
        """Say whether a page may mean another source's symbol.

        Where its own source has code, only if the name says so: ``starlette.routing.Route``.
        """
        if page.source.name not in self._with_code:
            return True
        first = name.partition(".")[0]
        return "." in name and first in place.page.path.split("/")[:-1]


def _longest_match(name: str, places: Sequence[_Place]) -> list[_Place]:
    """Return the places whose file and name agree with most of the parts of ``name``."""
    wanted = name.split(".")
    scored = [(_agreeing(wanted, place), place) for place in places]
    # ``a.b`` is no ``b`` of something else, unless ``a`` is a module above the file.
    scored = [(score, place) for score, place in scored if score >= min(2, len(wanted))]
    best = max((score for score, _ in scored), default=0)
    top = [place for score, place in scored if score == best]
    # A name alone means what a file defines at its top, before what classes do.
    outer = [place for place in top if not place.symbol.parent]
    return outer if len(wanted) == 1 and outer else top


def _agreeing(wanted: Sequence[str], place: _Place) -> int:
    """Count the parts of a dotted name that agree, from its end."""
    own = place.symbol.name.split(".")
    count = 0
    while count < min(len(wanted), len(own)) and wanted[-1 - count] == own[-1 - count]:
        count += 1
    folders = posixpath.splitext(place.page.path)[0].split("/")
    if count == len(own):
        count += sum(part in folders for part in wanted[: len(wanted) - count])
    return count


def _to_symbol(mention: Mention, place: _Place) -> CodeRef:
    target = Target("page", place.page.path, place.symbol.anchor)
    return CodeRef(mention, target, place.symbol.name)


def _outside(mention: Mention, page: Page) -> CodeRef | None:
    """Return a place that is certain, in a repository that the pack does not hold."""
    if not mention.certain:
        return None
    repo, _, path = mention.text.rpartition(":")
    owner = repo or repo_name(page.source.web) or page.source.name
    if not path:
        return CodeRef(mention, Target("repo", repo))
    is_component = not mention.lines and "/" not in path and path.count(".") > 1
    if is_component:
        return CodeRef(mention, Target("symbol", f"{owner}::{path}"), path)
    return CodeRef(mention, Target("file", f"{owner}/{path}"))


def web_target(mention: Mention, source: Source) -> Target | None:
    """Return where a place of the repository that ``source`` is about is shown on its forge."""
    url = blob_url(source.web, source.revision, mention.text, mention.lines)
    return Target("web", url) if url else None


def _same(one: Source, other: Source) -> bool:
    return one.name == other.name or bool(one.web and one.web == other.web)
