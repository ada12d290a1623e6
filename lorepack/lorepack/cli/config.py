"""``lorepack.toml``: options of commands that need not be typed; flags and environment win."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from platformdirs import user_config_path

from lorepack.errors import LorepackError

NAME = "lorepack.toml"
PREFIX = "LOREPACK"
"""Of environment variables: ``LOREPACK_SERVE_PORT`` is the option ``--port`` of ``serve``."""
ENVIRONMENT: Mapping[str, str] = {
    "LOREPACK_CACHE": "folder of what can be made again (models, vectors); else the user's cache",
    "LOREPACK_THREADS": "threads for embedding one text; else 1 in builds, all cores in servers",
    "LOREPACK_OPENAI_BATCH": "texts sent to an `openai:` endpoint at once; else 64",
    "LOREPACK_CHROMIUM": "the browser that reads live wikis; else the first that is installed",
    "LOREPACK_CODEWIKI_URL": "where live wikis are; else Google CodeWiki",
    "NOTION_TOKEN": "an integration's token, for `notion` sources that are read through the API",
    "NOTION_API_URL": "where Notion's API is; else Notion's own",
    "GITHUB_API_URL": "where releases are asked for; else GitHub's own",
    "GITHUB_TOKEN": "sent there, for private repositories and more requests",
    "XDG_DATA_HOME": "where pulled packs are kept (`lorepack/packs/` in it)",
    "OPENAI_BASE_URL": "address of the `openai:` endpoint",
    "OPENAI_API_KEY": "its key",
    "XDG_STATE_HOME": "where servers keep logs and instance files (`lorepack/` in it)",
}
"""Variables that are no option of a command."""


def read_config(path: Path | None, group: click.Group, ctx: click.Context) -> dict[str, Any]:
    """Return the defaults of every command, as click's ``default_map``.

    Args:
        path: the file; without one, ``lorepack.toml`` of the working directory, or else the user's.

    Raises:
        LorepackError: it cannot be read, or names a command or an option that does not exist.
    """
    if path is None:
        usual = (Path(NAME), user_config_path("lorepack") / NAME)
        path = next((file for file in usual if file.is_file()), None)
        if path is None:
            return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise LorepackError(f"{path} cannot be read ({error})", "write TOML") from error
    return {name: _defaults(path, name, table, group, ctx) for name, table in tables.items()}


def _defaults(
    path: Path, name: str, table: Any, group: click.Group, ctx: click.Context
) -> dict[str, Any]:
    commands = ", ".join(group.list_commands(ctx))
    command = group.get_command(ctx, name)
    if command is None or not isinstance(table, dict):
        raise LorepackError(f"{path}: [{name}] is no table of a command", f"there are {commands}")
    if isinstance(command, click.Group):
        return {key: _defaults(path, key, inner, command, ctx) for key, inner in table.items()}
    names = option_names(command)
    for key in table:
        if key not in names:
            raise LorepackError(f"{path}: [{name}] has no {key!r}", f"there are {', '.join(names)}")
    return {names[key]: value for key, value in table.items()}


def option_names(command: click.Command) -> Mapping[str, str]:
    """Return, for the name of an option in a file (``allow-host``), that of its parameter."""
    return {_written(param): param.name or "" for param in command.params}


def _written(param: click.Parameter) -> str:
    long = (name for name in param.opts if name.startswith("--"))
    return next(long, param.name or "").lstrip("-")
