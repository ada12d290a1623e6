"""How each agent client is started: in an empty home, with a stand-in for its model's API.

``SETUPS`` maps a client to the function that writes its configuration below a home folder and
returns the command and the variables it is run with. A server is an address, or a command that
speaks over stdio.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "lorepack"
QUESTION = "Why is a pack one file?"
_MODEL = "stand-in"


@dataclass(frozen=True)
class Run:
    """A command and the variables that it is run with, beside HOME and PATH."""

    command: Sequence[str]
    variables: Mapping[str, str]


Server = str | Sequence[str]
Setup = Callable[[Path, str, Server], Run]


def _write(path: Path, content: str | Mapping[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    return path


def _plain(server: Server, address: str = "url") -> dict[str, Any]:
    """A server as most clients have it: an address, or a command and its arguments."""
    if isinstance(server, str):
        return {address: server}
    return {"command": server[0], "args": list(server[1:])}


def claude_code(home: Path, model: str, server: Server) -> Run:
    kind = {"type": "http"} if isinstance(server, str) else {"type": "stdio"}
    config = _write(home / "mcp.json", {"mcpServers": {NAME: {**kind, **_plain(server)}}})
    return Run(
        ["claude", "-p", QUESTION, "--strict-mcp-config", "--mcp-config", str(config),
         "--allowedTools", f"mcp__{NAME}"],
        {"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "dummy", "DISABLE_AUTOUPDATER": "1",
         "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "false"},
    )  # fmt: skip


def codex(home: Path, model: str, server: Server) -> Run:
    lines = [f"{key} = {json.dumps(value)}" for key, value in _plain(server).items()]
    _write(
        home / ".codex" / "config.toml",
        f'model = "{_MODEL}"\nmodel_provider = "stub"\n'
        f'[model_providers.stub]\nname = "stub"\nbase_url = "{model}/v1"\n'
        'wire_api = "responses"\nenv_key = "STUB_KEY"\n'
        f"[mcp_servers.{NAME}]\n" + "\n".join(lines) + "\n",
    )
    return Run(
        ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
         QUESTION],
        {"STUB_KEY": "dummy"},
    )  # fmt: skip


def opencode(home: Path, model: str, server: Server) -> Run:
    remote = isinstance(server, str)
    entry = {"type": "remote", "url": server} if remote else {
        "type": "local", "command": list(server)
    }  # fmt: skip
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "stub",
        "options": {"baseURL": f"{model}/v1", "apiKey": "dummy"}, "models": {_MODEL: {}},
    }  # fmt: skip
    _write(home / "opencode.json", {
        "model": f"stub/{_MODEL}", "small_model": f"stub/{_MODEL}", "autoupdate": False,
        "share": "disabled", "provider": {"stub": provider},
        "mcp": {NAME: {**entry, "enabled": True}},
    })  # fmt: skip
    return Run(["opencode", "run", QUESTION], {})


def gemini(home: Path, model: str, server: Server) -> Run:
    _write(home / ".gemini" / "settings.json", {
        "mcpServers": {NAME: {**_plain(server, "httpUrl"), "trust": True}},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
    })  # fmt: skip
    return Run(
        ["gemini", "-p", QUESTION, "--yolo", "--skip-trust"],
        {"GOOGLE_GEMINI_BASE_URL": model, "GEMINI_API_KEY": "dummy",
         "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    )  # fmt: skip


def qwen_code(home: Path, model: str, server: Server) -> Run:
    _write(home / ".qwen" / "settings.json", {
        "mcpServers": {NAME: {**_plain(server, "httpUrl"), "trust": True}},
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
    })  # fmt: skip
    return Run(
        ["qwen", "-p", QUESTION, "--yolo"],
        {"OPENAI_BASE_URL": f"{model}/v1", "OPENAI_API_KEY": "dummy", "OPENAI_MODEL": _MODEL},
    )


def continue_cli(home: Path, model: str, server: Server) -> Run:
    kind = {"type": "streamable-http"} if isinstance(server, str) else {"type": "stdio"}
    config = _write(home / "config.yaml", {
        "name": "test", "version": "1.0.0", "schema": "v1",
        "models": [{"name": "stub", "provider": "openai", "model": _MODEL, "apiKey": "dummy",
                    "apiBase": f"{model}/v1", "roles": ["chat"], "capabilities": ["tool_use"]}],
        "mcpServers": [{"name": NAME, **kind, **_plain(server)}],
    })  # fmt: skip
    return Run(
        ["cn", "-p", QUESTION, "--config", str(config), "--auto"],
        {"CONTINUE_TELEMETRY_ENABLED": "0"},
    )


def copilot(home: Path, model: str, server: Server) -> Run:
    kind = {"type": "http"} if isinstance(server, str) else {"type": "local"}
    entry = {**kind, **_plain(server), "tools": ["*"]}
    _write(home / ".copilot" / "mcp-config.json", {"mcpServers": {NAME: entry}})
    return Run(
        ["copilot", "-p", QUESTION, "--allow-all-tools", "--model", _MODEL],
        {"COPILOT_PROVIDER_BASE_URL": f"{model}/v1", "COPILOT_PROVIDER_API_KEY": "dummy",
         "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_MODEL": _MODEL, "COPILOT_OFFLINE": "true",
         "COPILOT_AUTO_UPDATE": "false"},
    )  # fmt: skip


def cline(home: Path, model: str, server: Server) -> Run:
    kind = {"type": "streamableHttp"} if isinstance(server, str) else {"type": "stdio"}
    entry = {**kind, **_plain(server), "disabled": False}
    _write(home / ".cline" / "data" / "settings" / "cline_mcp_settings.json",
           {"mcpServers": {NAME: entry}})  # fmt: skip
    first = f"cline auth -p openai-compatible -k dummy -m {_MODEL} -b {model}/v1 >/dev/null 2>&1"
    then = f'cline --auto-approve true "{QUESTION}"'
    return Run(["bash", "-c", f"{first}; {then}"], {"CLINE_TELEMETRY_DISABLED": "1"})


PACKAGES: Mapping[str, tuple[str, Setup]] = {
    "claude": ("@anthropic-ai/claude-code", claude_code),
    "codex": ("@openai/codex", codex),
    "opencode": ("opencode-ai", opencode),
    "gemini": ("@google/gemini-cli", gemini),
    "qwen": ("@qwen-code/qwen-code", qwen_code),
    "cn": ("@continuedev/cli", continue_cli),
    "copilot": ("@github/copilot", copilot),
    "cline": ("cline", cline),
}
"""The clients of npm by their command: package, and how they are set up."""
