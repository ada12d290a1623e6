"""Clients that behave badly, against a real server; after each kind, a good one must be served.

``python -m tests.reliability.clients [--scale 1.0]`` serves a small pack, plays every kind in full
number, over HTTP and over stdio, and prints a table. Once a kind is over, the next good call must
be answered within 100 ms, and memory and descriptors must be what they were.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import click
import httpx

from tests.conftest import serve
from tests.reliability.mutants import base_pack, seal
from tests.reliability.process import MAX_SECONDS, compared, tell, tell_tracebacks, tool_call

_JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
_CALL = tool_call("find_chunks", {"query": "install chunks"})
_DEEP = 20_000


@dataclass(frozen=True)
class Server:
    """A server that runs: where it listens, its process, how long a good client may wait."""

    port: int
    pid: int
    patience: float = MAX_SECONDS

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def send(self, data: bytes) -> None:
        """Send, and leave without reading."""
        with suppress(OSError), self.connect() as client:
            client.sendall(data)

    def ask(self, body: bytes | Iterator[bytes], headers: Mapping[str, str] = _JSON) -> int:
        """Post to MCP; return the status, 0 if the server hung up."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as client:
            try:
                client.request("POST", "/mcp/m", body, dict(headers))
                return client.getresponse().status
            except (OSError, HTTPException):
                return 0


def _head(length: int, path: str = "/mcp/m") -> bytes:
    return (f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Accept: application/json\r\nContent-Length: {length}\r\n\r\n").encode()  # fmt: skip


def slow_heads(server: Server, count: int) -> None:
    """Connections whose head never ends; they stay while a good client asks."""
    held = [server.connect() for _ in range(count)]
    for client in held:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")
    time.sleep(1.5)
    _good(server)
    for client in held:
        client.close()


def slow_bodies(server: Server, count: int) -> None:
    """Requests whose body never ends: more of them than requests are served at a time."""
    held = [server.connect() for _ in range(count)]
    for client in held:
        client.sendall(_head(1000) + b"{")
    # Those that wait for their client make room once they have waited a second.
    time.sleep(1.5)
    _good(server)
    for client in held:
        client.close()


def slow_readers(server: Server, count: int) -> None:
    """Clients that ask for much, and read nothing of it."""
    ask = b"GET /site/m/big.bin HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: identity\r\n\r\n"
    held = []
    for _ in range(count):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.sendall(ask)
        held.append(client)
    # Until the system's own buffers are full, they are readers like others.
    time.sleep(0.5 + count / 60)
    _good(server)
    for client in held:
        client.close()


def half_closed(server: Server, count: int) -> None:
    """Clients that shut their side, in the middle of a request or after it."""
    body = json.dumps(_CALL).encode()
    for number in range(count):
        with suppress(OSError), server.connect() as client:
            client.sendall(_head(len(body)) + body[: len(body) if number % 2 else 10])
            client.shutdown(socket.SHUT_WR)
            client.recv(100)


def connects_and_drops(server: Server, count: int) -> None:
    for number in range(count):
        with suppress(OSError), server.connect() as client:
            if number % 3 == 1:
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            if number % 3 == 2:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def noise(server: Server, count: int) -> None:
    lot = random.Random(1)
    starts = (b"", b"\x16\x03\x01", b"GET ", b"GET / HTTP/1.1\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
              b"POST /mcp/m HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")  # fmt: skip
    for _ in range(count):
        server.send(lot.choice(starts) + lot.randbytes(lot.randrange(2000)))


def large_arguments(server: Server, count: int) -> None:
    """4 MB of arguments, with and without their length told before."""
    call = json.dumps(tool_call("find_chunks", {"query": "x" * (4 << 20)}))

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(call), 1 << 16):
            yield call[start : start + (1 << 16)].encode()

    for number in range(count):
        status = server.ask(call.encode() if number % 2 else pieces())
        assert status in (0, 413), status


def deep_json(server: Server, count: int) -> None:
    for number in range(count):
        query = "[" * _DEEP + "]" * _DEEP if number % 2 else '{"a":' * _DEEP + "1" + "}" * _DEEP
        body = json.dumps(_CALL).replace('"install chunks"', query)
        assert server.ask(body.encode()) in (200, 400)


