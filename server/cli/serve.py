"""``lorepack serve``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import uvicorn

from lorepack.packfile.errors import LorepackError
from lorepack.packfile.format import SUFFIX
from lorepack.server.mount import Mount, mount_pack
from lorepack.server.tools.profiles import DEFAULT_PROFILE, PROFILES
from lorepack.server.web import LOOPBACK_HOSTS, create_app


@click.command()
@click.argument("packs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option("--tools", "profile", default=DEFAULT_PROFILE, type=click.Choice(list(PROFILES)))
def serve(packs: Sequence[Path], host: str, port: int, profile: str) -> None:
    """Serve PACKS, files or folders of them: site and MCP over HTTP."""
    mounts = _mount_all(packs)
    app = create_app(mounts, profile=profile, hosts=[*LOOPBACK_HOSTS, host])
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", server_header=False)
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    address = f"http://{host}:{socket.getsockname()[1]}"
    click.echo(f"Serving on {address}")
    for mount in mounts:
        click.echo(f"  {mount.name} {mount.version}: {address}/site/{mount.name}/  "
                   f"MCP {address}/mcp/{mount.name}")  # fmt: skip
    server.run(sockets=[socket])


def _mount_all(paths: Sequence[Path]) -> list[Mount]:
    files: list[Path] = []
    for path in paths:
        files += sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
    if not files:
        raise LorepackError("there is no pack to serve", "build one with `lorepack build`")
    newest: dict[str, Mount] = {}
    for file in files:
        mount = mount_pack(file)
        newest[mount.name] = mount
    return [newest[name] for name in sorted(newest)]
