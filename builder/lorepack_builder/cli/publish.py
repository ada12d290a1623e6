"""``lorepack publish``."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click

from lorepack_builder.publish import publish_pack


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=Path("dist"),
              show_default=True,
              help="Folder of the release; takes the place of one there.")  # fmt: skip
@click.option("--previous", type=click.Path(path_type=Path), multiple=True,
              help="An older pack, or a folder of them: for changelog and deltas.")  # fmt: skip
@click.option("--url", default="", help="Where the files will lie: https://host/path/.")
@click.option("--site-url", default="/", show_default=True, help="Where the site will live.")
@click.option("--mcp-name", default="", help="The server's name in the registry of MCP servers.")
@click.option("--dry-run", is_flag=True, help="Only print what would be laid out.")
@click.option("--json", "as_json", is_flag=True, help="Print the files as JSON.")
def publish(
    pack: Path, folder: Path, previous: tuple[Path, ...], url: str, site_url: str, mcp_name: str,
    dry_run: bool, as_json: bool,
) -> None:  # fmt: skip
    """Lay out a release of PACK: it, its site, deltas, a changelog, digests, and an MCP bundle."""
    with tempfile.TemporaryDirectory() as scratch:
        made = publish_pack(
            pack, Path(scratch, "dist") if dry_run else folder, previous=previous, url=url,
            site_url=site_url, mcp_name=mcp_name,
        )  # fmt: skip
    if as_json:
        click.echo(json.dumps([file.__dict__ for file in made]))
    else:
        for file in made:
            click.echo(f"{file.sha256}  {file.bytes:>12,}  {file.file}")
