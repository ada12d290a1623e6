"""Find the file that a link means."""

from __future__ import annotations

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lorepack_builder.model import Page, Source, SourceFile

_DOCUMENTS = (".md", ".rst", ".mdx", ".ipynb", ".html")
_INDEXES = ("README.md", "index.md", "index.rst", "README.rst", "index.html")


@dataclass(frozen=True)
class Match:
    """The file found, and others that the link could as well have meant."""

    path: str | None
    others: tuple[str, ...] = ()


class FileIndex:
    """The files of one source, by folded path, name and alias."""

    def __init__(self, source: Source, pages: Sequence[Page], files: Iterable[SourceFile]) -> None:
        name = source.name
        self._root = f"{name}/"
        self._layout = source.layout or source.kind
        self._by_path: dict[str, list[str]] = defaultdict(list)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._by_alias: dict[str, list[str]] = defaultdict(list)
        for file in files:
            if file.source.name == name:
                self._by_path[_fold(file.path)].append(file.path)
                self._by_name[_fold(posixpath.basename(file.path))].append(file.path)
        for page in pages:
            if page.source.name == name:
                for alias in (*page.aliases, page.title):
                    self._by_alias[_fold(alias)].append(page.path)

    def resolve(
        self, target: str, page: str, syntax: Literal["wikilink", "markdown"] = "wikilink"
    ) -> Match:
        """Find ``target`` as linked from ``page``.

        In this order: the exact path from the source's root; for Markdown links, the path from the
        page's folder before that; the shortest path that ends with the target, files at or below
        the page's folder first; an alias. In a repository a path is a path, and the last two do
        not count; in a generated wiki, the file's name alone does when it is unique.
        """
        target = unicodedata.normalize("NFC", target).replace("\\", "/").strip()
        if not target.strip("/."):
            return Match(None)
        folder = posixpath.dirname(page)
        for full in self._full_paths(target, folder, syntax):
            if exact := self._exact(full):
                return exact
        if self._layout == "repo":
            return Match(None)
        found = self._by_ending(target, folder)
        if found is None and self._layout == "codewiki":
            found = self._by_ending(posixpath.basename(target), folder)
            found = found if found and not found.others else None
        return found or self._alias(target)

    def _full_paths(self, target: str, folder: str, syntax: str) -> list[str]:
        from_page = posixpath.normpath(posixpath.join(folder, target.lstrip("/")))
        from_root = posixpath.normpath(self._root + target.lstrip("/"))
        if target.startswith(("./", "../")):
            return [from_page]
        if target.startswith("/") and self._layout != "vault":
            # A site's root is the folder that its documents are made from, wherever it lies.
            return [from_root, *_from_above(folder, target.lstrip("/"))]
        if target.startswith("/") or syntax == "wikilink":
            return [from_root, from_page] if "/" in target else [from_root]
        return [from_page, from_root]

    def _exact(self, path: str) -> Match | None:
        if not path.startswith(self._root):
            return None
        for candidate in self._candidates(path):
            found = self._by_path.get(_fold(candidate))
            if found:
                return _choose(found, candidate, "")
        return None

    def _candidates(self, path: str) -> Iterator[str]:
        """Yield the files that a path may stand for; outside of vaults as sites resolve them."""
        yield path
        yield f"{path}.md"
        if self._layout != "vault":
            stem = path.removesuffix(".html")
            yield from (f"{stem}{suffix}" for suffix in _DOCUMENTS)
            yield from (f"{path}/{name}" for name in _INDEXES)

    def _by_ending(self, target: str, folder: str) -> Match | None:
        ending = target.lstrip("./")
        name = posixpath.basename(ending)
        for suffix in ("", ".md"):
            wanted = "/" + _fold(ending + suffix)
            candidates = [
                path
                for path in self._by_name.get(_fold(name + suffix), ())
                if ("/" + _fold(path)).endswith(wanted)
            ]
            if candidates:
                return _choose(candidates, ending + suffix, folder)
        return None

    def _alias(self, target: str) -> Match:
        found = sorted(set(self._by_alias.get(_fold(target.removesuffix(".md")), ())))
        return _choose(found, target, "") if found else Match(None)


def _from_above(folder: str, target: str) -> Iterator[str]:
    while folder:
        yield posixpath.join(folder, target)
        folder = posixpath.dirname(folder)


def _choose(candidates: list[str], written: str, folder: str) -> Match:
    """Prefer the case as written, then the page's folder, then the shortest path."""
    same_case = [path for path in candidates if ("/" + path).endswith("/" + written)]
    ranked = sorted(
        same_case or candidates,
        key=lambda path: (not path.startswith(folder + "/"), path.count("/"), len(path), path),
    )
    return Match(ranked[0], tuple(ranked[1:]))


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
