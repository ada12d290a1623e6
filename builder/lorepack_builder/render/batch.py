"""Render pages in batches, wherever the build's work is done."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lorepack.pack.site import SiteFile
from lorepack_builder.engine import Engine
from lorepack_builder.render.mkdocs import build_site
from lorepack_builder.render.model import Rendered, SitePage, Theme
from lorepack_builder.render.page import DocumentBody
from lorepack_builder.render.scripts import externalize_scripts

WORTH_A_POOL = 500
"""Pages from which on starting other processes pays."""
_FEWEST, _MOST = 100, 1_000
"""Pages of a batch, of which each sets the theme up anew: half a second."""
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class _Batch:
    pages: Sequence[SitePage]
    theme: Theme
    keep_theme: bool


def render_pages(
    pages: Sequence[SitePage], theme: Theme, engine: Engine, on_done: Callable[[int], None]
) -> tuple[dict[str, Rendered], dict[str, bytes]]:
    """Return ``pages`` by address, and the theme's own files by their path in the site.

    Args:
        on_done: called with the number of pages rendered so far.
    """
    rendered: dict[str, Rendered] = {}
    shipped: dict[str, bytes] = {}
    worth = len(pages) >= WORTH_A_POOL
    even = len(pages) // (2 * engine.places)
    size = min(_MOST, max(_FEWEST, even)) if worth or not engine.shares_disk else max(1, len(pages))
    for fresh, files in engine.spread(_render_batch, _batches(pages, theme, size), worth=worth):
        rendered.update(fresh)
        shipped.update(files)
        on_done(len(rendered))
    return rendered, shipped


def deflated(data: bytes) -> SiteFile:
    """Return ``data`` in the form in which a pack holds it."""
    packed = zlib.compress(data, 9) if not data.startswith(_GZIP) else data
    return SiteFile(len(data), packed if len(packed) < len(data) else data)


def _batches(pages: Sequence[SitePage], theme: Theme, size: int) -> Iterator[_Batch]:
    """Yield batches; the first one, which may be empty, gives the theme's files."""
    for start in range(0, max(1, len(pages)), size):
        yield _Batch([_portable(p) for p in pages[start : start + size]], theme, start == 0)


def _portable(page: SitePage) -> SitePage:
    """Return a page that takes no more along than its HTML is made of."""
    if isinstance(page.body, DocumentBody) and page.body.reads_no_file:
        return replace(page, body=page.body.alone())
    return replace(page, body=partial(str, page.body()))


def _render_batch(batch: _Batch) -> tuple[dict[str, Rendered], dict[str, bytes]]:
    bodies: dict[str, str] = {}

    def body(page: SitePage) -> str:
        bodies[page.url] = page.body()
        return bodies[page.url]

    files = build_site(batch.pages, batch.theme, body)
    rendered = {}
    for page in batch.pages:
        name = f"{page.url}index.html"
        html, scripts = externalize_scripts(name, files.pop(name).decode())
        rendered[page.url] = Rendered(deflated(html.encode()), bodies[page.url], scripts)
    return rendered, files if batch.keep_theme else {}
