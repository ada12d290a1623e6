"""``lorepack discover``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from lorepack.errors import LorepackError
from lorepack_builder.acquire.codewiki.live import has_wiki
from lorepack_builder.discover import Project, discover, recipe_text, rows, slug

_COLUMNS = ("dependency", "ecosystem", "version", "repo", "covered by")


@click.command("discover")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option("--recipe", type=click.Path(path_type=Path),
              help="Where to write the recipe; else packs/NAME.toml in the project.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Write no recipe.")
@click.option("--force", is_flag=True, help="Write over a recipe that is there.")
@click.option("--offline", is_flag=True, help="Ask no registry.")
@click.option("--coverage", is_flag=True,
              help="Look up which repositories have a CodeWiki, a page in 4 seconds.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the dependencies as JSON.")
def discover_project(
    folder: Path, recipe: Path | None, dry_run: bool, force: bool, offline: bool, coverage: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Write a recipe for the project in FOLDER, from its manifests."""
    covered = has_wiki if coverage and not offline else _not_asked
    project = discover(folder, offline=offline, covered=covered)
    target = recipe or project.root / "packs" / f"{slug(project.root.resolve().name)}.toml"
    if not dry_run:
        _write(target, recipe_text(project, target), force)
    if as_json:
        data = {**asdict(project), "root": str(project.root), "recipe": str(target)}
        click.echo(json.dumps({**data, "recipe": None if dry_run else str(target)}))
    else:
        _print(project)
        click.echo(f"{len(project.dependencies)} dependencies"
                   + ("" if dry_run else f"; the recipe is {target}"))  # fmt: skip


def _not_asked(repo: str) -> None:
    """Tell nothing of a repository."""


def _write(target: Path, text: str, force: bool) -> None:
    if target.exists() and not force:
        raise LorepackError(f"{target} exists", "give another --recipe, or --force")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LorepackError(f"{target} cannot be written ({error})", "check its folder") from error


def _print(project: Project) -> None:
    table = Table(*_COLUMNS, box=None, pad_edge=False)
    for row in rows(project.dependencies):
        table.add_row(*row)
    # Whole names, also where the output is no terminal.
    Console(width=None if Console().is_terminal else 200, markup=False, highlight=False).print(
        table
    )
    for manifest, problem in project.problems:
        click.echo(f"lorepack: {manifest}: {problem}", err=True)
    if project.unknown:
        click.echo(f"lorepack: no answer about {', '.join(project.unknown)}", err=True)
