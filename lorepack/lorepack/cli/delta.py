"""``lorepack delta``."""

from __future__ import annotations

from pathlib import Path

import click

from lorepack.pack.delta import apply_delta, make_delta

_FILE = click.Path(path_type=Path)


@click.group()
def delta() -> None:
    """A new version of a pack as what changed."""


@delta.command()
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
@click.argument("file", type=_FILE)
def make(old: Path, new: Path, file: Path) -> None:
    """Write to FILE what makes NEW of OLD."""
    header = make_delta(old, new, file)
    click.echo(f"{file}: {file.stat().st_size} bytes for {header.bytes}")


@delta.command()
@click.argument("old", type=_FILE)
@click.argument("file", type=_FILE)
@click.argument("new", type=_FILE)
def apply(old: Path, file: Path, new: Path) -> None:
    """Write to NEW what FILE makes of OLD: byte for byte the pack it was made of."""
    click.echo(f"{apply_delta(old, file, new)}  {new}")
