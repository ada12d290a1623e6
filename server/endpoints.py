"""MCP over HTTP for every mount: one session manager each, started when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request

from lorepack.server.mount import Mount
from lorepack.server.protocol import Call, mcp_server
from lorepack.server.tools.answer import Context

DRAIN_SECONDS = 30.0
"""How long a mount that left the shelf may go on answering what it was asked."""


@dataclass
class Endpoints:
    """The session managers of the mounts that agents have asked.

    Args:
        context: makes what a tool sees from a mount and the request.
        call: runs one tool call; the server's limits are in it.
    """

    profile: str
    hosts: Sequence[str]
    body_limit: int
    context: Callable[[Mount, Request | None], Context]
    call: Call
    tasks: TaskGroup
    _managers: dict[int, tuple[StreamableHTTPSessionManager, anyio.Event]] = field(
        default_factory=dict
    )
    _starting: anyio.Lock = field(default_factory=anyio.Lock)

    async def manager(self, mount: Mount) -> StreamableHTTPSessionManager:
        """Return the running manager of ``mount``."""
        async with self._starting:
            if id(mount) not in self._managers:
                manager, stop = self._new(mount), anyio.Event()
                await self.tasks.start(_run, manager, stop)
                self._managers[id(mount)] = (manager, stop)
            return self._managers[id(mount)][0]

    async def retire(self, mounts: Sequence[Mount]) -> None:
        """Let go of mounts that nobody can reach any more, once they have answered."""
        await anyio.sleep(DRAIN_SECONDS)
        for mount in mounts:
            _, stop = self._managers.pop(id(mount), (None, None))
            if stop is not None:
                stop.set()

    def _new(self, mount: Mount) -> StreamableHTTPSessionManager:
        def context(ctx: Any) -> Context:
            return self.context(mount, getattr(ctx, "request", None))

        settings = TransportSecuritySettings(
            allowed_hosts=[*self.hosts, *(f"{host}:*" for host in self.hosts)],
            allowed_origins=[f"{scheme}://{host}{port}" for scheme in ("http", "https")
                             for host in self.hosts for port in ("", ":*")],
        )  # fmt: skip
        return StreamableHTTPSessionManager(
            mcp_server(mount, self.profile, context, self.call),
            json_response=True,
            stateless=True,
            security_settings=settings,
            max_request_body_size=self.body_limit,
        )


async def _run(
    manager: StreamableHTTPSessionManager,
    stop: anyio.Event,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    async with manager.run():
        task_status.started()
        await stop.wait()
