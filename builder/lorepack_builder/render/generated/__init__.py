"""Pages that no source has: home, folders, tags, what changed, graph, glossary, code, upkeep."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lorepack_builder.render.generated.changes import changes_page
from lorepack_builder.render.generated.code import code_pages
from lorepack_builder.render.generated.folders import folder_pages
from lorepack_builder.render.generated.glossary import glossary_page
from lorepack_builder.render.generated.graph import graph_page
from lorepack_builder.render.generated.home import home_page
from lorepack_builder.render.generated.hot import hot_page
from lorepack_builder.render.generated.lint import lint_page
from lorepack_builder.render.generated.maintenance import upkeep_pages
from lorepack_builder.render.generated.tags import tag_pages
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.navigation import Folder


def generated_pages(
    given: SiteInput,
    folders: Mapping[str, Folder],
    back: Mapping[str, Collection[str]],
) -> list[SitePage]:
    """Return all generated pages; those in the navigation first, in its order.

    Args:
        back: the pages that link to each page, by path.
    """
    return [
        home_page(given, folders),
        hot_page(given, back),
        *tag_pages(given),
        graph_page(given),
        *code_pages(given),
        glossary_page(given),
        lint_page(given),
        *upkeep_pages(given),
        changes_page(given),
        *folder_pages(given, folders),
    ]
