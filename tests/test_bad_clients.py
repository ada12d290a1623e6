"""Clients that behave badly: a few of the many that ``clients`` and ``lines`` play."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from lorepack_server.http.connections import Connection
from tests.reliability import clients, lines
from tests.reliability.mutants import base_pack

PATIENCE = 5.0
"""Seconds; how fast it really is stands in ``docs/reliability.md``."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[clients.Server]:
    running = clients.serve_small(tmp_path_factory.mktemp("clients"))
    with running:
        served = clients.Server(running.port, running.process.pid, PATIENCE)
        clients.warm(served)
        yield served


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lines.Session]:
    folder = tmp_path_factory.mktemp("lines")
    with lines.session(base_pack(folder), folder / "log") as served:
        yield served
    assert "traceback" not in (folder / "log").read_text()


@pytest.mark.parametrize("kind", clients.KINDS, ids=lambda kind: kind.__name__)
def test_a_good_client_is_served_after(server: clients.Server, kind: clients.Kind) -> None:
    clients.play(server, kind, max(20, clients.KINDS[kind] // 20))


def test_those_who_hold_a_server_up_make_room(server: clients.Server) -> None:
    """More than are served at all: without making room, no good client would be."""
    clients.play(server, clients.slow_bodies, 400)


@pytest.mark.slow
@pytest.mark.parametrize("kind", lines.KINDS, ids=lambda kind: kind.__name__)
def test_a_good_line_is_answered_after(session: lines.Session, kind: lines.Kind) -> None:
    lines.play(session, kind, max(50, lines.KINDS[kind] // 20), PATIENCE)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server that waits for a second."""
    monkeypatch.setattr("lorepack_server.http.connections.PATIENCE_SECONDS", 1.0)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(512):
            await send({"type": "http.response.body", "body": b"x" * (1 << 16), "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=Connection, lifespan="off", log_config=None)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: running.run(sockets=[listening]))
    thread.start()
    yield listening.getsockname()[1]
    running.should_exit = running.force_exit = True
    thread.join(10)


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1",
     b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ids=["nothing", "half a head", "half a body", "nothing is read"],
)  # fmt: skip
def test_who_keeps_the_server_waiting_is_let_go(impatient: int, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", impatient)) as client:
        client.sendall(sent)
        time.sleep(3)
        client.settimeout(5)
        received = 0
        try:
            while data := client.recv(1 << 20):
                received += len(data)
        except ConnectionResetError:
            pass
    assert received < 32 << 20


def test_who_reads_slowly_but_reads_is_waited_for(impatient: int) -> None:
    with socket.create_connection(("127.0.0.1", impatient)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        received = 0
        while data := client.recv(1 << 20):
            received += len(data)
            time.sleep(0.02)
    assert received >= 32 << 20
