"""``lorepack skills``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lorepack_server.packs.mount import mount_pack
from lorepack_server.skills import install_skills, stdio_endpoint
from lorepack_server.skills import skills as skills_of

_PACK = click.option("--pack", required=True, type=click.Path(path_type=Path),
                     help="The pack that they are for.")  # fmt: skip


@click.group()
def skills() -> None:
    """List and install the skills by which an agent keeps a wiki."""


@skills.command("list")
@_PACK
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def list_skills(pack: Path, as_json: bool) -> None:
    """List the skills and when to use them."""
    mount = mount_pack(pack)
    found = skills_of(mount, stdio_endpoint(mount))
    if as_json:
        rows = [{"name": skill.name, "description": skill.description} for skill in found]
        click.echo(json.dumps(rows, ensure_ascii=False))
        return
    for skill in found:
        click.echo(f"{skill.name}: {skill.description}")


@skills.command()
@click.argument("folder", type=click.Path(path_type=Path))
@_PACK
@click.option("--endpoint", help="Address of its tools (http://…/mcp/NAME); else the stdio server.")
@click.option("--force", is_flag=True, help="Write over files with other content.")
def install(folder: Path, pack: Path, endpoint: str | None, force: bool) -> None:
    """Write the skills to FOLDER (.claude/skills), filled with the pack's name and endpoint."""
    mount = mount_pack(pack)
    place = f"<{endpoint}>" if endpoint else stdio_endpoint(mount)
    for path in install_skills(mount, folder, place, force=force):
        click.echo(str(path))
