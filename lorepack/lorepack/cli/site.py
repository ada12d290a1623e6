"""``lorepack site``."""

from __future__ import annotations

from pathlib import Path

import click

from lorepack.pack.site import unpack_site


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--url", default="/", show_default=True,
              help="Where the site will live: https://host/path/, or only /path/.")  # fmt: skip
def site(pack: Path, folder: Path, url: str) -> None:
    """Unpack the site of PACK to FOLDER, for any static host or for opening it from there."""
    unpack_site(pack, folder, url)
    click.echo(f"{folder / 'index.html'}")
