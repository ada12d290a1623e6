"""``lorepack colorize``."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import click

from lorepack.clients.obsidian import (
    CHOICES,
    colour_groups,
    merged,
    read_settings,
    settings_file,
    write_settings,
)
from lorepack.pack.open import open_pack


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.argument("vault", type=click.Path(path_type=Path))
@click.option(
    "--by",
    type=click.Choice(CHOICES),
    default="folder",
    show_default=True,
    help="What gets a colour of its own.",
)
@click.option("--dry-run", is_flag=True, help="Print the settings, and write nothing.")
def colorize(pack: Path, vault: Path, by: str, dry_run: bool) -> None:
    """Colour the graph view of an Obsidian VAULT by what PACK knows of it.

    Groups that are there already are kept; close the graph view before, as Obsidian writes it.
    """
    with closing(open_pack(pack)) as opened:
        groups = colour_groups(opened, by)
    settings = merged(read_settings(vault), groups)
    if dry_run:
        click.echo(json.dumps(settings, indent=2, ensure_ascii=False))
        return
    write_settings(vault, settings)
    click.echo(f"{settings_file(vault)}: {len(groups)} groups by {by}")
