"""Name whatever writes to stdout where only JSON-RPC may go."""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_log = logging.getLogger("lorepack.server.tripwire")


class _Trap(io.TextIOBase):
    """Takes the place of ``sys.stdout``; logs who wrote."""

    def write(self, text: str) -> int:
        if text.strip():
            _log.error("stray output", extra={"text": text[:500]}, stack_info=True)
        return len(text)


@contextmanager
def tripwire() -> Iterator[None]:
    """Log, as errors, what Python and native code write to stdout while the block lasts.

    Descriptor 1 must be turned away from the client already, as `mcp.server.stdio` does.
    """
    reading, writing = os.pipe()
    saved, stdout = os.dup(1), sys.stdout
    os.dup2(writing, 1)
    os.close(writing)
    reader = threading.Thread(target=_report, args=(reading,), daemon=True)
    reader.start()
    sys.stdout = _Trap()
    try:
        yield
    finally:
        sys.stdout = stdout
        os.dup2(saved, 1)
        os.close(saved)
        reader.join(1)


def _report(descriptor: int) -> None:
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            _log.error("stray output", extra={"text": line.strip()[:500]})
