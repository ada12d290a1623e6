"""Where each coding agent keeps its MCP servers, and in what form."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lorepack.packfile.errors import LorepackError

SCOPES = ("user", "project")


@dataclass(frozen=True)
class Target:
    """An agent: its files by scope, where in them servers stand, and what one looks like.

    ``user`` is below the home folder, ``project`` below the project's; '' where there is none.
    ``shape`` is the form of a server: ``command`` and ``args``, with a ``type`` in some, or one
    list in opencode.
    """

    name: str
    user: str
    project: str
    form: Literal["JSON", "TOML"] = "JSON"
    path: Sequence[str] = ("mcpServers",)
    shape: Literal["plain", "typed", "opencode"] = "plain"

    def file(self, scope: str, project: Path, home: Path) -> Path:
        """Return the file of a scope. Raises `LorepackError` where the agent has none."""
        inside = self.user if scope == "user" else self.project
        if not inside:
            other = "project" if scope == "user" else "user"
            raise LorepackError(f"{self.name} has no {scope} configuration", f"use --scope {other}")
        return (home if scope == "user" else project) / inside

    def entry(self, command: Sequence[str]) -> dict[str, Any]:
        """Return a server that is started by ``command`` and spoken to over stdio."""
        if self.shape == "opencode":
            return {"type": "local", "command": list(command), "enabled": True}
        plain = {"command": command[0], "args": list(command[1:])}
        return {"type": "stdio", **plain} if self.shape == "typed" else plain


def _vscode() -> str:
    """Return the folder of VS Code's own settings below the home folder."""
    if sys.platform == "darwin":
        return "Library/Application Support/Code/User"
    if sys.platform == "win32":
        return "AppData/Roaming/Code/User"
    return ".config/Code/User"


_TARGETS = (
    Target("claude-code", ".claude.json", ".mcp.json", shape="typed"),
    Target("cursor", ".cursor/mcp.json", ".cursor/mcp.json"),
    Target("vscode", f"{_vscode()}/mcp.json", ".vscode/mcp.json", path=("servers",), shape="typed"),
    Target("codex", ".codex/config.toml", ".codex/config.toml", "TOML", ("mcp_servers",)),
    Target("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    Target("qwen", ".qwen/settings.json", ".qwen/settings.json"),
    Target("opencode", ".config/opencode/opencode.json", "opencode.json", path=("mcp",),
           shape="opencode"),
    Target("windsurf", ".codeium/windsurf/mcp_config.json", ""),
    Target("antigravity", ".gemini/antigravity/mcp_config.json", ""),
)  # fmt: skip
TARGETS: Mapping[str, Target] = {target.name: target for target in _TARGETS}


def home_folder() -> Path:
    """Return the user's home folder. Raises `LorepackError` without one."""
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE") or ""
    if not home or not Path(home).is_dir():
        raise LorepackError("there is no home folder", "use --scope project")
    return Path(home)
