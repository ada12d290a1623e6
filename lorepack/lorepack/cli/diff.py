"""``lorepack diff``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from lorepack.pack.diff import diff_packs
from lorepack.pack.diff.report import as_changelog, as_text


@click.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="Markdown is a changelog.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if anything differs.")
def diff(old: Path, new: Path, form: str, exit_code: bool) -> None:
    """Show what differs from OLD to NEW: pages, sections, links, symbols, findings."""
    difference = diff_packs(old, new)
    if form == "json":
        click.echo(json.dumps(difference.as_dict(), ensure_ascii=False))
    else:
        click.echo(as_text(difference) if form == "text" else as_changelog(difference))
    sys.exit(int(exit_code and bool(difference.changes)))
