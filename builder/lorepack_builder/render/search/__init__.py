"""What the search box asks: Pagefind's index over HTTP, the same texts as scripts from file://."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lorepack_builder.model import Page
from lorepack_builder.render.search.embedded import page_table, text_shards
from lorepack_builder.render.search.pagefind import index_pages
from lorepack_builder.render.search.sections import Section, sections


def search_files(
    pages: Sequence[Page], urls: Mapping[str, str], bodies: Mapping[str, str]
) -> dict[str, bytes]:
    """Return the files of both indexes by their path in the site.

    Args:
        urls: the address of every page, by path.
        bodies: the HTML of every page's body, by address.

    Raises:
        LorepackError: Pagefind failed.
    """
    shown = [(page, urls[page.path], bodies[urls[page.path]]) for page in pages]
    files, fragments = index_pages([(url, page.title, body) for page, url, body in shown])
    texts = [_with_title(page, sections(body)) for page, _, body in shown]
    shards = list(text_shards(texts))
    table = {"search/pages.js": page_table(pages, urls, fragments, len(shards))}
    return files | table | {f"search/text-{n}.js": shard for n, shard in enumerate(shards)}


def _with_title(page: Page, found: list[Section]) -> list[Section]:
    return found or [Section("", "", page.title)]
