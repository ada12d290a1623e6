"""``lorepack serve``."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET
from socket import socket as Socket

import click
import uvicorn

from lorepack.errors import LorepackError
from lorepack.pack.format import SUFFIX
from lorepack.paths import find_pack
from lorepack_server.app import LOOPBACK_HOSTS, Settings, create_app
from lorepack_server.cli.process import REQUIRE_SIGNATURE, process_options
from lorepack_server.cli.rerank import RERANK, reranker_for
from lorepack_server.http.connections import Connection
from lorepack_server.http.guard import read_tokens
from lorepack_server.packs.library import Library
from lorepack_server.packs.remote import is_remote, mirror_folder, sync
from lorepack_server.process.heartbeat import log_capabilities
from lorepack_server.process.instances import instance_file
from lorepack_server.process.logs import start_logs
from lorepack_server.process.shutdown import end_now, on_signals
from lorepack_server.retrieve.encoders import PATIENCE_SECONDS, answer_while_loading
from lorepack_server.tools.profiles import DEFAULT_PROFILE, PROFILES


@click.command()
@click.argument("packs", nargs=-1, required=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535),
              help="Port to listen on; 0 takes a free one.")  # fmt: skip
@click.option("--allow-host", multiple=True,
              help="A name by which it may be asked, beside loopback and --host.")  # fmt: skip
@click.option(
    "--allow-origin",
    multiple=True,
    metavar="URL",
    help="A page, https://host, that may ask from a browser, beside those of the hosts.",
)
@click.option("--tools", default=DEFAULT_PROFILE, show_default=True,
              type=click.Choice(list(PROFILES)), help="Which tools agents see.")  # fmt: skip
@click.option("--token-file", type=click.Path(path_type=Path),
              help='JSON: {"PACK": "token"}; "*" stands for every pack.')  # fmt: skip
@click.option("--watch/--no-watch", default=True, show_default=True,
              help="Follow packs that appear, change or go.")  # fmt: skip
@click.option("--refresh", default=60.0, show_default=True, type=click.FloatRange(min=0.1),
              metavar="SECONDS", help="How often stores are looked at.")  # fmt: skip
@click.option("--warm/--no-warm", default=True, show_default=True,
              help="Load the packs' models at the start, not with the first question.")  # fmt: skip
@REQUIRE_SIGNATURE
@process_options
@RERANK
def serve(
    packs: Sequence[str], host: str, port: int, allow_host: Sequence[str],
    allow_origin: Sequence[str], tools: str, token_file: Path | None, watch: bool, refresh: float,
    warm: bool, require_signature: str | None, timeout: float, max_calls: int, log_level: str,
    heartbeat: float, rerank: int,
) -> None:  # fmt: skip
    """Serve PACKS, files or folders of them: site, MCP and API over HTTP.

    A folder may be in a store: s3://bucket/folder, gs://… (extra store), or https://…/index.json.
    """
    start_logs(log_level)
    answer_while_loading(PATIENCE_SECONDS)
    remotes = {url: mirror_folder(url) for url in packs if is_remote(url)}
    mirrors = [_mirror(url, folder) for url, folder in remotes.items()]
    local = [find_pack(path) for path in packs if not is_remote(path)]
    library = Library([*local, *mirrors], require_signature)
    library.open()
    settings = Settings(
        profile=tools,
        hosts=[*LOOPBACK_HOSTS, host, *allow_host],
        origins=allow_origin,
        tokens=read_tokens(token_file) if token_file else None,
        reranker=reranker_for(rerank),
        watch=watch,
        remotes=remotes if watch else {},
        refresh=refresh,
        warm=warm,
        heartbeat=heartbeat,
        timeout=timeout,
        most_calls=max_calls,
    )
    config = uvicorn.Config(
        create_app(library, settings), host=host, port=port, log_config=None, access_log=False,
        server_header=False, timeout_graceful_shutdown=1, timeout_keep_alive=30,
        http=Connection,
    )  # fmt: skip
    socket = _bind(host, port)
    address = f"http://{host}:{socket.getsockname()[1]}"
    click.echo(f"Serving on {address}")
    for mount in library.shelf.newest():
        click.echo(f"  {mount.name} {mount.version}: {address}/site/{mount.name}/  "
                   f"MCP {address}/mcp/{mount.name}")  # fmt: skip
    click.echo(f"  all of them: MCP {address}/mcp")
    mounts = [mount for versions in library.shelf.packs.values() for mount in versions]
    with instance_file("http", [mount.path for mount in mounts], address) as instance:
        log_capabilities(mounts, transport="http", address=address, tools=tools, watch=watch,
                         tokens=token_file is not None, rerankMs=rerank)  # fmt: skip
        _run(config, socket, instance)
    end_now()


def _mirror(url: str, folder: Path) -> Path:
    """Return the mirror of a store; one that cannot be asked is served as it was."""
    try:
        return sync(url, folder)
    except LorepackError as error:
        if not any((folder / "packs").glob(f"*{SUFFIX}")):
            raise
        logging.getLogger("lorepack.server.remote").warning("%s; its last state is served", error)
        return folder / "packs"


def _bind(host: str, port: int) -> Socket:
    """Return a socket of its own to listen on.

    It names its protocol, as uvicorn's does not: only then asyncio turns Nagle's algorithm off,
    which would hold every answer back for 40 ms until the client acknowledges its head.
    """
    bound = Socket(AF_INET6 if ":" in host else AF_INET, SOCK_STREAM, IPPROTO_TCP)
    if sys.platform != "win32":
        bound.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise LorepackError(
            f"{host}:{port} cannot be listened on ({error})", "choose another --host or --port"
        ) from error
    return bound


def _run(config: uvicorn.Config, socket: Socket, instance: Path | None) -> None:
    server = _Server(config)

    def stop() -> None:
        server.should_exit = True

    on_signals(stop, instance)
    server.run(sockets=[socket])


class _Server(uvicorn.Server):
    """Leaves signals to `on_signals`, which takes more of them."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield
