"""``lorepack mcp``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from lorepack.errors import LorepackError
from lorepack.pack.open import open_pack
from lorepack.paths import find_pack
from lorepack_server.cli.process import REQUIRE_SIGNATURE, process_options
from lorepack_server.cli.rerank import RERANK
from lorepack_server.mcp.early import Wire
from lorepack_server.mcp.offer import pack_offer, shelf_offer
from lorepack_server.packs.about import About, about_pack
from lorepack_server.process.shutdown import end_now, on_signals
from lorepack_server.tools.profiles import DEFAULT_PROFILE, PROFILES


@click.command()
@click.argument("packs", nargs=-1, required=True)
@click.option("--tools", default=DEFAULT_PROFILE, show_default=True,
              type=click.Choice(list(PROFILES)), help="Which tools agents see.")  # fmt: skip
@click.option("--tripwire", "trapped", is_flag=True, envvar="LOREPACK_MCP_TRIPWIRE",
              help="Log whatever else writes to stdout.")  # fmt: skip
@REQUIRE_SIGNATURE
@process_options
@RERANK
def mcp(
    packs: Sequence[str], tools: str, trapped: bool, require_signature: str | None,
    timeout: float, max_calls: int, log_level: str, heartbeat: float, rerank: int,
) -> None:  # fmt: skip
    """Serve PACKS to one agent over stdin and stdout.

    A pack is a file, or the name of one that was pulled. Several are one list of tools, each with
    an argument that names the packs to ask.
    """
    paths = [find_pack(pack) for pack in packs]
    if require_signature is not None:
        from lorepack.pack.signature import require_signature as check_signature

        for path in paths:
            check_signature(path, require_signature)
    about = [_about(path) for path in paths]
    _check_names(about)
    alone = len(about) == 1
    offer = pack_offer(about[0], tools) if alone else shelf_offer(about, tools)
    on_signals(end_now, None)
    wire = Wire(offer)
    wire.wait()
    # All that follows is heavy, and imported now: the client has its tools.
    from lorepack_server.calls import Calls
    from lorepack_server.cli.rerank import reranker_for
    from lorepack_server.mcp.stdio import serve_wire
    from lorepack_server.metrics import Metrics
    from lorepack_server.packs.mount import mount_pack
    from lorepack_server.process.heartbeat import log_capabilities
    from lorepack_server.process.instances import instance_file
    from lorepack_server.process.logs import start_logs

    start_logs(log_level)
    mounts = [mount_pack(path) for path in paths]
    with instance_file("stdio", paths, "stdio") as instance:
        log_capabilities(mounts, transport="stdio", tools=tools, rerankMs=rerank)
        serve_wire(
            wire, offer, mounts, Calls(Metrics(), timeout, max_calls),
            reranker=reranker_for(rerank), trapped=trapped, heartbeat=heartbeat, instance=instance,
        )  # fmt: skip
    end_now()


def _about(path: Path) -> About:
    try:
        with closing(open_pack(path)) as pack:
            return about_pack(pack)
    except LorepackError:
        raise
    except Exception as error:
        raise LorepackError(
            f"{path} is damaged ({error})", "run `lorepack verify` on it"
        ) from error


def _check_names(packs: Sequence[About]) -> None:
    names = [about.name for about in packs]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise LorepackError(f"two packs are called {double}", "serve one version of it")
