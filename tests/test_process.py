"""A server as a process: its logs, its siblings, its configuration and its end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from lorepack_server.process.instances import instance_file
from tests.conftest import LOREPACK, ROOT, Built, serve

INITIALIZE = {
    "method": "initialize", "id": 0,
    "params": {"protocolVersion": "2025-06-18", "capabilities": {},
               "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip
INITIALIZED = {"method": "notifications/initialized"}


def search(number: int, query: str) -> dict[str, Any]:
    return {"method": "tools/call", "id": number,
            "params": {"name": "find_chunks", "arguments": {"query": query}}}  # fmt: skip


class Agent:
    """``lorepack mcp`` in a process of its own, spoken to line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def send(self, *messages: dict[str, Any]) -> None:
        assert self.process.stdin
        lines = (json.dumps({"jsonrpc": "2.0", **message}) for message in messages)
        self.process.stdin.write("\n".join(lines) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message


@contextmanager
def agent(pack: Path, *options: str, log: Path | None = None) -> Iterator[Agent]:
    with log.open("w") if log else open(os.devnull, "w") as errors:
        process = subprocess.Popen(
            [str(LOREPACK), "mcp", str(pack), *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
        )  # fmt: skip
        try:
            started = Agent(process)
            started.send(INITIALIZE, INITIALIZED)
            assert "result" in started.receive()
            # Only what comes after the start waits until all is loaded.
            started.send({"method": "prompts/list", "id": "loaded"})
            assert started.receive()["id"] == "loaded"
            yield started
        finally:
            process.kill()
            process.communicate()


def log_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def seconds_until_end(process: subprocess.Popen[str], begin: Callable[[], object]) -> float:
    started = time.monotonic()
    begin()
    process.wait(20)
    return time.monotonic() - started


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "model loads"])
def test_a_signal_ends_it_within_two_seconds(
    demo_pack: Path, state_folder: Path, number: int, busy: bool
) -> None:
    with agent(demo_pack) as started:
        instance = state_folder / "instances" / f"{started.process.pid}.json"
        assert json.loads(instance.read_text())["kind"] == "stdio"
        if busy:
            started.send(search(1, "why is a pack one file?"))
            time.sleep(0.05)
        took = seconds_until_end(started.process, lambda: started.process.send_signal(number))
        assert took < 2 and started.process.returncode == 0
        assert not instance.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("after", [0.0, 0.2, 0.4, 0.8])
def test_a_signal_ends_it_while_it_starts(demo_pack: Path, number: int, after: float) -> None:
    process = subprocess.Popen(
        [str(LOREPACK), "mcp", str(demo_pack)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    started = Agent(process)
    started.send(INITIALIZE, INITIALIZED)
    assert "result" in started.receive()
    time.sleep(after)
    assert seconds_until_end(process, lambda: process.send_signal(number)) < 2
    _, errors = process.communicate()
    assert process.returncode == 0 and "Traceback" not in errors


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "model loads"])
def test_the_end_of_stdin_ends_it_within_two_seconds(demo_pack: Path, busy: bool) -> None:
    with agent(demo_pack) as started:
        if busy:
            started.send(search(1, "why is a pack one file?"))
            time.sleep(0.05)
        assert started.process.stdin
        took = seconds_until_end(started.process, started.process.stdin.close)
        assert took < 2 and started.process.returncode == 0
        started.process.stdin = None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_http_server_too(demo_pack: Path, number: int) -> None:
    running = serve(demo_pack)
    with running as address:
        asking = threading.Thread(target=lambda: _ignore_errors(address))
        asking.start()
        time.sleep(0.1)
        took = seconds_until_end(running.process, lambda: running.process.send_signal(number))
        asking.join()
    assert took < 2 and running.process.returncode == 0


def _ignore_errors(address: str) -> None:
    with suppress(httpx.HTTPError):
        httpx.get(f"{address}/api/demo/search", params={"query": "why?"}, timeout=10)


