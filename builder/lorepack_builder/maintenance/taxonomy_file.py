"""Find the tag taxonomy that a recipe names."""

from __future__ import annotations

from collections.abc import Sequence

from lorepack.errors import LorepackError
from lorepack.pack.taxonomy import TaxonomyTag, read_taxonomy
from lorepack_builder.model import Page
from lorepack_builder.recipe import Recipe


def taxonomy_of(recipe: Recipe, pages: Sequence[Page]) -> list[TaxonomyTag] | None:
    """Return the tags that are allowed, None if the recipe names no taxonomy.

    Raises:
        LorepackError: there is no such page or file, or it lists no tags.
    """
    name = recipe.taxonomy
    if not name:
        return None
    page = next((page for page in pages if page.path == name), None)
    found = read_taxonomy(page.body if page else _text(recipe, name))
    if not found:
        raise LorepackError(
            f"{recipe.path}: [tags] taxonomy: {name} lists no tags", "write lines like `- #tag: …`"
        )
    return found


def _text(recipe: Recipe, name: str) -> str:
    try:
        return recipe.taxonomy_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LorepackError(
            f"{recipe.path}: [tags] taxonomy {name!r} is no page of the pack and no file here",
            "name a page (guide/tags.md), or a file seen from the recipe",
        ) from error
