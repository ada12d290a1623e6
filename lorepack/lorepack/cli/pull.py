"""``lorepack pull`` and ``lorepack prune``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from lorepack.fetch import pull_pack
from lorepack.fetch.prune import prune_packs
from lorepack.paths import packs_folder

_FOLDER = click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="Where packs are kept; else the user's data folder.",
)


@click.command()
@click.argument("reference")
@_FOLDER
@click.option("--sha256", help="What the file must have; else what its place says, if it does.")
@click.option("--key", help="A minisign public key that must have signed it, its file or text.")
@click.option("--json", "as_json", is_flag=True, help="Print what was installed as JSON.")
def pull(
    reference: str, folder: Path | None, sha256: str | None, key: str | None, as_json: bool
) -> None:
    """Fetch REFERENCE, verify it and keep it: https://…, owner/repo[@tag] or oci://host/name:tag.

    A fetch that broke off is gone on with; older versions stay.
    """
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(reference, total=None)
        done = pull_pack(
            reference, folder or packs_folder(), sha256=sha256, key=key,
            progress=lambda had, total: bar.update(task, completed=had, total=total or None),
        )  # fmt: skip
    if as_json:
        facts = {**done.__dict__, "path": str(done.path)}
        click.echo(json.dumps(facts))
    else:
        click.echo(f"{done.path}{'' if done.new else ' (was there already)'}")


@click.command()
@_FOLDER
@click.option(
    "--keep",
    default=2,
    show_default=True,
    type=click.IntRange(1),
    help="Versions of each pack that stay.",
)
@click.option("--dry-run", is_flag=True, help="Only print what would go.")
def prune(folder: Path | None, keep: int, dry_run: bool) -> None:
    """Remove old versions of pulled packs."""
    for path in prune_packs(folder or packs_folder(), keep, dry_run=dry_run):
        click.echo(str(path))
