"""Build again whenever a source or the recipe changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event

from watchfiles import Change, DefaultFilter, watch

from lorepack.errors import LorepackError
from lorepack_builder.recipe import Recipe, read_recipe

STEP = 300
"""Milliseconds without a change, after which a build begins."""
_TIMEOUT = 200


def watch_recipe(
    path: Path,
    out: Path,
    build: Callable[[Recipe], None],
    report: Callable[[LorepackError], None],
    stop: Event | None = None,
) -> None:
    """Build at once and after every change, until ``stop`` is set or the user interrupts.

    A recipe or source that cannot be built is reported, and the next change awaited.

    Args:
        out: where packs are written, which is not watched.
        build: builds a recipe.
        report: is told why a build failed.
    """
    try:
        while not (stop and stop.is_set()):
            _watch_sources(path, out, build, report, stop)
    except KeyboardInterrupt:
        return


def _watch_sources(
    path: Path, out: Path, build: Callable[[Recipe], None],
    report: Callable[[LorepackError], None], stop: Event | None,
) -> None:  # fmt: skip
    """Build until the recipe names other sources."""
    watched = _watched(path)
    # What changes during a build is noticed after it: the watcher runs from the first step on.
    changes = watch(
        *watched, watch_filter=_filter(out), step=STEP, stop_event=stop, rust_timeout=_TIMEOUT,
        yield_on_timeout=True,
    )  # fmt: skip
    next(changes, None)
    _build(path, build, report)
    for found in changes:
        if found:
            if _watched(path) != watched:
                return
            _build(path, build, report)


def _build(
    path: Path, build: Callable[[Recipe], None], report: Callable[[LorepackError], None]
) -> None:
    try:
        build(read_recipe(path))
    except LorepackError as error:
        report(error)


def _watched(path: Path) -> list[Path]:
    """Return the recipe and its local sources; while there is no recipe, where it would lie."""
    recipe = path.absolute()
    try:
        sources = [spec.path for spec in read_recipe(path).sources if not spec.url]
    except LorepackError:
        sources = []
    found = [recipe, *sources] if recipe.exists() else [recipe.parent]
    return [place for place in dict.fromkeys(found) if place.exists()]


def _filter(out: Path) -> Callable[[Change, str], bool]:
    results, usual = out.absolute(), DefaultFilter()
    return lambda change, file: not Path(file).is_relative_to(results) and usual(change, file)
