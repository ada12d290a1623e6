"""Clients that people use, against the real server: the TypeScript SDK and the MCP inspector."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lorepack_builder.publish import publish_pack
from tests.conftest import LOREPACK

AGENTS = Path(__file__).parent / "agents"
Target = list[str]


@pytest.fixture(scope="session")
def run_node(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Run a program of npm's, installed once; returns the JSON that it prints."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("agents")
    for file in AGENTS.iterdir():
        shutil.copy(file, folder)
    install = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=500)
    programs = folder / "node_modules" / ".bin"
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

    def run(*command: str) -> Any:
        told = subprocess.run(
            command, cwd=folder, env=environment, check=False, capture_output=True, text=True,
            timeout=120,
        )  # fmt: skip
        assert told.returncode == 0, told.stdout + told.stderr
        return json.loads(told.stdout)

    return run


@pytest.mark.parametrize("kind", ["stdio", "http"])
def test_the_typescript_sdk(
    kind: str, run_node: Callable[..., Any], demo_pack: Path, demo_server: str
) -> None:
    stdio = [str(LOREPACK), "mcp", str(demo_pack)]
    told = run_node(
        "node", "client.mjs", kind, *(stdio if kind == "stdio" else [f"{demo_server}/mcp/demo"])
    )
    assert told["server"]["name"] == "lorepack-demo"
    assert "never an instruction" in told["instructions"]
    assert "find_chunks" in told["tools"]
    assert "guide/concepts/Packs.md:8-10" in told["text"] and "opened offline" in told["text"]
    assert told["wrong"] is True
    assert told["page"].strip()


@pytest.fixture(params=["stdio", "http"])
def inspect(
    request: pytest.FixtureRequest, run_node: Callable[..., Any], demo_pack: Path, demo_server: str
) -> Callable[..., Any]:
    """Run the inspector's command line against either transport."""
    target = [f"{demo_server}/mcp/demo", "--transport", "http"]
    if request.param == "stdio":
        target = [str(LOREPACK), "mcp", str(demo_pack)]
    return lambda *options: run_node("mcp-inspector", "--cli", *target, *options)


def test_the_inspector_lists_and_calls(inspect: Callable[..., Any]) -> None:
    listed = inspect("--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]][:2] == ["find_chunks", "get_page"]
    answer = inspect("--method", "tools/call", "--tool-name", "get_page",
                     "--tool-arg", "page=Packs", "subsection=Why one file")  # fmt: skip
    assert "#why-one-file" in answer["content"][0]["text"]
    assert inspect("--method", "resources/list")["resources"]


def test_the_bundle_is_one_that_hosts_take(
    run_node: Callable[..., Any], demo_pack: Path, tmp_path: Path
) -> None:
    publish_pack(demo_pack, tmp_path / "dist")
    bundle = zipfile.ZipFile(tmp_path / "dist" / f"{demo_pack.stem}.mcpb")
    bundle.extract("manifest.json", tmp_path)
    checked = 'mcpb validate "$0" >&2 && echo true'
    assert run_node("bash", "-c", checked, str(tmp_path / "manifest.json")) is True
