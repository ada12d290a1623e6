"""A page for every folder of a source."""

from __future__ import annotations

from collections.abc import Mapping

from lorepack_builder.render.generated.page import generated_page, page_link
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.navigation import Folder, beside, parents
from lorepack_builder.render.urls import relative_url


def folder_pages(given: SiteInput, folders: Mapping[str, Folder]) -> list[SitePage]:
    """Return the pages of all folders that hold pages."""
    site = given.map
    pages = []
    for folder in folders.values():
        inner = [
            {
                "title": folders[name].title,
                "pages": folders[name].total,
                "url": relative_url(folders[name].url, folder.url),
            }
            for name in folder.folders
        ]
        near, hidden = beside(folders, folder.path, "", site, folder.url)
        context = {
            "folders": inner,
            "pages": [page_link(path, site, folder.url) for path in folder.pages],
        }
        pages.append(
            generated_page(
                folder.url, folder.title, "folder.html.j2", context,
                description=f"{folder.total} pages in {folder.path}/",
                parents=parents(folders, f"{folder.path}/", folder.url),
                beside=near, hidden=hidden,
            )
        )  # fmt: skip
    return pages
