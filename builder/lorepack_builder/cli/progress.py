"""How a build shows its progress, on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lorepack_builder.stages import Progress as OnProgress


@contextmanager
def stage_progress(*, quiet: bool) -> Iterator[OnProgress]:
    """Give a callback: bars on a terminal, a line a stage elsewhere, nothing when ``quiet``."""
    console = Console(stderr=True)
    if quiet:
        yield lambda stage, done, total: None
    elif console.is_terminal:
        with _bars(console) as bars:
            yield _bar_callback(bars)
    else:
        yield _line_callback()


def _bars(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description:>8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )


def _bar_callback(bars: Progress) -> OnProgress:
    tasks: dict[str, object] = {}

    def update(stage: str, done: int, total: int) -> None:
        if stage not in tasks:
            for task in bars.tasks:
                bars.update(task.id, total=task.total or 1, completed=task.total or 1)
            tasks[stage] = bars.add_task(stage, total=total or None)
        if total:
            bars.update(bars.task_ids[list(tasks).index(stage)], completed=done, total=total)

    return update


def _line_callback() -> OnProgress:
    seen: set[str] = set()

    def update(stage: str, done: int, total: int) -> None:
        if stage not in seen:
            seen.add(stage)
            click.echo(f"lorepack: {stage}", err=True)

    return update
