"""The folders that a client works in, where it says so and they are on this machine."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

_log = logging.getLogger("lorepack.server.roots")
_SECONDS = 2.0
_MOST = 8
_KEY = "roots"


async def client_roots(
    session: Any, params: types.CallToolRequestParams
) -> tuple[Path, ...] | types.InputRequiredResult:
    """Ask the client for its roots; () if it has none, or does not answer soon.

    Returns:
        The folders; or, where the protocol lets no server ask by itself (from 2026-07-28 on), what
        to answer: the client sends the call again with its roots.
    """
    told = (params.input_responses or {}).get(_KEY)
    if isinstance(told, types.ListRootsResult):
        return _folders(told)
    wanted = types.ClientCapabilities(roots=types.RootsCapability())
    if not session.check_client_capability(wanted):
        return ()
    if not session.can_send_request:
        return types.InputRequiredResult(input_requests={_KEY: types.ListRootsRequest()})
    try:
        with anyio.fail_after(_SECONDS):
            return _folders(await session.list_roots())
    except (TimeoutError, MCPError) as error:
        _log.info("no roots", extra={"reason": str(error)})
        return ()


def _folders(listed: types.ListRootsResult) -> tuple[Path, ...]:
    paths = (_local_folder(str(root.uri)) for root in listed.roots[:_MOST])
    return tuple(path for path in paths if path is not None)


def _local_folder(uri: str) -> Path | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    folder = Path(unquote(parts.path))
    return folder if folder.is_dir() else None
