"""``lorepack install`` and ``lorepack uninstall``."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from lorepack.clients import planned, write
from lorepack.clients.targets import SCOPES, TARGETS, home_folder
from lorepack.pack.inspect import inspect_pack
from lorepack.paths import find_pack


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--dry-run", is_flag=True, help="Show the diff, and write nothing."),
        click.option("--project", type=click.Path(path_type=Path), default=Path(),
                     help="The project's folder; else this one."),
        click.option("--scope", type=click.Choice(SCOPES), default="project", show_default=True,
                     help="For this project, or wherever the agent runs."),
        click.option("--target", required=True, type=click.Choice(list(TARGETS)),
                     help="The agent."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("pack")
@_options
@click.option("--name", help="What the agent calls the server; else lorepack-NAME.")
@click.option("--tools", default="core", show_default=True, help="The profile of tools.")
def install(
    pack: str, target: str, scope: str, project: Path, dry_run: bool, name: str | None, tools: str
) -> None:
    """Add PACK to a coding agent's MCP servers; shows what changes, and keeps a .bak.

    PACK is a file, the name of a pack that was pulled, or a server's address (http://…/mcp/NAME).
    Comments and other servers stay as they are.
    """
    if pack.startswith(("http://", "https://")):
        named = urlsplit(pack).path.rstrip("/").removesuffix("/mcp").rpartition("/")[2]
        server: str | list[str] = pack
    else:
        path = find_pack(pack)
        named = inspect_pack(path).meta["name"]
        # A pack that was pulled is served in its newest version, whichever that is by then.
        shown = str(path.absolute()) if Path(pack).exists() or path == Path(pack) else pack
        server = [_lorepack(), "mcp", shown, *(["--tools", tools] if tools != "core" else [])]
    named = named.partition("@")[0]
    _change(target, scope, project, name or f"lorepack-{named}".rstrip("-"), server, dry_run)


@click.command()
@click.argument("name")
@_options
def uninstall(name: str, target: str, scope: str, project: Path, dry_run: bool) -> None:
    """Remove the server NAME (lorepack-PACK) from a coding agent's configuration.

    A file that nothing else has changed is again what it was before.
    """
    _change(target, scope, project, name, None, dry_run)


def _lorepack() -> str:
    """This command's own file: from the PATH, else beside the interpreter that runs it."""
    scripts = sysconfig.get_path("scripts")
    found = shutil.which("lorepack") or shutil.which("lorepack", path=scripts)
    return found or str(Path(sys.argv[0]).absolute())


def _change(
    target: str, scope: str, project: Path, name: str, server: str | list[str] | None,
    dry_run: bool,
) -> None:  # fmt: skip
    home = home_folder() if scope == "user" else project
    change = planned(TARGETS[target], scope, project, home, name, server)
    diff = change.diff()
    click.echo(diff or f"{change.file}: nothing to change")
    if diff and not dry_run:
        write(change)
        done = "removed" if change.after is None else "written"
        click.echo(f"{change.file} is {done}", err=True)
