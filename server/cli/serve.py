"""``lorepack serve``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import uvicorn

from lorepack.server.cli.rerank import RERANK, reranker_for
from lorepack.server.guard import read_tokens
from lorepack.server.library import Library
from lorepack.server.tools.profiles import DEFAULT_PROFILE, PROFILES
from lorepack.server.web import LOOPBACK_HOSTS, Settings, create_app


@click.command()
@click.argument("packs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option("--allow-host", "hosts", multiple=True,
              help="A name by which it may be asked, beside loopback and --host.")  # fmt: skip
@click.option("--tools", "profile", default=DEFAULT_PROFILE, type=click.Choice(list(PROFILES)))
@click.option("--token-file", type=click.Path(path_type=Path),
              help='JSON: {"PACK": "token"}; "*" stands for every pack.')  # fmt: skip
@click.option("--watch/--no-watch", default=True, show_default=True,
              help="Follow packs that appear, change or go.")  # fmt: skip
@RERANK
def serve(
    packs: Sequence[Path], host: str, port: int, hosts: Sequence[str], profile: str,
    token_file: Path | None, watch: bool, rerank: int,
) -> None:  # fmt: skip
    """Serve PACKS, files or folders of them: site, MCP and API over HTTP."""
    library = Library(packs)
    library.open()
    settings = Settings(
        profile=profile,
        hosts=[*LOOPBACK_HOSTS, host, *hosts],
        tokens=read_tokens(token_file) if token_file else None,
        reranker=reranker_for(rerank),
        watch=watch,
    )
    app = create_app(library, settings)
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", server_header=False,
        timeout_graceful_shutdown=1, timeout_keep_alive=30,
    )  # fmt: skip
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    address = f"http://{host}:{socket.getsockname()[1]}"
    click.echo(f"Serving on {address}")
    for mount in library.shelf.newest():
        click.echo(f"  {mount.name} {mount.version}: {address}/site/{mount.name}/  "
                   f"MCP {address}/mcp/{mount.name}")  # fmt: skip
    server.run(sockets=[socket])
