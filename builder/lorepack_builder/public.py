"""Building as Python programs use it: `lorepack.build`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lorepack_builder.build import build_pack, quiet
from lorepack_builder.model import Finding
from lorepack_builder.recipe import Recipe, read_recipe, with_version
from lorepack_builder.recipe.folder import recipe_of_folder
from lorepack_builder.result import Summary
from lorepack_builder.stages import Progress


@dataclass(frozen=True)
class BuildResult:
    """What a build made: the pack's file, numbers and times of it, and all findings."""

    pack: Path
    summary: Summary
    findings: Sequence[Finding]


def build(
    source: str | Path,
    out: str | Path = "out",
    *,
    version: str | None = None,
    model: str | None = None,
    strict: bool = False,
    site: bool = True,
    previous: str | Path | None = None,
    offline: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> BuildResult:
    """Compile a recipe, or a folder without one, into a pack.

    Args:
        source: a recipe (``packs/NAME.toml``), or a folder: an Obsidian vault, a repository, or
            documents; what it is, is seen by what is in it.
        out: the folder that the pack is written to, as NAME-VERSION.lorepack.
        version: in place of the recipe's; a folder's is 0.0.0 without one.
        model: of a folder without a recipe; else the default one, or "none" for words alone.
        strict: whether a finding of severity error or warning makes the build fail.
        site: whether the pack holds the rendered site.
        previous: the pack to tell changes from; else that of the version before in ``out``.
        offline: whether nothing may be fetched.
        force: whether to build even if the pack that is there is made of the same.
        progress: called with a stage's name, and how much of how much is done.

    Raises:
        LorepackError: nothing was written; a pack that was there before still is.
    """
    recipe = _recipe(Path(source), model)
    if version is not None:
        recipe = with_version(recipe, version)
    summary, findings = build_pack(
        recipe, Path(out), strict=strict, site=site, offline=offline, force=force,
        previous=None if previous is None else Path(previous), progress=progress or quiet,
    )  # fmt: skip
    return BuildResult(Path(summary.pack), summary, findings)


def _recipe(source: Path, model: str | None) -> Recipe:
    return recipe_of_folder(source, model) if source.is_dir() else read_recipe(source)
