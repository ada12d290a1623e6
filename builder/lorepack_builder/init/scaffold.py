"""Begin a vault with the recipe that compiles it, or the workflow that publishes a recipe."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from lorepack.errors import LorepackError
from lorepack.pack.format import NAME
from lorepack_builder.cache.code_digest import files_below
from lorepack_builder.recipe import Recipe

WORKFLOWS = {"github": ".github/workflows/pack.yml", "gitlab": ".gitlab-ci.yml"}
"""Where each forge looks for its workflow."""
_RECIPE = "packs/recipe.toml"
_PLAIN = re.compile(r"[A-Za-z0-9_./-]+")


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
    texts = {
        folder / path.replace(_RECIPE, f"packs/{name}.toml"): _filled(file, name=name, title=title)
        for path, file in files_below(files("lorepack_templates") / "vault")
    }
    return _write_new(texts)


def new_workflow(folder: Path, forge: str, recipe: Recipe, min_recall: float | None) -> list[Path]:
    """Write the file by which ``forge`` builds, gates and publishes a recipe; return it.

    Args:
        folder: the repository's root.
        forge: a key of `WORKFLOWS`.
        min_recall: what the recipe's questions must reach; None asks none.

    Raises:
        LorepackError: the recipe lies elsewhere, the file is there already, or cannot be written.
    """
    try:
        inside = recipe.path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError as error:
        raise LorepackError(f"{recipe.path} is not in {folder}", "give --folder") from error
    if not _PLAIN.fullmatch(inside):
        raise LorepackError(f"{inside!r} cannot stand in a workflow", "use letters, digits, . _ -")
    template = files("lorepack_templates") / "workflows" / f"{forge}.yml"
    text = _filled(
        template, recipe=inside, name=recipe.name,
        package=f"lorepack[build]=={version('lorepack')}",
        action=f"lorepack/lorepack@v{version('lorepack')}",
        min_recall="" if min_recall is None else f"{min_recall:g}",
    )  # fmt: skip
    return _write_new({folder / WORKFLOWS[forge]: text})


def _filled(template: Traversable, **values: str) -> str:
    # Markdown, TOML and YAML: there is nothing to escape for HTML.
    environment = Environment(  # noqa: S701
        undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.from_string(template.read_text(encoding="utf-8")).render(**values)


def _write_new(texts: Mapping[Path, str]) -> list[Path]:
    for path in texts:
        if path.exists():
            raise LorepackError(f"{path} is there already", "give another folder")
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LorepackError(f"nothing can be written ({error})", "check the folder") from error
    return sorted(texts)
