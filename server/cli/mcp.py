"""``lorepack mcp``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import anyio
import click
from mcp.server.stdio import stdio_server

from lorepack.packfile.signature import require_signature as check_signature
from lorepack.server.calls import Calls
from lorepack.server.cli.process import REQUIRE_SIGNATURE, process_options
from lorepack.server.cli.rerank import RERANK, reranker_for
from lorepack.server.metrics import Metrics
from lorepack.server.mount import mount_pack
from lorepack.server.process.heartbeat import beat, log_capabilities
from lorepack.server.process.instances import instance_file
from lorepack.server.process.logs import start_logs
from lorepack.server.process.shutdown import end_soon, on_signals
from lorepack.server.process.tripwire import tripwire
from lorepack.server.protocol import mcp_server
from lorepack.server.tools.answer import Context
from lorepack.server.tools.profiles import DEFAULT_PROFILE, PROFILES


@click.command()
@click.argument("pack", type=click.Path(path_type=Path))
@click.option("--tools", default=DEFAULT_PROFILE, show_default=True,
              type=click.Choice(list(PROFILES)), help="Which tools agents see.")  # fmt: skip
@click.option("--tripwire", "trapped", is_flag=True, envvar="LOREPACK_MCP_TRIPWIRE",
              help="Log whatever else writes to stdout.")  # fmt: skip
@REQUIRE_SIGNATURE
@process_options
@RERANK
def mcp(
    pack: Path, tools: str, trapped: bool, require_signature: str | None, timeout: float,
    max_calls: int, log_level: str, heartbeat: float, rerank: int,
) -> None:  # fmt: skip
    """Serve PACK to one agent over stdin and stdout."""
    start_logs(log_level)
    if require_signature is not None:
        check_signature(pack, require_signature)
    mount = mount_pack(pack)
    context = Context(mount, "", reranker_for(rerank), shares_disk=True)
    with instance_file("stdio", [pack], "stdio") as instance:
        log_capabilities([mount], transport="stdio", tools=tools, rerankMs=rerank)
        calls = Calls(Metrics(), timeout, max_calls)
        anyio.run(_serve, context, calls, tools, trapped, heartbeat, instance)


async def _serve(
    context: Context, calls: Calls, profile: str, trapped: bool, heartbeat: float,
    instance: Path | None,
) -> None:  # fmt: skip
    server = mcp_server(context.mount, profile, lambda _: context, calls.run)
    async with anyio.create_task_group() as tasks, stdio_server() as (read, write):
        on_signals(tasks.cancel_scope.cancel, instance)
        with tripwire() if trapped else nullcontext():
            tasks.start_soon(beat, calls, heartbeat)
            await server.run(read, write, server.create_initialization_options())
        end_soon("end of stdin", instance)
        tasks.cancel_scope.cancel()
