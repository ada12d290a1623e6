"""Bad lines on the stdin of ``lorepack mcp``: each is answered or passed over, and costs nothing.

``python -m tests.reliability.lines [--scale 1.0]`` sends every kind in full number to one server
over a small pack, and prints a table as `clients` does.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import click

from tests.conftest import LOREPACK
from tests.reliability.mutants import base_pack
from tests.reliability.process import MAX_SECONDS, compared, tell, tell_tracebacks, tool_call

_DEEP = 20_000
_VERSION = "2025-06-18"


@dataclass
class Session:
    """A server over stdio that is past its handshake."""

    process: subprocess.Popen[bytes]
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(10**6))

    def send(self, line: bytes) -> None:
        _pipe(self.process.stdin).write(line + b"\n")
        _pipe(self.process.stdin).flush()

    def good(self) -> float:
        """Ask, pass over what else is answered first, and return the seconds until the answer."""
        id, begin = next(self.ids), time.perf_counter()
        self.send(_call("install chunks", id))
        while True:
            answer = json.loads(_pipe(self.process.stdout).readline())
            if answer.get("id") == id:
                assert answer["result"]["_meta"]["lorepack"]["version"]
                return time.perf_counter() - begin


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe
    return pipe


@contextmanager
def session(pack: Path, log: Path) -> Iterator[Session]:
    """Start a server, shake hands, and end it by closing its stdin."""
    command = [str(LOREPACK), "mcp", str(pack), "--heartbeat", "2"]
    with log.open("wb") as errors, subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
    ) as process:  # fmt: skip
        made = Session(process)
        made.send(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": _VERSION, "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"}}}).encode())  # fmt: skip
        json.loads(_pipe(process.stdout).readline())
        made.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        # Fill the pools that stay with the process.
        made.send(four_megabytes(1))
        for _ in range(20):
            _pipe(process.stdin).write(b"".join(_call("install", n) + b"\n" for n in range(60)))
            made.good()
        yield made
        _pipe(process.stdin).close()
        assert process.wait(10) == 0


def _call(query: str, number: int) -> bytes:
    return json.dumps(tool_call("find_chunks", {"query": query}, number)).encode()


def no_utf8(number: int) -> bytes:
    return _call("install", number).replace(b"install", bytes([0xC0 + number % 64, 0xFF, 0xFE]))


def nul(number: int) -> bytes:
    return (b"\0" * 100, _call("install", number).replace(b"install", b"\0"))[number % 2]


def lone_surrogates(number: int) -> bytes:
    return _call("install", number).replace(b"install", b"\\ud800")


def deep_json(number: int) -> bytes:
    return (b"[" * _DEEP, b'{"a":' * _DEEP, b"[" * _DEEP + b"]" * _DEEP)[number % 3]


def four_megabytes(number: int) -> bytes:
    return _call("x" * (4 << 20), number)


def no_json(number: int) -> bytes:
    return (b"", b"{", b"hello", b"[]", b"7", b'"x"', b"null", b"GET / HTTP/1.1")[number % 8]


def no_call(number: int) -> bytes:
    bad: tuple[dict[str, Any], ...] = (
        {"jsonrpc": "1.0", "id": number, "method": "tools/list"},
        {"id": number, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": number, "method": "no/such"},
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": [1]},
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": 7}},
        {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": {"protocolVersion": 7}},
        {"jsonrpc": "2.0", "id": number, "result": {}},
        {"jsonrpc": "2.0", "method": "notifications/no-such"},
    )
    return json.dumps(bad[number % len(bad)]).encode()


def cancelled(number: int) -> bytes:
    told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
    return _call("install", number) + b"\n" + json.dumps(told).encode()


Kind = Callable[[int], bytes]
KINDS: Mapping[Kind, int] = {
    no_utf8: 2_000, nul: 2_000, lone_surrogates: 2_000, deep_json: 300, four_megabytes: 50,
    no_json: 2_000, no_call: 2_000, cancelled: 2_000,
}  # fmt: skip
"""Kinds of bad lines, and how many of them come."""


def play(server: Session, kind: Kind, count: int, patience: float = MAX_SECONDS) -> str:
    """Send a kind of line twice, a good call after every tenth; return a row of the table.

    Raises:
        AssertionError: a good call waited too long, or something stayed.
    """

    def rush() -> None:
        for number in range(count):
            server.send(kind(number))
            if number % 10 == 9:
                server.good()
        server.good()

    def good() -> float:
        took = server.good()
        assert took < patience, f"a good call waited {took * 1000:.0f} ms"
        return took

    return compared(kind.__name__, count, server.process.pid, rush, good)


@click.command()
@click.option("--scale", default=1.0, help="A share of each kind's number.")
def main(scale: float) -> None:
    """Send all kinds of bad lines to a server."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with session(base_pack(folder), folder / "log") as server:
            plays = {
                kind.__name__: partial(play, server, kind, max(1, round(count * scale)))
                for kind, count in KINDS.items()
            }
            faults = tell("lines", plays)
        faults += tell_tracebacks(folder / "log")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
