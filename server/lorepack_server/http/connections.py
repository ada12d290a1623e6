"""HTTP connections that do not wait for ever for the other side (slow loris, and its kin)."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_SECONDS = 30.0
"""How long a client may take over a request, or over reading a piece of an answer."""
MOST_CONNECTIONS = 500
MOST_HELD_UP = 128
"""Requests that may wait for their clients at a time; fewer than are served at all."""
LEAST_SECONDS = 1.0
"""What a client may take in any case, however many come."""


class Connection(H11Protocol):
    """uvicorn's connection, closed when its client keeps it waiting.

    Where too many wait, those that have waited longest make room for a newcomer.
    """

    since = 0.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._begin_wait()
        self._make_room()
        self._timer = self.loop.call_later(PATIENCE_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        if self._timer:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Take what came; a new request has its own time."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._begin_wait()
            self._make_room()

    def pause_writing(self) -> None:
        """Begin to wait until the client has read."""
        super().pause_writing()
        self._begin_wait()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._begin_wait()

    @property
    def is_idle(self) -> bool:
        """Whether no request has begun, or the last one is answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def waits(self) -> bool:
        """Whether the client is to act: to send a request, the rest of it, or to read."""
        return self.is_idle or self.cycle.more_body or self.flow.write_paused

    def drop(self) -> None:
        """Close at once; what the client has not read is lost."""
        self.transport.abort()

    def _begin_wait(self) -> None:
        self.since = self.loop.time()

    def _look(self) -> None:
        waited = self.loop.time() - self.since if self.waits else 0.0
        if waited >= PATIENCE_SECONDS:
            self.drop()
        else:
            self._timer = self.loop.call_later(PATIENCE_SECONDS - waited, self._look)

    def _make_room(self) -> None:
        # Few connections hold nobody up, and need not be looked through.
        if len(self.connections) <= MOST_HELD_UP:
            return
        now = self.loop.time()
        others: list[Any] = [c for c in self.connections if isinstance(c, Connection)]
        waiting = sorted(
            (c for c in others if c.waits and now - c.since > LEAST_SECONDS), key=lambda c: c.since
        )
        held_up = [c for c in waiting if not c.is_idle]
        for connection in held_up[: max(0, len(held_up) - MOST_HELD_UP + 1)]:
            connection.drop()
        for connection in waiting[: max(0, len(others) - MOST_CONNECTIONS)]:
            connection.drop()
