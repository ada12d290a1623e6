"""Run all stages: a recipe in, a pack out, or its site alone."""

from __future__ import annotations

from pathlib import Path

from lorepack.pack.format import SUFFIX
from lorepack.util.temporary import own_folder
from lorepack_builder.cache.up_to_date import build_key, load_build, save_build
from lorepack_builder.engine import Engine
from lorepack_builder.engine.garbage import few_collections
from lorepack_builder.engine.local import LOCAL
from lorepack_builder.model import Finding
from lorepack_builder.recipe import Recipe
from lorepack_builder.result import Summary
from lorepack_builder.stages import Clock, Progress, acquire_sources, source_date_epoch


def quiet(stage: str, done: int, total: int) -> None:
    """Show no progress."""


def build_pack(
    recipe: Recipe,
    folder: Path,
    *,
    strict: bool = False,
    site: bool = True,
    previous: Path | None = None,
    offline: bool = False,
    force: bool = False,
    progress: Progress = quiet,
    engine: Engine = LOCAL,
) -> tuple[Summary, list[Finding]]:
    """Compile ``recipe`` into ``folder``/<name>-<version>.lorepack.

    Args:
        strict: whether a finding of severity error or warning makes the build fail.
        site: whether the pack holds the rendered site.
        previous: the pack to tell changes from; without one, that of the newest version before
            this one in ``folder``; `NO_PREVIOUS` for none.
        offline: whether nothing may be fetched; what earlier builds fetched has to do.
        force: whether to build even if the pack that is there is made of the same.
        engine: where it is parsed, embedded and rendered; the pack is the same.

    Returns:
        What was done, and all findings in the order of their paths.

    Raises:
        LorepackError: nothing was written; a pack that was there before still is.
    """
    with few_collections(), own_folder() as scratch:
        clock = Clock(progress)
        # What is no date is refused before any work.
        source_date_epoch()
        target = folder / f"{recipe.name}-{recipe.version}{SUFFIX}"
        acquired = acquire_sources(recipe, clock, scratch, offline=offline)
        options = (strict, site, *_facts(previous))
        key = build_key(
            recipe, acquired.sources, acquired.files, acquired.findings, acquired.hashes, target,
            options,
        )  # fmt: skip
        if not force and (known := load_build(recipe, target, key)):
            facts = {**known["summary"], "seconds": clock.seconds, "parsed": 0, "embedded": 0}
            return Summary(**facts, unchanged=True), [Finding(*f) for f in known["findings"]]
        # Slow to import, and not needed for a pack that is there already.
        from lorepack_builder.make import write_pack

        summary, findings = write_pack(
            recipe, acquired, target, strict, site, previous, clock, engine
        )
        facts = summary.as_dict()
        del facts["unchanged"]
        # A pack of files that changed meanwhile is not the one that belongs to ``key``.
        if not acquired.changed_since():
            save_build(recipe, target, key, facts, findings)
        return summary, findings


def _facts(previous: Path | None) -> tuple[object, ...]:
    """Return what tells a given pack from another of its name."""
    about = previous.stat() if previous and previous.is_file() else None
    return (str(previous), about and about.st_size, about and about.st_mtime_ns)


def build_site(
    recipe: Recipe,
    folder: Path,
    *,
    strict: bool = False,
    previous: Path | None = None,
    offline: bool = False,
    progress: Progress = quiet,
    engine: Engine = LOCAL,
) -> tuple[Summary, list[Finding]]:
    """Render the site of ``recipe`` into ``folder``/<name>-<version>-site/, and write no pack.

    Arguments and result are those of `build_pack`.

    Raises:
        LorepackError: nothing was written; a site that was there before still is.
    """
    from lorepack_builder.make import write_site_folder

    with few_collections(), own_folder() as scratch:
        clock = Clock(progress)
        acquired = acquire_sources(recipe, clock, scratch, offline=offline)
        return write_site_folder(recipe, acquired, folder, strict, previous, clock, engine)
