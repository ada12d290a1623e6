"""Every page's own Markdown, beside its folder."""

from __future__ import annotations

from lorepack_builder.model import Page
from lorepack_builder.render.model import SiteInput
from lorepack_builder.render.urls import markdown_url


def markdown_files(given: SiteInput) -> dict[str, bytes]:
    """Return each page as its author wrote it, without comments."""
    return {
        markdown_url(given.urls[linked.page.path]): _markdown(linked.page).encode(
            "utf-8", "replace"
        )
        for linked in given.pages
    }


def _markdown(page: Page) -> str:
    properties = f"---\n{page.properties}\n---\n" if page.properties else ""
    return properties + page.body
