"""Begin a vault: its first pages, its tag taxonomy, and the recipe that compiles it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from lorepack.builder.code_digest import files_below
from lorepack.packfile.errors import LorepackError
from lorepack.packfile.format import NAME

_RECIPE = "packs/recipe.toml"


def new_vault(folder: Path, name: str, title: str) -> list[Path]:
    """Write a vault that can be built at once; return its files.

    Args:
        name: the pack's: a-z, 0-9 and -.

    Raises:
        LorepackError: a file is there already, or the folder cannot be written; what was there
            stays as it is.
    """
    if not NAME.fullmatch(name):
        raise LorepackError(f"the name {name!r} is not a-z, 0-9 and -", "give another with --name")
    if '"' in title or "\n" in title or "\\" in title:
        raise LorepackError(f"the title {title!r} cannot stand in a recipe", 'leave out " and \\')
    # Markdown and TOML: there is nothing to escape for HTML.
    environment = Environment(  # noqa: S701
        undefined=StrictUndefined, keep_trailing_newline=True
    )
    texts = {
        folder / path.replace(_RECIPE, f"packs/{name}.toml"): environment.from_string(
            file.read_text(encoding="utf-8")
        ).render(name=name, title=title)
        for path, file in files_below(files("lorepack.templates") / "vault")
    }
    for path in texts:
        if path.exists():
            raise LorepackError(f"{path} is there already", "give another folder")
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LorepackError(f"{folder} cannot be written ({error})", "check it") from error
    return sorted(texts)
