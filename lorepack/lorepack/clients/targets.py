"""Where each coding agent keeps its MCP servers, and in what form."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lorepack.errors import LorepackError

SCOPES = ("user", "project")
Form = Literal["JSON", "TOML", "YAML", "YAML list", "own YAML"]


@dataclass(frozen=True)
class Target:
    """An agent: its files by scope, where in them servers are, and what one looks like.

    ``user`` is below the home folder, ``project`` below the project's; '' where there is none.
    A file in ``own YAML`` holds one server alone, whose name goes in the place of ``{name}``; in a
    ``YAML list`` each server has its name in it. Where the forms differ, ``project_form`` is that
    of the project's.

    Args:
        stdio_type: the ``type`` of a server that is started by a command; '' for none.
        http_type: that of a server at an address.
        url: the key of an address.
        extra: what every server has besides.
        start: what a new file begins with.
        shape: ``plain`` has ``command`` and ``args``, ``list`` one list (opencode), ``goose`` keys
            of its own.
    """

    name: str
    user: str
    project: str
    form: Form = "JSON"
    path: Sequence[str] = ("mcpServers",)
    stdio_type: str = ""
    http_type: str = ""
    url: str = "url"
    extra: Mapping[str, Any] = field(default_factory=dict)
    shape: Literal["plain", "list", "goose"] = "plain"
    project_form: Form | None = None
    start: str = ""

    def form_of(self, scope: str) -> Form:
        """Return the form of a scope's file."""
        return self.project_form if scope == "project" and self.project_form else self.form

    def file(self, scope: str, project: Path, home: Path, name: str = "") -> Path:
        """Return the file of a scope. Raises `LorepackError` where the agent has none."""
        inside = self.user if scope == "user" else self.project
        if not inside:
            other = "project" if scope == "user" else "user"
            raise LorepackError(f"{self.name} has no {scope} configuration", f"use --scope {other}")
        return (home if scope == "user" else project) / inside.format(name=name)

    def entry(self, server: str | Sequence[str], name: str = "") -> dict[str, Any]:
        """Return a server as the agent wants it: at an address, or started by a command."""
        kind = self.http_type if isinstance(server, str) else self.stdio_type
        typed = {"type": kind} if kind else {}
        if self.shape == "goose":
            where = {"uri": server} if isinstance(server, str) else {
                "cmd": server[0], "args": list(server[1:]), "envs": {},
            }  # fmt: skip
            return {"enabled": True, **typed, "name": name, **where, "timeout": 300}
        if isinstance(server, str):
            return {**typed, self.url: server, **self.extra}
        if self.shape == "list":
            return {**typed, "command": list(server), **self.extra}
        return {**typed, "command": server[0], "args": list(server[1:]), **self.extra}


def _vscode() -> str:
    """Return the folder of VS Code's own settings below the home folder."""
    if sys.platform == "darwin":
        return "Library/Application Support/Code/User"
    if sys.platform == "win32":
        return "AppData/Roaming/Code/User"
    return ".config/Code/User"


_ENABLED = {"enabled": True}
_TARGETS = (
    Target("claude-code", ".claude.json", ".mcp.json", stdio_type="stdio", http_type="http"),
    Target("cursor", ".cursor/mcp.json", ".cursor/mcp.json"),
    Target("vscode", f"{_vscode()}/mcp.json", ".vscode/mcp.json", path=("servers",),
           stdio_type="stdio", http_type="http"),
    Target("codex", ".codex/config.toml", ".codex/config.toml", "TOML", ("mcp_servers",)),
    Target("gemini", ".gemini/settings.json", ".gemini/settings.json", url="httpUrl"),
    Target("qwen", ".qwen/settings.json", ".qwen/settings.json", url="httpUrl"),
    Target("opencode", ".config/opencode/opencode.json", "opencode.json", path=("mcp",),
           stdio_type="local", http_type="remote", extra=_ENABLED, shape="list"),
    Target("windsurf", ".codeium/windsurf/mcp_config.json", "", url="serverUrl"),
    Target("antigravity", ".gemini/antigravity/mcp_config.json", "", url="serverUrl"),
    Target("copilot-cli", ".copilot/mcp-config.json", "", stdio_type="local", http_type="http",
           extra={"tools": ["*"]}),
    Target("cline", ".cline/data/settings/cline_mcp_settings.json", "", stdio_type="stdio",
           http_type="streamableHttp", extra={"disabled": False}),
    Target("continue", ".continue/config.yaml", ".continue/mcpServers/{name}.yaml", "YAML list",
           stdio_type="stdio", http_type="streamable-http", project_form="own YAML",
           start="name: Local Assistant\nversion: 1.0.0\nschema: v1\n"),
    Target("zed", ".config/zed/settings.json", ".zed/settings.json", path=("context_servers",)),
    Target("goose", ".config/goose/config.yaml", "", "YAML", ("extensions",), stdio_type="stdio",
           http_type="streamable_http", shape="goose"),
    Target("crush", ".config/crush/crush.json", "crush.json", path=("mcp",), stdio_type="stdio",
           http_type="http"),
    Target("amp", ".config/amp/settings.json", ".amp/settings.json", path=("amp.mcpServers",)),
    Target("jetbrains", ".junie/mcp/mcp.json", ".junie/mcp/mcp.json"),
)  # fmt: skip
TARGETS: Mapping[str, Target] = {target.name: target for target in _TARGETS}


def home_folder() -> Path:
    """Return the user's home folder. Raises `LorepackError` without one."""
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE") or ""
    if not home or not Path(home).is_dir():
        raise LorepackError("there is no home folder", "use --scope project")
    return Path(home)
