"""``lorepack site``."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import click

from lorepack.packfile.open import open_pack
from lorepack.packfile.site import at_address, is_addressed, put_site, site_files


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--url", default="/", show_default=True,
              help="Where the site will live: https://host/path/, or only /path/.")  # fmt: skip
def site(pack: Path, folder: Path, url: str) -> None:
    """Unpack the site of PACK to FOLDER, for any static host or for opening it from there."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
    root = f"/{parts.path.strip('/')}/" if parts.path.strip("/") else "/"
    with closing(open_pack(pack)) as opened:
        put_site(
            (
                (name, at_address(name, data, origin, root) if is_addressed(name) else data)
                for name, data in site_files(opened)
            ),
            folder,
        )
    click.echo(f"{folder / 'index.html'}")
