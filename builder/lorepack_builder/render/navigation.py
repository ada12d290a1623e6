"""The folders of a pack: a page for each, and what the sidebar shows beside a page."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lorepack_builder.model import LinkedPage
from lorepack_builder.render.model import SiteMap
from lorepack_builder.render.urls import GENERATED, folder_url, relative_url

SHOWN_BESIDE = 30
"""Pages of the same folder that the sidebar lists around the open one."""


@dataclass
class Folder:
    """A folder of a source, with its pages and folders in the order of their paths."""

    path: str
    url: str
    pages: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    total: int = 0

    @property
    def title(self) -> str:
        """The folder's own name."""
        return posixpath.basename(self.path)


def folders_of(pages: Sequence[LinkedPage], urls: Mapping[str, str]) -> dict[str, Folder]:
    """Return every folder that holds a page, by path; a source is the folder at the top."""
    folders: dict[str, Folder] = {}
    taken = {*urls.values(), *(f"{name}/" for name in GENERATED)}
    for linked in pages:
        path = posixpath.dirname(linked.page.path)
        _folder(path, folders, taken).pages.append(linked.page.path)
        while path:
            folders[path].total += 1
            path = posixpath.dirname(path)
    return folders


def _folder(path: str, folders: dict[str, Folder], taken: set[str]) -> Folder:
    if path not in folders:
        url = folder_url(path, taken)
        taken.add(url)
        folders[path] = Folder(path, url)
        parent = posixpath.dirname(path)
        if parent:
            _folder(parent, folders, taken).folders.append(path)
    return folders[path]


def parents(folders: Mapping[str, Folder], path: str, base: str) -> list[dict[str, str]]:
    """Return the folders above ``path``, outermost first, as links from the page at ``base``."""
    above = []
    while path := posixpath.dirname(path):
        above.append({"title": folders[path].title, "url": relative_url(folders[path].url, base)})
    return above[::-1]


def beside(
    folders: Mapping[str, Folder], path: str, active: str, site: SiteMap, base: str
) -> tuple[list[dict[str, Any]], int]:
    """Return what the folder ``path`` holds as links from ``base``, and how many are not shown.

    Args:
        active: the page that is open, or ''; those nearest to it are shown.
    """
    folder = folders[path]
    at = folder.pages.index(active) if active else 0
    start = max(0, min(at - SHOWN_BESIDE // 2, len(folder.pages) - SHOWN_BESIDE))
    shown = folder.pages[start : start + SHOWN_BESIDE]
    links = [
        {"kind": "page", "title": site.pages[page].page.title, "active": page == active,
         "url": relative_url(site.urls[page], base) or "#"}
        for page in shown
    ]  # fmt: skip
    inner = [
        {"kind": "folder", "title": f"{folders[name].title}/", "active": False,
         "url": relative_url(folders[name].url, base)}
        for name in folder.folders[:SHOWN_BESIDE]
    ]  # fmt: skip
    hidden = len(folder.pages) + len(folder.folders) - len(links) - len(inner)
    return inner + links, hidden