def test_logs_are_json_and_hold_no_questions(demo_pack: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with agent(demo_pack, "--heartbeat", "0.2", log=log) as started:
        started.send(search(1, "a very private question"))
        assert "result" in started.receive()
        time.sleep(0.5)
    lines = log_lines(log)
    assert {"capabilities", "call", "heartbeat"} <= {line["message"] for line in lines}
    capabilities = next(line for line in lines if line["message"] == "capabilities")
    assert capabilities["packs"]["demo@1.0.0"]["model"] == "multilingual-e5-small"
    beat = [line for line in lines if line["message"] == "heartbeat"][-1]
    assert beat["rssBytes"] > 1e7 and beat["inFlight"] == 0
    assert "private" not in log.read_text()


def test_questions_are_logged_when_debugging(demo_pack: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with agent(demo_pack, "--log-level", "debug", log=log) as started:
        started.send(search(1, "a very private question"))
        started.receive()
    assert "private" in log.read_text()


def test_the_log_file_rotates(
    demo_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    state_folder = tmp_path / "lorepack"
    with agent(demo_pack):
        file = state_folder / "lorepack.log"
        assert file.is_file()
    for name in ("lorepack.log", "lorepack.log.1", "lorepack.log.2"):
        (state_folder / name).write_bytes(b"x" * (10 << 20))
    with agent(demo_pack):
        pass
    names = sorted(path.name for path in state_folder.glob("lorepack.log*"))
    assert names == ["lorepack.log", "lorepack.log.1", "lorepack.log.2"]
    assert json.loads(file.read_text().splitlines()[0])["message"] == "capabilities"


def test_siblings_with_the_same_pack_are_told(demo_pack: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    pack = Path(shutil.copy(demo_pack, tmp_path))
    with serve(pack) as address, agent(pack, log=log):
        pass
    warned = [line for line in log_lines(log) if line["level"] == "warning"]
    assert [line["address"] for line in warned] == [address]


def test_what_a_dead_server_left_is_removed(state_folder: Path, demo_pack: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = state_folder / "instances" / f"{dead.pid}.json"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text(json.dumps({"pid": dead.pid, "kind": "http", "packs": [], "address": ""}))
    with instance_file("stdio", [demo_pack], "stdio") as mine:
        assert mine is not None and mine.exists()
        assert not left.exists()
    assert not mine.exists()


def run(
    arguments: Sequence[str], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LOREPACK), *arguments], check=False, cwd=folder, env={**os.environ, **environment},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_flags_beat_the_environment_and_that_beats_the_file(
    demo_pack: Path, tmp_path: Path
) -> None:
    def hits(*flags: str, **environment: str) -> int:
        found = run(["search", str(demo_pack), "pack", "--json", *flags], tmp_path, **environment)
        return len(json.loads(found.stdout)["results"])

    assert hits() == 8
    (tmp_path / "lorepack.toml").write_text("[search]\nlimit = 3\n")
    assert hits() == 3
    assert hits(LOREPACK_SEARCH_LIMIT="2") == 2
    assert hits("-k", "1", LOREPACK_SEARCH_LIMIT="2") == 1
    (tmp_path / "other.toml").write_text("[search]\nlimit = 4\n")
    assert hits(LOREPACK_CONFIG=str(tmp_path / "other.toml")) == 4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[search]\nlimits = 3\n", "[search] has no 'limits': there are"),
        ("[serch]\nlimit = 3\n", "[serch] is no table of a command"),
        ("search = 3\n", "[search] is no table of a command"),
        ("[search\n", "cannot be read"),
        ('[search]\nlimit = "many"\n', "'many' is not a valid integer"),
        ("[search]\nlimit = 99\n", "99 is not in the range"),
    ],
)
def test_a_wrong_configuration_is_named(
    build: Callable[..., Built], tmp_path: Path, text: str, says: str
) -> None:
    pack = build({"A.md": "a word"}).path
    (tmp_path / "lorepack.toml").write_text(text)
    told = run(["search", str(pack), "word"], tmp_path)
    assert told.returncode == 2 and says in told.stderr
    assert "Traceback" not in told.stderr


def test_a_port_in_use_is_named(demo_pack: Path) -> None:
    running = serve(demo_pack)
    with running:
        told = run(["serve", str(demo_pack), "--port", str(running.port)], demo_pack.parent)
    assert told.returncode == 2 and "cannot be listened on" in told.stderr
    assert "Traceback" not in told.stderr


def test_answers_are_not_held_back(demo_server: str) -> None:
    """With Nagle's algorithm each of these would wait 40 ms for an acknowledgement."""
    with httpx.Client(base_url=demo_server) as client:
        client.get("/healthz")
        took = []
        for _ in range(40):
            begin = time.monotonic()
            client.get("/healthz")
            took.append(time.monotonic() - begin)
    assert min(took) < 0.03


def test_every_variable_is_documented() -> None:
    code = [
        *ROOT.glob("builder/**/*.py"),
        *ROOT.glob("server/**/*.py"),
        *ROOT.glob("lorepack/**/*.py"),
    ]
    named = {
        name for file in code for name in re.findall(r"LOREPACK_[A-Z_]+[A-Z]", file.read_text())
    }
    documented = (ROOT / "docs" / "config.md").read_text()
    assert named and not [name for name in named if f"`{name}`" not in documented]


TEN_THOUSAND = 10_000


@pytest.mark.slow
def test_stdout_stays_pure_under_ten_thousand_calls(demo_pack: Path, tmp_path: Path) -> None:
    """Mixed calls, wrong ones too, with the model loading among them."""
    kinds: list[dict[str, Any]] = [
        {"method": "tools/call", "params": {"name": "wiki_status", "arguments": {}}},
        search(0, "why is a pack one file?"),
        {"method": "tools/call", "params": {"name": "nothing", "arguments": {}}},
        {"method": "tools/call", "params": {"name": "find_chunks", "arguments": {"bogus": 1}}},
        {"method": "tools/list"},
        {"method": "no/such/method"},
        {"method": "tools/call",
         "params": {"name": "get_page", "arguments": {"page": "guide/concepts/Packs.md"}}},
        {"method": "resources/read", "params": {"uri": "lorepack://demo/../etc/passwd"}},
        {"method": "tools/call",
         "params": {"name": "find_neighbors", "arguments": {"source": "#guide", "depth": 2}}},
    ]  # fmt: skip
    log = tmp_path / "log"
    with agent(demo_pack, "--tripwire", log=log) as started:
        answered: set[int] = set()
        for begin in range(1, TEN_THOUSAND + 1, 50):
            numbers = range(begin, begin + 50)
            started.send(*({**kinds[n % len(kinds)], "id": n} for n in numbers))
            answered |= {started.receive()["id"] for _ in numbers}
        assert answered == set(range(1, TEN_THOUSAND + 1))
        assert started.process.stdin and started.process.stdout
        started.process.stdin.close()
        assert started.process.stdout.read() == ""
        started.process.stdin = None
    assert not [line for line in log_lines(log) if line["message"] == "stray output"]


STRAY = """
import os, sys, anyio
from pathlib import Path
from lorepack_server.cli import mcp
from lorepack_server.mcp import stdio
async def stray(calls, seconds):
    print("a line from Python")
    os.system("echo a line from a child")
    os.write(1, b"a line from a descriptor\\n")
stdio.beat = stray
mcp.mcp([sys.argv[1], "--tripwire"])
"""


def test_the_tripwire_names_who_writes(demo_pack: Path) -> None:
    message = json.dumps({"jsonrpc": "2.0", **INITIALIZE}) + "\n"
    process = subprocess.Popen(
        [sys.executable, "-c", STRAY, str(demo_pack)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin and process.stdout
    process.stdin.write(message)
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 0
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}) + "\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    rest, errors = process.communicate(timeout=10)
    assert rest == ""
    stray = [line for line in map(json.loads, errors.splitlines())
             if line["message"] == "stray output"]  # fmt: skip
    assert {line["text"].strip() for line in stray} == {
        "a line from Python", "a line from a child", "a line from a descriptor",
    }  # fmt: skip
    assert any("stray" in line.get("stack", "") for line in stray)
