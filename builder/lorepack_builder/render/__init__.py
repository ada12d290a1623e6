"""Render: linked pages → the files of the static site."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from importlib.resources import files
from pathlib import Path

from lorepack.pack.site import SiteFile
from lorepack_builder.acquire.read_verified import read_unchanged
from lorepack_builder.cache.code_digest import code_digest, files_below
from lorepack_builder.cache.rendered import load_pages, save_pages
from lorepack_builder.engine import Engine
from lorepack_builder.engine.local import LOCAL
from lorepack_builder.link.outgoing import backlinks
from lorepack_builder.render.batch import deflated, render_pages
from lorepack_builder.render.crawl import crawl_files
from lorepack_builder.render.generated import generated_pages
from lorepack_builder.render.generated.graph import DATA_URL, graph_data
from lorepack_builder.render.model import Rendered, SiteInput, SitePage, Theme
from lorepack_builder.render.navigation import folders_of
from lorepack_builder.render.page import document_pages
from lorepack_builder.render.scripts import externalize_scripts
from lorepack_builder.render.search import search_files
from lorepack_builder.render.svg import sanitize_svg
from lorepack_builder.render.urls import file_url

NOT_FOUND = "404.html"
_DRAWN_BY = {"katex": 'class="arithmatex"', "mermaid": 'class="lore-mermaid"'}
"""Folders of libraries, and what they draw in a page."""


def render_site(
    given: SiteInput,
    cache: Path | None,
    stage: Callable[[str], AbstractContextManager[None]],
    on_page: Callable[[int, int], None] = lambda *_: None,
    engine: Engine = LOCAL,
) -> dict[str, SiteFile]:
    """Return the files of the site by their path in it.

    Args:
        cache: where pages of the last build are kept; None renders all anew.
        stage: measures what is done within, under a name.
        on_page: called after some pages with how many are done, of how many.
        engine: where pages are rendered.

    Raises:
        LorepackError: Pagefind failed.
    """
    with stage("render"):
        folders = folders_of(given.pages, given.urls)
        back = backlinks(given.pages)
        pages = [
            *generated_pages(given, folders, back),
            *document_pages(given, folders, back),
        ]
        rendered, theme = _render_pages(pages, given, cache, on_page, engine)
        bodies = {url: page.body for url, page in rendered.items()}
        missing, scripts = externalize_scripts(NOT_FOUND, theme[NOT_FOUND].decode())
        for page in rendered.values():
            scripts.update(page.scripts)
        made = {
            **theme,
            **scripts,
            NOT_FOUND: missing.encode(),
            **_own_assets(bodies.values()),
            **_attachments(given),
            **crawl_files(given, pages),
            DATA_URL: graph_data(given),
        }
    with stage("search"):
        made |= search_files([linked.page for linked in given.pages], given.urls, bodies)
    shipped = {name: deflated(data) for name, data in made.items()}
    return shipped | {f"{url}index.html": page.html for url, page in rendered.items()}


def _render_pages(
    pages: Sequence[SitePage], given: SiteInput, cache: Path | None,
    on_page: Callable[[int, int], None], engine: Engine,
) -> tuple[dict[str, Rendered], dict[str, bytes]]:  # fmt: skip
    """Return all pages by address, those that did not change from the cache, and the theme."""
    nav = [(page.title, page.url) for page in pages if page.in_nav]
    theme = Theme(given.title, given.address, given.epoch, nav)
    theme_key = _theme_key(theme)
    keys = {page.url: _key(page, theme_key) for page in pages}
    known = load_pages(cache, keys.values()) if cache else {}
    stale = [page for page in pages if keys[page.url] not in known]
    kept = len(pages) - len(stale)
    fresh, files = render_pages(stale, theme, engine, lambda done: on_page(kept + done, len(pages)))
    if cache:
        save_pages(cache, {keys[url]: page for url, page in fresh.items()}, keys.values())
    rendered = {url: fresh.get(url) or known[key] for url, key in keys.items()}
    return rendered, files


def _key(page: SitePage, theme_key: str) -> str:
    shown = [
        theme_key, page.url, page.title, page.inputs, page.description, page.lang, page.lore,
        [(h.level, h.text, h.anchor) for h in page.headings],
    ]  # fmt: skip
    text = json.dumps(shown, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _theme_key(theme: Theme) -> str:
    """Return a digest of all that every page depends on."""
    shown = json.dumps([theme.title, theme.address, theme.nav, code_digest()])
    return hashlib.sha256(shown.encode()).hexdigest()


def _own_assets(bodies: Collection[str]) -> dict[str, bytes]:
    """Return scripts and styles; a library that draws travels only where it is needed."""
    folder = files("lorepack_site") / "assets"
    left_out = tuple(
        f"{name}/" for name, sign in _DRAWN_BY.items() if not any(sign in body for body in bodies)
    )
    return {
        f"assets/{path}": file.read_bytes()
        for path, file in files_below(folder)
        if not path.startswith(left_out)
    }


def _attachments(given: SiteInput) -> dict[str, bytes]:
    """Return the files that pages show or link to; nothing else of a source is shipped."""
    shown = {t.path for item in given.pages for t in item.targets if t and t.kind == "file"}
    found = {}
    for path in sorted(shown & given.files.keys()):
        data = read_unchanged(given.files[path])
        found[file_url(path)] = sanitize_svg(data) if path.lower().endswith(".svg") else data
    return found
