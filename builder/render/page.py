"""A document's page: its body, and what the theme shows around it."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from lorepack.builder.link.outgoing import outgoing
from lorepack.builder.model import LinkedPage, SourceFile
from lorepack.builder.parse.decode import decode
from lorepack.builder.render.canvas import canvas_svg
from lorepack.builder.render.html import MAX_EMBED_DEPTH, render_page
from lorepack.builder.render.model import SiteInput, SiteMap, SitePage
from lorepack.builder.render.navigation import Folder, beside, parents
from lorepack.builder.render.urls import file_url, markdown_url, relative_url, tag_url
from lorepack.packfile.forge import source_url

GRAPH_URL = "graph/"
MAX_LINKS = 60
"""Links of one kind that are listed below a page."""


def document_pages(
    given: SiteInput, folders: Mapping[str, Folder], back: Mapping[str, Collection[str]]
) -> list[SitePage]:
    """Return the pages of all documents, in order; ``back`` is of `backlinks`."""
    site = given.map
    known: dict[tuple[str, int], str] = {}
    return [
        _site_page(item, given, site, folders, list(back.get(item.page.path, ())), known)
        for item in given.pages
    ]


def _site_page(
    linked: LinkedPage, given: SiteInput, site: SiteMap, folders: Mapping[str, Folder],
    back: Sequence[str], known: dict[tuple[str, int], str],
) -> SitePage:  # fmt: skip
    page = linked.page
    base = site.urls[page.path]
    own_title = next((h.text for h in page.headings[:1] if h.level == 1), "")
    near, hidden = beside(folders, posixpath.dirname(page.path), page.path, site, base)
    lore: dict[str, Any] = {
        "kind": "document",
        "source": page.source.name,
        "parents": parents(folders, page.path, base),
        "beside": near,
        "hidden": hidden,
        "has_title": own_title == page.title,
        "lifecycle": page.lifecycle,
        "dates": [d for d in (("Created", page.created), ("Updated", page.updated)) if d[1]],
        "tags": [
            {"name": tag, "url": relative_url(tag_url(tag), base)}
            for tag in {tag.lower(): tag for tag in reversed(page.tags)}.values()
        ][::-1],
        "markdown": relative_url(markdown_url(base), base),
        "commit": page.source.revision[:10],
        "at_commit": source_url(page.source.facts(), page.path),
        "graph": f"{relative_url(GRAPH_URL, base)}?page={relative_url(base, '')}",
        "lists": [
            entry
            for entry in (
                _links("outgoing", "Links to", outgoing(linked), site, base),
                _links("backlinks", "Linked from", back, site, base),
                _links("near", "Near in meaning", given.upkeep.near.get(page.path, ()), site, base),
            )
            if entry["links"]
        ],
    }
    return SitePage(
        url=base,
        title=page.title,
        body=partial(_body, linked, site, given.files),
        inputs=_inputs(page.path, site, MAX_EMBED_DEPTH + 1, known),
        headings=page.headings,
        description=page.summary,
        lang=page.lang,
        lore=lore,
    )


def _links(name: str, title: str, paths: Sequence[str], site: SiteMap, base: str) -> dict[str, Any]:
    links = [
        {"title": site.pages[path].page.title, "url": relative_url(site.urls[path], base)}
        for path in paths[:MAX_LINKS]
    ]
    return {"name": name, "title": title, "links": links, "more": len(paths) - len(links)}


def _body(linked: LinkedPage, site: SiteMap, files: Mapping[str, SourceFile]) -> str:
    page = linked.page
    html = render_page(page.path, site)
    if page.path.endswith(".canvas") and page.path in files:
        urls = {
            link.target: relative_url(_address(target.path, site), site.urls[page.path])
            for link, target in zip(page.links, linked.targets, strict=True)
            if link.embed and target and target.kind != "missing"
        }
        text = decode(files[page.path].disk.read_bytes()).text
        return canvas_svg(text, page.title, urls) + html
    return html


def _address(path: str, site: SiteMap) -> str:
    return site.urls.get(path) or file_url(path)


def _inputs(path: str, site: SiteMap, depth: int, known: dict[tuple[str, int], str]) -> str:
    """Return a digest of everything that `_body` reads, of embedded pages too."""
    if (path, depth) not in known:
        linked = site.pages[path]
        page = linked.page
        source = page.source
        parts: list[object] = [path, page.hash, page.title, source.layout, source.facts()]
        parts += [(r.mention.text, r.target.path, r.target.anchor) for r in linked.code_refs]
        for link, target in zip(page.links, linked.targets, strict=True):
            if target:
                url = site.urls.get(target.path)
                parts.append((target.kind, target.path, target.anchor, url))
                if link.embed and target.kind == "page" and depth:
                    parts.append(_inputs(target.path, site, depth - 1, known))
        text = json.dumps(parts).encode("utf-8", "surrogatepass")
        known[path, depth] = hashlib.sha256(text).hexdigest()
    return known[path, depth]
