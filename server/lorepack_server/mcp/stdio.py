"""Serve one client over stdio, on a wire that was taken already."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from lorepack_server.calls import Calls
from lorepack_server.mcp.early import Wire
from lorepack_server.mcp.offer import Offer
from lorepack_server.mcp.server import Served, mcp_server
from lorepack_server.packs.mount import Mount
from lorepack_server.process.heartbeat import beat
from lorepack_server.process.shutdown import end_soon, on_signals
from lorepack_server.process.stdout_guard import tripwire
from lorepack_server.retrieve.encoders import PATIENCE_SECONDS, answer_while_loading, warm_encoders
from lorepack_server.retrieve.rerank import Reranker
from lorepack_server.tools.answer import Context
from lorepack_server.tools.shelf import ShelfContext


class _Input:
    """What the SDK reads: the lines of a wire, as an asynchronous file."""

    def __init__(self, lines: Iterator[str | None]) -> None:
        self._lines = lines

    def __aiter__(self) -> _Input:
        return self

    async def __anext__(self) -> str:
        line = await anyio.to_thread.run_sync(next, self._lines, abandon_on_cancel=True)
        if line is None:
            raise StopAsyncIteration
        return line


class _Output:
    """What the SDK writes to."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._wire.write, text)

    async def flush(self) -> None:
        """Nothing is kept back."""


def serve_wire(
    wire: Wire, offer: Offer, mounts: Sequence[Mount], calls: Calls, *,
    reranker: Reranker | None, trapped: bool, heartbeat: float, instance: Path | None,
) -> None:  # fmt: skip
    """Answer a client until its end; a model is loaded meanwhile."""
    answer_while_loading(PATIENCE_SECONDS)
    threading.Thread(target=warm_encoders, args=(mounts,), daemon=True).start()
    contexts = {mount.name: Context(mount, "", reranker, shares_disk=True) for mount in mounts}
    alone = len(contexts) == 1
    context = next(iter(contexts.values())) if alone else ShelfContext(contexts)
    served = Served(offer, context, mounts)
    settings: Mapping[str, Any] = {"trapped": trapped, "heartbeat": heartbeat}
    anyio.run(lambda: _serve(wire, served, calls, instance, **settings))


async def _serve(
    wire: Wire, served: Served, calls: Calls, instance: Path | None, *,
    trapped: bool, heartbeat: float,
) -> None:  # fmt: skip
    server = mcp_server(served.offer, lambda _: served, calls.run)
    stdin, stdout = _Input(wire.hand_over()), _Output(wire)
    streams = stdio_server(stdin, stdout)  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks, streams as (read, write):
        on_signals(tasks.cancel_scope.cancel, instance)
        with tripwire() if trapped else nullcontext():
            tasks.start_soon(beat, calls, heartbeat)
            await server.run(read, write, server.create_initialization_options())
        end_soon("end of stdin", instance)
        tasks.cancel_scope.cancel()
