"""What ``lorepack install`` writes is read by the clients that it is written for."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.agents import clients
from tests.conftest import LOREPACK
from tests.test_agent_clients import installed, run_client, stand_in

__all__ = ["installed"]
pytestmark = pytest.mark.slow

LISTED = {
    "claude-code": ("@anthropic-ai/claude-code", ["claude", "mcp", "list"]),
    "codex": ("@openai/codex", ["codex", "mcp", "list"]),
    "gemini": ("@google/gemini-cli", ["gemini", "mcp", "list"]),
    "qwen": ("@qwen-code/qwen-code", ["qwen", "mcp", "list"]),
    "opencode": ("opencode-ai", ["opencode", "mcp", "list"]),
    "copilot-cli": ("@github/copilot", ["copilot", "mcp", "list"]),
    "cline": ("cline", ["cline", "config", "mcp"]),
    "amp": ("@sourcegraph/amp", ["amp", "mcp", "list"]),
}
"""The clients that list their servers by a command."""


def install(home: Path, target: str, server: str) -> None:
    environment = {**os.environ, "HOME": str(home)}
    command = [str(LOREPACK), "install", server, "--target", target, "--scope", "user"]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)


@pytest.mark.parametrize("server", ["pack", "http://127.0.0.1:1/mcp/demo"])
@pytest.mark.parametrize("target", LISTED)
def test_a_client_lists_the_installed_server(
    target: str, server: str, demo_pack: Path, installed: Callable[[str], Path], tmp_path: Path
) -> None:
    package, command = LISTED[target]
    programs = installed(package)
    install(tmp_path, target, str(demo_pack) if server == "pack" else server)
    printed = run_client(clients.Run(command, {}), tmp_path, programs)
    assert "lorepack-demo" in printed, printed


def test_continue_offers_the_installed_servers_tools(
    demo_pack: Path, installed: Callable[[str], Path], tmp_path: Path
) -> None:
    """It has no command that lists servers; its model sees their tools."""
    package, setup = clients.PACKAGES["cn"]
    programs = installed(package)
    with stand_in(tmp_path / "got.json", "find_chunks") as model:
        run = setup(tmp_path, model, "http://127.0.0.1:1")
        config = json.loads((tmp_path / "config.yaml").read_text())
        own = tmp_path / ".continue" / "config.yaml"
        own.parent.mkdir()
        own.write_text(yaml.safe_dump({**config, "mcpServers": []}))
        install(tmp_path, "continue", str(demo_pack))
        place = run.command.index("--config")
        command = [*run.command[:place], *run.command[place + 2 :]]
        printed = run_client(clients.Run(command, run.variables), tmp_path, programs)
    tools = json.loads((tmp_path / "got.json").read_text())["tools"]
    assert "find_chunks" in " ".join(tools), printed