def bad_text(server: Server, count: int) -> None:
    body = json.dumps(_CALL)
    for number in range(count):
        bad = (b"\xff\xfe", b"\0", b"\\ud800", b"\\u0000")[number % 4]
        assert server.ask(body.encode().replace(b"install", bad)) in (200, 400)


def wrong_versions(server: Server, count: int) -> None:
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}  # fmt: skip
    for number in range(count):
        version = ("1999-01-01", "", "9999-99-99", 7, None, "x" * 1000)[number % 6]
        told = {**begin, "params": {**begin["params"], "protocolVersion": version}}  # type: ignore[dict-item]
        assert server.ask(json.dumps(told).encode()) in (200, 400)
        said = {"mcp-protocol-version": str(version)[:100]}
        assert server.ask(json.dumps(_CALL).encode(), {**_JSON, **said}) in (200, 400)
        assert server.ask(b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}') in (200, 400)


def cancelled_calls(server: Server, count: int) -> None:
    """Clients that leave while they are answered, fifty at a time."""

    async def leave(client: httpx.AsyncClient, number: int) -> None:
        with suppress(TimeoutError, httpx.TransportError):
            async with asyncio.timeout(number % 50 / 2000):
                await client.post("/mcp/m", json=_CALL, headers=_JSON)

    async def all_of_them() -> None:
        for first in range(0, count, 50):
            async with httpx.AsyncClient(base_url=server.address) as client:
                await asyncio.gather(
                    *(leave(client, n) for n in range(first, min(first + 50, count)))
                )

    asyncio.run(all_of_them())


Kind = Callable[[Server, int], None]
KINDS: Mapping[Kind, int] = {
    slow_heads: 2_000, slow_bodies: 600, slow_readers: 600, half_closed: 1_000,
    connects_and_drops: 10_000, noise: 2_000, large_arguments: 200, deep_json: 200, bad_text: 1_000,
    wrong_versions: 300, cancelled_calls: 5_000,
}  # fmt: skip
"""Kinds of bad clients, and how many of them come."""


def _good(server: Server) -> float:
    """Ask as a good client does, once; return the seconds until the answer."""
    begin = time.perf_counter()
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=30)) as client:
        client.request("POST", "/mcp/m", json.dumps(_CALL), _JSON)
        answer = client.getresponse()
        text = answer.read()
    took = time.perf_counter() - begin
    assert answer.status == 200, f"{answer.status}: {text[:200]!r}"
    assert json.loads(text)["result"]["_meta"]["lorepack"]["version"]
    assert took < server.patience, f"a good client waited {took * 1000:.0f} ms"
    return took


def play(server: Server, kind: Kind, count: int) -> str:
    """Let a kind come twice, and look what it leaves; return a row of the table.

    Raises:
        AssertionError: a good client waited too long, or something stayed.
    """
    return compared(
        kind.__name__, count, server.pid, lambda: kind(server, count), lambda: _good(server)
    )


def serve_small(folder: Path) -> serve:
    """Serve a small pack with a large file in its site."""
    pack = base_pack(folder)
    with closing(sqlite3.connect(pack)) as opened:
        big = random.Random(1).randbytes(8 << 20)
        row = ("big.bin", 0o100644, 0, len(big), big)
        opened.execute("INSERT INTO sqlar VALUES (?, ?, ?, ?, ?)", row)
        seal(opened)
    return serve(pack, options=["--heartbeat", "2"], log=folder / "log")


@click.command()
@click.option("--scale", default=1.0, help="A share of each kind's number.")
def main(scale: float) -> None:
    """Play all kinds of bad clients against a server."""
    with tempfile.TemporaryDirectory() as scratch:
        running = serve_small(Path(scratch))
        with running:
            server = Server(running.port, running.process.pid)
            warm(server)
            plays = {
                kind.__name__: partial(play, server, kind, max(1, round(count * scale)))
                for kind, count in KINDS.items()
            }
            faults = tell("clients", plays)
        faults += tell_tracebacks(Path(scratch) / "log")
    sys.exit(1 if faults else 0)


def warm(server: Server) -> None:
    """Fill the caches and pools that stay with the process."""
    for _ in range(200):
        with suppress(AssertionError):
            _good(server)
    with ThreadPoolExecutor(60) as threads:
        addresses = [
            f"{server.address}/{name}" for name in ("site/m/big.bin", "api/m/search?query=x")
        ]
        with httpx.Client() as client:
            list(threads.map(client.get, addresses * 50))


if __name__ == "__main__":
    main()
