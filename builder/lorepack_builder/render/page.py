"""A document's page: its body, and what the theme shows around it."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lorepack.forges import source_url
from lorepack_builder.acquire.read_verified import read_unchanged
from lorepack_builder.convert.decode import decode
from lorepack_builder.link.outgoing import outgoing
from lorepack_builder.model import LinkedPage, SourceFile
from lorepack_builder.render.canvas import canvas_svg
from lorepack_builder.render.html import MAX_EMBED_DEPTH, render_page
from lorepack_builder.render.model import SiteInput, SiteMap, SitePage
from lorepack_builder.render.navigation import Folder, beside, parents
from lorepack_builder.render.urls import file_url, markdown_url, relative_url, tag_url

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
        body=DocumentBody(page.path, site, _canvas(page.path, given)),
        inputs=_inputs(page.path, site, MAX_EMBED_DEPTH + 1, known),
        headings=page.headings,
        description=page.summary,
        lang=page.lang,
        lore=lore,
    )


def _canvas(path: str, given: SiteInput) -> SourceFile | None:
    return given.files.get(path) if path.endswith(".canvas") else None


def _links(name: str, title: str, paths: Sequence[str], site: SiteMap, base: str) -> dict[str, Any]:
    links = [
        {"title": site.pages[path].page.title, "url": relative_url(site.urls[path], base)}
        for path in paths[:MAX_LINKS]
    ]
    return {"name": name, "title": title, "links": links, "more": len(paths) - len(links)}


@dataclass(frozen=True)
class DocumentBody:
    """Makes a document's HTML when it is called; ``canvas`` is the file that is drawn, if any."""

    path: str
    site: SiteMap
    canvas: SourceFile | None = None

    def __call__(self) -> str:
        """Return the HTML."""
        html = render_page(self.path, self.site)
        if self.canvas is None:
            return html
        linked = self.site.pages[self.path]
        urls = {
            link.target: relative_url(_address(target.path, self.site), self.site.urls[self.path])
            for link, target in zip(linked.page.links, linked.targets, strict=True)
            if link.embed and target and target.kind != "missing"
        }
        text = decode(read_unchanged(self.canvas, linked.page.hash)).text
        return canvas_svg(text, linked.page.title, urls) + html

    @property
    def reads_no_file(self) -> bool:
        """Whether it can be called where the sources' files are not."""
        return self.canvas is None

    def alone(self) -> DocumentBody:
        """Return the same with only the pages and addresses that it needs."""
        pages: dict[str, LinkedPage] = {}
        _add_embedded(self.path, self.site, pages, MAX_EMBED_DEPTH + 1)
        linked = {
            target.path
            for page in pages.values()
            for target in (*page.targets, *(ref.target for ref in page.code_refs))
            if target
        }
        urls = {p: self.site.urls[p] for p in (*pages, *sorted(linked)) if p in self.site.urls}
        return replace(self, site=SiteMap(pages, urls))


def _add_embedded(path: str, site: SiteMap, pages: dict[str, LinkedPage], depth: int) -> None:
    """Add a page, and those that it embeds, to ``pages``."""
    linked = pages[path] = site.pages[path]
    for link, target in zip(linked.page.links, linked.targets, strict=True):
        embedded = target and link.embed and target.kind == "page"
        if embedded and target and depth and target.path not in pages:
            _add_embedded(target.path, site, pages, depth - 1)


def _address(path: str, site: SiteMap) -> str:
    return site.urls.get(path) or file_url(path)


def _inputs(path: str, site: SiteMap, depth: int, known: dict[tuple[str, int], str]) -> str:
    """Return a digest of everything that `DocumentBody` reads, of embedded pages too."""
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
