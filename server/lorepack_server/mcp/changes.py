"""Tell clients that the lists of a server changed, as when a pack was swapped for another."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

_NOTICES = tuple(
    json.dumps({"jsonrpc": "2.0", "method": f"notifications/{kind}/list_changed"})
    for kind in ("tools", "resources", "prompts")
)
_PAUSE_SECONDS = 15.0
"""Between two signs of life, which find out clients that are gone."""
MAX_STREAMS = 100


class Changes:
    """Fans notices out: over ``subscriptions/listen``, and over the GET stream of older clients."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._streams: set[MemoryObjectSendStream[str]] = set()

    async def publish(self) -> None:
        """Tell all who listen that tools, resources and prompts may be others now."""
        for event in (ToolsListChanged(), ResourcesListChanged(), PromptsListChanged()):
            await self.bus.publish(event)
        for stream in list(self._streams):
            for notice in _NOTICES:
                try:
                    stream.send_nowait(notice)
                except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    break

    def close(self) -> None:
        """End all streams."""
        for stream in list(self._streams):
            stream.close()

    def response(self, request: Request) -> Response:
        """Return the stream of notices; 405 where it is not asked for, or too many are open."""
        if "text/event-stream" not in request.headers.get("accept", "") or (
            len(self._streams) >= MAX_STREAMS
        ):
            return Response(status_code=405, headers={"Allow": "POST"})
        return StreamingResponse(
            self._events(), media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )  # fmt: skip

    async def _events(self) -> AsyncIterator[str]:
        send, receive = anyio.create_memory_object_stream[str](2 * len(_NOTICES))
        self._streams.add(send)
        try:
            yield ": open\n\n"
            while True:
                notice = None
                with anyio.move_on_after(_PAUSE_SECONDS):
                    try:
                        notice = await receive.receive()
                    except anyio.EndOfStream:
                        return
                yield f"event: message\ndata: {notice}\n\n" if notice else ": still here\n\n"
        finally:
            self._streams.discard(send)
            send.close()
            receive.close()
