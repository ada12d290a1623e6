"""``lorepack init``."""

from __future__ import annotations

import re
from pathlib import Path

import click

from lorepack_builder.init.scaffold import WORKFLOWS, new_vault, new_workflow
from lorepack_builder.recipe import read_recipe


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


@init.command()
@click.argument("forge", type=click.Choice(list(WORKFLOWS)))
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option("--folder", type=click.Path(path_type=Path), default=Path(),
              help="The repository's root; else this folder.")  # fmt: skip
@click.option("--min-recall", type=click.FloatRange(0, 1),
              help="What the recipe's [[eval]] questions must reach.")  # fmt: skip
def workflow(forge: str, recipe: Path, folder: Path, min_recall: float | None) -> None:
    """Write the workflow by which FORGE builds RECIPE, gates it, and publishes it on a tag."""
    for path in new_workflow(folder, forge, read_recipe(recipe), min_recall):
        click.echo(str(path))
