"""What the model of each agent client gets: the clients that people use, run for real.

The model's API is a stand-in on loopback, which calls one tool and keeps what comes back.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.agents import clients
from tests.conftest import LOREPACK, ROOT, serve

pytestmark = pytest.mark.slow

STAND_IN = ROOT.parent / "shared" / "clients" / "model_stub.py"
PYTHON_CLIENTS = Path(clients.__file__).with_name("python_clients.py")
FRAMEWORKS = {
    "fastmcp": "fastmcp", "langchain": "langchain-mcp-adapters", "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai-slim[mcp,openai]",
}  # fmt: skip
CALLS: dict[str, dict[str, Any]] = {
    "find_chunks": {"query": "why is a pack one file?"},
    "get_page": {"page": "guide/concepts/Packs.md"},
    "find_neighbors": {"page": "guide/concepts/Packs.md"},
    "wiki_query": {"query": "why is a pack one file?"},
}
SECONDS = 120


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Install a client of npm once, in a folder of its own; returns where its commands are."""
    done: dict[str, Path | str] = {}

    def install(package: str) -> Path:
        if package not in done:
            folder = tmp_path_factory.mktemp("client")
            (folder / "package.json").write_text("{}")
            command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", package]
            result = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                                    timeout=300, check=False)  # fmt: skip
            bins = folder / "node_modules" / ".bin"
            done[package] = bins if result.returncode == 0 else result.stderr[-300:]
        found = done[package]
        if isinstance(found, str):
            pytest.skip(f"{package} cannot be had: {found}")
        return found

    return install


@pytest.fixture(scope="module")
def frameworks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has all frameworks, with the SDK that they are made for."""
    folder = tmp_path_factory.mktemp("frameworks")
    uv = Path(sys.executable).with_name("uv")
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=120)
    result = subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", python, "mcp<2",
         *FRAMEWORKS.values()],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if result.returncode:
        pytest.skip(f"the frameworks cannot be had: {result.stderr[-300:]}")
    return python


@pytest.fixture(scope="module")
def servers(demo_pack: Path) -> Iterator[dict[str, clients.Server]]:
    """The demo pack over both transports, with all tools."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    over_stdio = ["env", f"XDG_CACHE_HOME={cache}", str(LOREPACK), "mcp", str(demo_pack),
                  "--tools", "all"]  # fmt: skip
    with serve(demo_pack, options=["--tools", "all"]) as address:
        yield {"http": f"{address}/mcp/demo", "stdio": over_stdio}


@contextmanager
def stand_in(out: Path, tool: str) -> Iterator[str]:
    """Run the stand-in for a model's API while the block lasts; gives its address."""
    if not STAND_IN.is_file():
        pytest.skip("the stand-in is not here")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(STAND_IN), str(port), str(out), tool, json.dumps(CALLS[tool])]
    raw = {**os.environ, "STUB_RAW": f"{out}.raw"}
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=raw)
    try:
        for _ in range(100):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def run_client(run: clients.Run, home: Path, programs: Path) -> str:
    """Run a client to its end, and end whatever it leaves running; returns what it printed."""
    path = f"{programs}{os.pathsep}/usr/local/bin:/usr/bin:/bin"
    environment = {"HOME": str(home), "PATH": path, "TERM": "dumb", **run.variables}
    log = home / "client.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            run.command, cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=file,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            process.wait(SECONDS)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            end_left_over(home)
    return log.read_text(errors="replace")[-2000:]


def end_left_over(home: Path) -> None:
    """End the processes that name this home, as Cline's hub does."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if str(home).encode() in entry.read_bytes():
                os.kill(int(entry.parent.name), signal.SIGKILL)


def expected(server: clients.Server, tool: str) -> str:
    """What the server answers to the SDK's own client."""
    target: Any = server
    if not isinstance(server, str):
        target = StdioServerParameters(command=server[0], args=list(server[1:]))

    async def ask() -> str:
        async with Client(target) as client:
            answer = await client.call_tool(tool, CALLS[tool])
            assert answer.structured_content is None
            return answer.content[0].text  # type: ignore[union-attr]

    return asyncio.run(ask())


def texts(value: Any) -> Iterator[str]:
    """Every text in a value, and in the JSON that a text holds."""
    if isinstance(value, str):
        yield value
        with suppress(ValueError):
            inner = json.loads(value)
            if not isinstance(inner, str):
                yield from texts(inner)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(
        value, Sequence) and not isinstance(value, str) else ():  # fmt: skip
        yield from texts(inner)


def is_whole(answer: str, got: Any) -> bool:
    """Whether a model that gets ``got`` can read the whole answer."""
    return any(answer in text for text in texts(got))


@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("client", clients.PACKAGES)
def test_a_client_shows_its_model_the_whole_answer(
    client: str, transport: str, tool: str, installed: Callable[[str], Path],
    servers: dict[str, clients.Server], tmp_path: Path,
) -> None:  # fmt: skip
    package, setup = clients.PACKAGES[client]
    programs = installed(package)
    with stand_in(tmp_path / "got.json", tool) as model:
        printed = run_client(setup(tmp_path, model, servers[transport]), tmp_path, programs)
    got = json.loads((tmp_path / "got.json").read_text())
    answer = expected(servers[transport], tool)
    assert is_whole(answer, got["results"]), printed + json.dumps(got)[-3000:]
    assert "guide/concepts/Packs.md" in answer
    assert ("~~~~document\n" in answer) == (tool != "find_neighbors")


@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_framework_gives_its_model_the_whole_answer(
    framework: str, transport: str, tool: str, frameworks: Path,
    servers: dict[str, clients.Server], tmp_path: Path,
) -> None:  # fmt: skip
    out = tmp_path / "got.json"
    with stand_in(out, tool) as model:
        command = [frameworks, PYTHON_CLIENTS, framework, json.dumps(servers[transport]), model,
                   tool, json.dumps(CALLS[tool])]  # fmt: skip
        run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    got = [json.loads(run.stdout), json.loads(out.read_text())["results"] if out.exists() else None]
    answer = expected(servers[transport], tool)
    assert is_whole(answer, got), run.stdout + run.stderr[-2000:]


def test_claude_code_has_the_tools_in_its_first_turn(
    installed: Callable[[str], Path], servers: dict[str, clients.Server], tmp_path: Path
) -> None:
    """It does not wait for servers; its model is asked with what is there by then."""
    package, setup = clients.PACKAGES["claude"]
    with stand_in(tmp_path / "got.json", "find_chunks") as model:
        run_client(setup(tmp_path, model, servers["stdio"]), tmp_path, installed(package))
    requests = [json.loads(line) for line in (tmp_path / "got.json.raw").read_text().splitlines()]
    bodies = [json.loads(r["body"]) for r in requests if r["path"].split("?")[0] == "/v1/messages"]
    first = next(body for body in bodies if body.get("tools"))
    assert "mcp__lorepack__find_chunks" in [tool["name"] for tool in first["tools"]]
