"""MCP over HTTP for every mount and for the shelf: one session manager each, made when asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request

from lorepack_server.mcp.changes import Changes
from lorepack_server.mcp.offer import Offer, pack_offer, shelf_offer
from lorepack_server.mcp.server import Call, Served, mcp_server
from lorepack_server.packs.about import about_pack
from lorepack_server.packs.mount import Mount
from lorepack_server.tools.answer import Context
from lorepack_server.tools.shelf import ShelfContext

DRAIN_SECONDS = 30.0
"""How long a mount that left the shelf may go on answering what it was asked."""


@dataclass
class Endpoints:
    """The session managers of the mounts that agents have asked, and that of the shelf.

    Args:
        context: makes what a tool sees from a mount and the request.
        visible: returns the mounts that a request may see, newest versions only.
        call: runs one tool call; the server's limits are in it.
    """

    profile: str
    hosts: Sequence[str]
    origins: Sequence[str]
    body_limit: int
    context: Callable[[Mount, Request | None], Context]
    visible: Callable[[Request | None], Sequence[Mount]]
    call: Call
    tasks: TaskGroup
    changes: Changes = field(default_factory=Changes)
    _managers: dict[int, tuple[StreamableHTTPSessionManager, anyio.Event]] = field(
        default_factory=dict
    )
    _starting: anyio.Lock = field(default_factory=anyio.Lock)

    async def manager(self, mount: Mount | None) -> StreamableHTTPSessionManager:
        """Return the running manager of ``mount``, or, for None, that of the shelf."""
        key = 0 if mount is None else id(mount)
        async with self._starting:
            if key not in self._managers:
                manager, stop = self._new(mount), anyio.Event()
                await self.tasks.start(_run, manager, stop)
                self._managers[key] = (manager, stop)
            return self._managers[key][0]

    async def retire(self, mounts: Sequence[Mount]) -> None:
        """Let go of mounts that no one can reach any more, once they have answered."""
        await anyio.sleep(DRAIN_SECONDS)
        for mount in mounts:
            _, stop = self._managers.pop(id(mount), (None, None))
            if stop is not None:
                stop.set()

    def _new(self, mount: Mount | None) -> StreamableHTTPSessionManager:
        settings = TransportSecuritySettings(
            allowed_hosts=[*self.hosts, *(f"{host}:*" for host in self.hosts)],
            allowed_origins=[*self.origins, *(
                f"{scheme}://{host}{port}" for scheme in ("http", "https")
                for host in self.hosts for port in ("", ":*"))],
        )  # fmt: skip
        first, served = self._shelf() if mount is None else self._pack(mount)
        return StreamableHTTPSessionManager(
            mcp_server(first, served, self.call, self.changes.bus),
            json_response=True,
            stateless=True,
            security_settings=settings,
            max_request_body_size=self.body_limit,
        )

    def _pack(self, mount: Mount) -> tuple[Offer, Callable[[Any], Served]]:
        offer = pack_offer(about_pack(mount.connection()), self.profile)

        def served(ctx: Any) -> Served:
            return Served(offer, self.context(mount, getattr(ctx, "request", None)), [mount])

        return offer, served

    def _shelf(self) -> tuple[Offer, Callable[[Any], Served]]:
        def served(ctx: Any) -> Served:
            request = getattr(ctx, "request", None)
            mounts = self.visible(request)
            offer = shelf_offer([about_pack(m.connection()) for m in mounts], self.profile)
            contexts = {mount.name: self.context(mount, request) for mount in mounts}
            return Served(offer, ShelfContext(contexts), mounts)

        return shelf_offer([], self.profile), served


async def _run(
    manager: StreamableHTTPSessionManager,
    stop: anyio.Event,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    async with manager.run():
        task_status.started()
        await stop.wait()
