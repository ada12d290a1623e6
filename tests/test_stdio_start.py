"""The start of a stdio server: what clients ask first is answered at once, and as later."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from lorepack_server.mcp.early import PROTOCOLS
from tests.conftest import LOREPACK

CLIENT = {"capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


class Agent:
    """A client that writes lines and reads lines."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def send(self, method: str, id: Any = None, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if id is not None:
            message["id"] = id
        if params or method == "initialize":
            message["params"] = params
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        return dict(json.loads(self.process.stdout.readline()))

    def seconds(self) -> float:
        """Processor time that the server used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def agent(*arguments: str | Path) -> Iterator[Agent]:
    process = subprocess.Popen(
        [str(LOREPACK), "mcp", *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        yield Agent(process)
    finally:
        assert process.stdin and process.stdout
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


def initialize(client: Agent, version: str = "2025-06-18", id: Any = 0) -> dict[str, Any]:
    client.send("initialize", id, protocolVersion=version, **CLIENT)
    return client.read()


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, "1999-01-01", "2099-01-01"])
def test_the_first_answers_are_those_of_the_sdk(demo_pack: Path, version: str) -> None:
    """Asked when all is loaded, it says the same."""
    with agent(demo_pack, "--tools", "all") as client:
        early = initialize(client, version)
        client.send("notifications/initialized")
        client.send("tools/list", 1)
        listed = client.read()
    with agent(demo_pack, "--tools", "all") as client:
        # What nobody asks first has it load everything.
        client.send("no/such/method", "first")
        assert client.read()["id"] == "first"
        assert initialize(client, version) == early
        client.send("notifications/initialized")
        client.send("tools/list", 1)
        assert client.read() == listed
    assert tuple(HANDSHAKE_PROTOCOL_VERSIONS) == PROTOCOLS
    assert PROTOCOLS[-1] == LATEST_HANDSHAKE_VERSION


def test_tools_are_there_before_anything_heavy(demo_pack: Path) -> None:
    with agent(demo_pack) as client:
        initialize(client)
        client.send("notifications/initialized")
        client.send("tools/list", 1)
        assert client.read()["result"]["tools"]
        maps = Path(f"/proc/{client.process.pid}/maps").read_text()
        assert "numpy" not in maps and "onnxruntime" not in maps


def test_the_handshake_is_handed_over(demo_pack: Path) -> None:
    """What was answered early is not answered again, and the session goes on."""
    with agent(demo_pack) as client:
        initialize(client, id="hand-over")
        client.send("notifications/initialized")
        client.send("ping", 1)
        assert client.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}
        client.send("tools/call", 2, name="find_chunks", arguments={"query": "pack"})
        client.send("tools/list", 3)
        answers = [client.read(), client.read()]
        assert sorted(answer["id"] for answer in answers) == [2, 3]
        assert all("result" in answer for answer in answers)
        client.send("resources/templates/list", 4)
        assert client.read()["id"] == 4


@pytest.mark.parametrize("pause", [0.0, 0.3, 1.2])
def test_no_request_is_lost_while_the_rest_loads(demo_pack: Path, pause: float) -> None:
    with agent(demo_pack) as client:
        initialize(client)
        client.send("notifications/initialized")
        time.sleep(pause)
        for number in range(1, 40):
            method = ("ping", "tools/list", "resources/list", "prompts/list")[number % 4]
            client.send(method, number)
            time.sleep(0.01)
        assert {client.read()["id"] for _ in range(1, 40)} == set(range(1, 40))


@pytest.mark.parametrize(
    "line",
    ["no json", "[]", "7", "{}", '{"jsonrpc": "2.0", "id": 1, "method": "initialize"}',
     '{"jsonrpc": "2.0", "id": true, "method": "initialize", "params": []}',
     '{"jsonrpc": "2.0", "id": 5, "method": "tools/list"}', "[" * 100_000],
)  # fmt: skip
def test_what_is_no_handshake_is_left_to_the_sdk(demo_pack: Path, line: str) -> None:
    with agent(demo_pack) as client:
        assert client.process.stdin
        client.process.stdin.write(f"{line}\n")
        client.process.stdin.flush()
        time.sleep(0.1)
        answer = initialize(client, id="after")
        while answer.get("id") != "after":
            assert answer["jsonrpc"] == "2.0"
            answer = client.read()
        assert answer["result"]["serverInfo"]["name"] == "lorepack-demo"


@pytest.mark.parametrize("early", [True, False])
def test_it_ends_with_its_input(demo_pack: Path, early: bool) -> None:
    with agent(demo_pack) as client:
        if not early:
            initialize(client)
            client.send("tools/call", 2, name="wiki_status", arguments={})
            assert client.read()["id"] == 2
    assert client.process.returncode == 0


def test_a_question_does_not_wait_for_ever_for_its_model() -> None:
    """While one thread loads, others wait as long as they are told to, and come again."""
    from lorepack_server.retrieve import encoders

    ready, loaded = threading.Event(), []

    def load() -> Any:
        ready.wait(20)
        loaded.append(1)
        return "an encoder"

    for _ in range(2):
        begin = time.monotonic()
        assert "still being loaded" in str(encoders._once("a test", load, 0.2))
        assert 0.1 < time.monotonic() - begin < 5
    ready.set()
    assert encoders._once("a test", load, None) == "an encoder"
    assert encoders._once("a test", load, 0.0) == "an encoder" and loaded == [1]
