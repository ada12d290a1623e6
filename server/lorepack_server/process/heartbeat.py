"""What a server says of itself: once at its start, and again and again."""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import anyio
import anyio.to_thread

from lorepack_server.calls import Calls
from lorepack_server.metrics import resident_bytes
from lorepack_server.packs.mount import Mount

_log = logging.getLogger("lorepack.server.process")


def log_capabilities(mounts: Sequence[Mount], **settings: Any) -> None:
    """Log one line: what is served, how, and by what."""
    packs = {
        f"{mount.name}@{mount.version}": {
            "chunks": mount.counts.get("chunks", 0),
            "model": mount.embedder["id"] if mount.embedder else None,
            "carriesModel": mount.carries_encoder,
        }
        for mount in mounts
    }
    _log.info(
        "capabilities",
        extra={"version": version("lorepack"), "python": sys.version.split()[0],
               "pid": os.getpid(), "packs": packs, **settings},
    )  # fmt: skip


async def beat(calls: Calls, seconds: float) -> None:
    """Log memory and calls in flight every so many seconds; never, for 0."""
    while seconds > 0:
        await anyio.sleep(seconds)
        await anyio.to_thread.run_sync(_give_back)
        _log.info(
            "heartbeat",
            extra={"rssBytes": int(resident_bytes()), "inFlight": calls.in_flight},
        )


def _give_back() -> None:
    """Return freed memory to the system, which glibc keeps after a rush until it is told."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
