"""Pages that no source has: home and tags, from ``templates/``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from lorepack.builder.model import LinkedPage, Source
from lorepack.builder.render.html import SiteMap
from lorepack.builder.render.navigation import Folder
from lorepack.builder.render.urls import relative_url

HOME_URL = ""
TAGS_URL = "tags/"
_SHOWN = 50


def home_html(
    site: SiteMap, sources: Sequence[Source], folders: Mapping[str, Folder], version: str
) -> str:
    """Return the body of the start page."""
    rows = []
    for source in sources:
        own = [p.page for p in site.pages.values() if p.page.source.name == source.name]
        first = [
            {
                "title": page.title,
                "summary": page.summary,
                "url": relative_url(site.urls[page.path], HOME_URL),
            }
            for page in own[:_SHOWN]
        ]
        rows.append(
            {
                "name": source.name,
                "kind": source.kind,
                "licence": source.licence,
                "pages": len(own),
                "first": first,
                "more": max(0, len(own) - _SHOWN),
                "folder": relative_url(folders[source.name].url, HOME_URL) if own else "",
            }
        )
    template = _templates().get_template("home.html.j2")
    return template.render(pages=site.pages, sources=rows, version=version)


def folder_html(folder: Folder, folders: Mapping[str, Folder], site: SiteMap) -> str:
    """Return the body of a folder's page: the folders and pages in it."""
    inner = [
        {
            "title": folders[name].title,
            "pages": folders[name].total,
            "url": relative_url(folders[name].url, folder.url),
        }
        for name in folder.folders
    ]
    pages = [
        {
            "title": site.pages[path].page.title,
            "summary": site.pages[path].page.summary,
            "url": relative_url(site.urls[path], folder.url),
        }
        for path in folder.pages
    ]
    return _templates().get_template("folder.html.j2").render(folders=inner, pages=pages)


def tags_html(site: SiteMap) -> str:
    """Return the body of the page of all tags; tags that differ only in case are one."""
    names: dict[str, str] = {}
    pages: dict[str, list[LinkedPage]] = defaultdict(list)
    for linked in site.pages.values():
        for tag in linked.page.tags:
            key = tag.lower()
            names.setdefault(key, tag)
            if linked not in pages[key][-1:]:
                pages[key].append(linked)
    tags = [
        {
            "name": names[key],
            "anchor": key,
            "pages": [
                {"title": p.page.title, "url": relative_url(site.urls[p.page.path], TAGS_URL)}
                for p in pages[key]
            ],
        }
        for key in sorted(pages)
    ]
    return _templates().get_template("tags.html.j2").render(tags=tags)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("lorepack.templates", ""), autoescape=True, undefined=StrictUndefined
    )
