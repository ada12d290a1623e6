"""Run a tool: check its arguments, within limits of time and number, counted and logged."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import anyio
import anyio.to_thread
from jsonschema import Draft202012Validator

from lorepack.packfile.errors import LorepackError
from lorepack.server.metrics import Metrics
from lorepack.server.tools.answer import Context, ToolAnswer, ToolSpec, error, seen

_log = logging.getLogger("lorepack.server.calls")

MOST_AT_ONCE = 64
"""Calls being answered or waiting; one more is told to come again."""
THREADS = max(2, os.cpu_count() or 1)
"""Of calls; they compute, so that more would only take turns."""
TIMEOUT_SECONDS = 30.0


class Busy(Exception):
    """There are as many calls as may be."""


@dataclass
class Calls:
    """The gate that every call of a tool goes through, over MCP and over the HTTP API."""

    metrics: Metrics
    timeout: float = TIMEOUT_SECONDS
    most: int = MOST_AT_ONCE
    in_flight: int = 0
    _threads: anyio.CapacityLimiter | None = None
    _validators: dict[str, Draft202012Validator] = field(default_factory=dict)

    async def run(
        self, tools: Mapping[str, ToolSpec], name: str, arguments: Mapping[str, Any],
        context: Context,
    ) -> ToolAnswer:  # fmt: skip
        """Answer a call; whatever happens in the tool becomes an answer.

        Raises:
            Busy: too many calls are being answered.
        """
        spec = tools.get(name)
        if spec is None:
            return error("unknown_tool", f"there is no tool {name!r}", {"tools": list(tools)})
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
                extra={"tool": name, "pack": context.mount.name, "version": context.mount.version,
                       "outcome": outcome, "ms": round(seconds * 1000, 2)},
            )  # fmt: skip

    async def _answer(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: Context
    ) -> ToolAnswer:
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(THREADS)
        problem = self._problem(spec, arguments)
        if problem:
            return error("invalid_arguments", problem)
        try:
            with anyio.fail_after(self.timeout):
                # The thread goes on to its end; the client need not wait for it.
                return await anyio.to_thread.run_sync(
                    lambda: seen(spec.run(context, arguments)),
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

    def _problem(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> str:
        if spec.name not in self._validators:
            self._validators[spec.name] = Draft202012Validator(dict(spec.input_schema))
        errors = self._validators[spec.name].iter_errors(arguments)
        problems = sorted(errors, key=lambda e: str(e.path))
        if not problems:
            return ""
        where = ".".join(map(str, problems[0].absolute_path))
        message = f"{where}: {problems[0].message}" if where else problems[0].message
        return message[:500]
