"""Run a tool: check its arguments, within limits of time and number, counted and logged."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import anyio
import anyio.to_thread

from lorepack.errors import LorepackError
from lorepack_server.limits import MAX_CALLS, TIMEOUT_SECONDS
from lorepack_server.metrics import Metrics
from lorepack_server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    error,
    without_invisible,
)
from lorepack_server.tools.near_names import near_names
from lorepack_server.tools.shelf import ShelfContext

_log = logging.getLogger("lorepack.server.calls")

THREADS = max(2, os.cpu_count() or 1)
"""Of calls; they compute, so that more would only take turns."""


class Busy(Exception):
    """There are as many calls as may be."""


@dataclass
class Calls:
    """The gate that every call of a tool goes through, over MCP and over the HTTP API."""

    metrics: Metrics
    timeout: float = TIMEOUT_SECONDS
    most: int = MAX_CALLS
    in_flight: int = 0
    _threads: anyio.CapacityLimiter | None = None

    async def run(
        self, tools: Mapping[str, ToolSpec], name: str, arguments: Mapping[str, Any],
        context: Context | ShelfContext,
    ) -> ToolAnswer:  # fmt: skip
        """Answer a call; whatever happens in the tool becomes an answer.

        Raises:
            Busy: too many calls are being answered.
        """
        spec = tools.get(name)
        if spec is None:
            near = near_names(name, tools, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(tools)}"
            return error("unknown_tool", f"there is no tool {name[:60]!r}; {hint}",
                         {"tools": list(tools)})  # fmt: skip
        if self.in_flight >= self.most:
            raise Busy
        _log.debug("asked", extra={"tool": name, "arguments": dict(arguments)})
        self.in_flight += 1
        self.metrics.in_flight.set(self.in_flight)
        begin = perf_counter()
        answer = error("cancelled", f"{name} was cancelled")
        try:
            answer = await self._answer(spec, arguments, context)
            return answer
        finally:
            self.in_flight -= 1
            self.metrics.in_flight.set(self.in_flight)
            seconds = perf_counter() - begin
            outcome = "error" if answer.is_error else str(answer.data.get("status", "ok"))
            self.metrics.calls.labels(name, outcome).observe(seconds)
            _log.info(
                "call",
                extra={"tool": name, **context.logged, "outcome": outcome,
                       "ms": round(seconds * 1000, 2)},
            )  # fmt: skip

    async def _answer(
        self, spec: ToolSpec, sent: Mapping[str, Any], context: Context | ShelfContext
    ) -> ToolAnswer:
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(THREADS)
        try:
            with anyio.fail_after(self.timeout):
                # The thread goes on to its end; the client need not wait for it.
                return await anyio.to_thread.run_sync(
                    lambda: without_invisible(spec.call(context, sent)),
                    abandon_on_cancel=True,
                    limiter=self._threads,
                )
        except TimeoutError:
            return error("timeout", f"{spec.name} took longer than {self.timeout:.0f} s")
        except (sqlite3.DatabaseError, LorepackError) as problem:
            _log.exception("tool %s failed", spec.name)
            return error("damaged", f"the pack cannot be read ({problem}); `lorepack verify` it")
        except Exception:
            _log.exception("tool %s failed", spec.name)
            why = "the server's log says why, and `lorepack verify` whether the pack is damaged"
            return error("internal", f"{spec.name} failed; {why}")
