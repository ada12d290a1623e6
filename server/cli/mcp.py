"""``lorepack mcp``."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import anyio
import click
from mcp.server.stdio import stdio_server

from lorepack.server.calls import Calls
from lorepack.server.cli.rerank import RERANK, reranker_for
from lorepack.server.metrics import Metrics
from lorepack.server.mount import Mount, mount_pack
from lorepack.server.protocol import mcp_server
from lorepack.server.retrieve.rerank import Reranker
from lorepack.server.tools.answer import Context
from lorepack.server.tools.profiles import DEFAULT_PROFILE, PROFILES


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.option("--tools", "profile", default=DEFAULT_PROFILE, type=click.Choice(list(PROFILES)))
@RERANK
def mcp(pack: Path, profile: str, rerank: int) -> None:
    """Serve PACK to one agent over stdin and stdout."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    anyio.run(_serve, mount_pack(pack), profile, reranker_for(rerank))


async def _serve(mount: Mount, profile: str, reranker: Reranker | None) -> None:
    context = Context(mount, "", reranker)
    server = mcp_server(mount, profile, lambda _: context, Calls(Metrics()).run)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
