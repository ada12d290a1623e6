"""Render: linked pages → the files of the static site."""

from __future__ import annotations

import posixpath
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from lorepack.builder.model import LinkedPage, Page, Source, SourceFile
from lorepack.builder.render.generated import (
    HOME_URL,
    TAGS_URL,
    folder_html,
    home_html,
    tags_html,
)
from lorepack.builder.render.html import SiteMap, render_page
from lorepack.builder.render.mkdocs import SitePage, build_site
from lorepack.builder.render.navigation import Folder, beside, folders_of, parents
from lorepack.builder.render.pagefind import index_site
from lorepack.builder.render.scripts import externalize_scripts
from lorepack.builder.render.urls import file_url, relative_url

_NOT_SHIPPED = (".map", ".gz")
_NOT_SHIPPED_FOLDERS = ("assets/javascripts/lunr/", "assets/javascripts/workers/")


def render_site(
    linked: Sequence[LinkedPage],
    urls: Mapping[str, str],
    sources: Sequence[Source],
    attachments: Mapping[str, SourceFile],
    *,
    title: str,
    version: str,
    epoch: int,
    on_page: Callable[[], None] = lambda: None,
) -> dict[str, bytes]:
    """Return the files of the site by their path in it.

    Args:
        urls: the address of every page, by path.
        attachments: all files that a page may show; those that none does are not shipped.
        epoch: seconds; stands for now in what is written.
        on_page: called after each page.

    Raises:
        LorepackError: Pagefind failed.
    """
    site = SiteMap({page.page.path: page for page in linked}, urls)
    folders = folders_of(linked, urls)
    backlinks = _backlinks(linked)
    pages = [
        _home_page(site, sources, folders, version),
        SitePage(TAGS_URL, "Tags", tags_html(site), in_nav=True, lore=_LORE),
        *(_folder_page(folder, folders, site) for folder in folders.values()),
        *(_site_page(item, site, folders, backlinks[item.page.path]) for item in linked),
    ]
    with tempfile.TemporaryDirectory(prefix="lorepack-site-") as scratch:
        target = Path(scratch) / "site"
        build_site(pages, title, target, epoch, on_page)
        index_site(target)
        shipped = dict(externalize_scripts(_read_tree(target)))
    for name in ("lorepack.css", "lorepack.svg", "search.js", "offline.js"):
        shipped[f"assets/{name}"] = (files("lorepack.site") / "assets" / name).read_bytes()
    for path in sorted(_shown_files(linked)):
        if path in attachments:
            shipped[file_url(path)] = attachments[path].disk.read_bytes()
    return shipped


def _site_page(
    linked: LinkedPage, site: SiteMap, folders: Mapping[str, Folder], backlinks: Iterable[str]
) -> SitePage:
    page = linked.page
    base = site.urls[page.path]
    own_title = next((h.text for h in page.headings[:1] if h.level == 1), "")
    near, hidden = beside(folders, posixpath.dirname(page.path), page.path, site, base)
    lore: dict[str, Any] = {
        "indexed": True,
        "source": page.source.name,
        "lang": page.lang,
        "parents": parents(folders, page.path, base),
        "beside": near,
        "hidden": hidden,
        "has_title": own_title == page.title,
        "facts": _facts(page),
        "tags": [
            {"name": tag, "url": f"{relative_url(TAGS_URL, base)}#{tag.lower()}"}
            for tag in page.tags
        ],
        "backlinks": [
            {"title": site.pages[path].page.title, "url": relative_url(site.urls[path], base)}
            for path in backlinks
        ],
    }
    return SitePage(
        url=base,
        title=page.title,
        html=render_page(page.path, site),
        headings=page.headings,
        description=page.summary,
        lang=page.lang,
        lore=lore,
    )


def _home_page(
    site: SiteMap, sources: Sequence[Source], folders: Mapping[str, Folder], version: str
) -> SitePage:
    tops = [
        {"kind": "folder", "title": f"{s.name}/", "url": folders[s.name].url, "active": False}
        for s in sources
        if s.name in folders
    ]
    lore = {**_LORE, "beside": tops, "hidden": 0}
    body = home_html(site, sources, folders, version)
    return SitePage(HOME_URL, "Start", body, in_nav=True, lore=lore)


def _folder_page(folder: Folder, folders: Mapping[str, Folder], site: SiteMap) -> SitePage:
    near, hidden = beside(folders, folder.path, "", site, folder.url)
    lore = {
        **_LORE,
        "parents": parents(folders, f"{folder.path}/", folder.url),
        "beside": near,
        "hidden": hidden,
    }
    return SitePage(folder.url, folder.title, folder_html(folder, folders, site), lore=lore)


_LORE: Mapping[str, Any] = {"indexed": False, "source": "", "lang": "en", "has_title": False}
"""What the theme needs to know of a generated page."""


def _facts(page: Page) -> list[str]:
    dates = [("created", page.created), ("updated", page.updated), ("", page.lifecycle)]
    return [f"{name} {value}".strip() for name, value in dates if value]


def _backlinks(linked: Sequence[LinkedPage]) -> defaultdict[str, dict[str, None]]:
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for item in linked:
        for target in item.targets:
            if target and target.kind == "page" and target.path != item.page.path:
                found[target.path][item.page.path] = None
    return found


def _shown_files(linked: Sequence[LinkedPage]) -> set[str]:
    return {t.path for item in linked for t in item.targets if t and t.kind == "file"}


def _read_tree(root: Path) -> Iterable[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        skipped = name.endswith(_NOT_SHIPPED) and not name.startswith("pagefind/")
        if path.is_file() and not skipped and not name.startswith(_NOT_SHIPPED_FOLDERS):
            yield name, path.read_bytes()
