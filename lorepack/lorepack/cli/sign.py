"""``lorepack sign`` and ``lorepack keygen``."""

from __future__ import annotations

from pathlib import Path

import click

from lorepack.errors import LorepackError
from lorepack.pack.signature import new_keys, sign_pack

_PASSWORD = click.option(
    "--password-file",
    type=click.Path(path_type=Path),
    help="Its first line is the key's password; without one, none is used.",
)


@click.command()
@click.argument("key", type=click.Path(path_type=Path))
@_PASSWORD
def keygen(key: Path, password_file: Path | None) -> None:
    """Make a minisign key: KEY, which is secret, and KEY.pub, for those who check."""
    click.echo(str(new_keys(key, _password(password_file))))


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The secret key.")
@_PASSWORD
def sign(pack: Path, key: Path, password_file: Path | None) -> None:
    """Sign PACK: PACK.minisig is written beside it."""
    click.echo(str(sign_pack(pack, key, _password(password_file))))


def _password(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8").split("\n")[0].rstrip("\r")
    except (OSError, UnicodeDecodeError) as error:
        raise LorepackError(f"{file} cannot be read ({error})", "check the file") from error
