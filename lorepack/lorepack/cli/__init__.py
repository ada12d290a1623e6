"""The ``lorepack`` command: its subcommands come from the installed entry points."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path

import click

from lorepack.cli.config import PREFIX, read_config
from lorepack.errors import LorepackError

_GROUP = "lorepack.commands"


class _Commands(click.Group):
    """Finds subcommands by entry point, and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(entry_points(group=_GROUP).names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found: tuple[EntryPoint, ...] = tuple(entry_points(group=_GROUP, name=cmd_name))
        if not found:
            return None
        try:
            command: click.Command = found[0].load()
        except ModuleNotFoundError as error:
            return _lacking(cmd_name, str(error.name))
        return command


def _lacking(name: str, module: str) -> click.Command:
    """Return a command that says what it needs to be installed."""

    def tell(given: tuple[str, ...]) -> None:
        raise LorepackError(
            f"`lorepack {name}` needs the extra `build` ({module} is not installed)",
            "pip install 'lorepack[build]'",
        )

    arguments = click.Argument(["given"], nargs=-1, type=click.UNPROCESSED)
    return click.Command(
        name, params=[arguments], callback=tell, short_help="Needs the extra `build`.",
        context_settings={"ignore_unknown_options": True},
    )  # fmt: skip


_SETTINGS = {"help_option_names": ["-h", "--help"], "auto_envvar_prefix": PREFIX}


@click.group(cls=_Commands, context_settings=_SETTINGS)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Options in TOML, a table for each command; default: lorepack.toml.",
)
@click.version_option(version("lorepack"), prog_name="lorepack")
@click.pass_context
def cli(ctx: click.Context, config: Path | None) -> None:
    """Compile knowledge into packs, and serve them."""
    if isinstance(ctx.command, click.Group):
        ctx.default_map = read_config(config, ctx.command, ctx)


def main() -> None:
    """Run the command line; a `LorepackError` becomes one line on stderr and exit code 2."""
    try:
        cli()
    except LorepackError as error:
        click.echo(f"lorepack: {error}", err=True)
        sys.exit(2)
