"""An entry for the registry of MCP servers. https://github.com/modelcontextprotocol/registry"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lorepack.errors import LorepackError
from lorepack.pack.inspect import Inspection
from lorepack.pack.site import NOWHERE
from lorepack.util.hashing import file_sha256

_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_NAME = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
_MOST = 100
"""Letters that a description may have."""


def server_entry(facts: Inspection, bundle: Path, url: str, name: str) -> dict[str, Any]:
    """Return ``server.json``: how a client gets and starts the server of a pack.

    Args:
        url: where the bundle will lie, ``https://host/path/``; without one a placeholder stands.
        name: the server's name; '' makes it of ``url`` and the pack's name.

    Raises:
        LorepackError: ``name`` is none that the registry takes.
    """
    meta = facts.meta
    base = f"{(url or NOWHERE).rstrip('/')}/"
    entry = name or f"{_namespace(base)}/{meta['name']}"
    if not _NAME.fullmatch(entry):
        raise LorepackError(f"{entry!r} is no name of an MCP server", "write io.github.owner/name")
    text = f"{meta['title']}: {meta['counts']['pages']} pages to ask, cited"
    return {
        "$schema": _SCHEMA,
        "name": entry,
        "title": meta["title"][:_MOST],
        "description": text if len(text) <= _MOST else f"{text[: _MOST - 1]}…",
        "version": meta["version"],
        "packages": [
            {
                "registryType": "mcpb",
                "identifier": f"{base}{bundle.name}",
                "fileSha256": file_sha256(bundle),
                "transport": {"type": "stdio"},
            }
        ],
    }


def _namespace(url: str) -> str:
    """Return the part of a name that says whose it is: the host, its parts turned round."""
    parts = urlsplit(url)
    owner = parts.path.strip("/").split("/")[0]
    if parts.hostname == "github.com" and owner:
        return f"io.github.{owner}"
    return ".".join(reversed((parts.hostname or "").split(".")))
