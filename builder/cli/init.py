"""``lorepack init``."""

from __future__ import annotations

import re
from pathlib import Path

import click

from lorepack.builder.scaffold import new_vault


@click.group()
def init() -> None:
    """Begin something new."""


@init.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", help="The pack's name: a-z, 0-9 and -; else made of the folder's.")
@click.option("--title", help="What people see; else the name.")
def vault(folder: Path, name: str | None, title: str | None) -> None:
    """Begin an Obsidian vault in FOLDER, with a tag taxonomy and a recipe; overwrites nothing."""
    name = name or re.sub(r"[^a-z0-9]+", "-", folder.absolute().name.lower()).strip("-") or "vault"
    for path in new_vault(folder, name, title or name):
        click.echo(str(path))
    click.echo(f"lorepack build {folder / 'packs' / f'{name}.toml'}", err=True)
