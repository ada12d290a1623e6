"""What a server's process has, before and after a rush of bad clients."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

MAX_SECONDS = 0.1
"""How long the next good client may wait."""
MAX_GROWTH = 1.05
"""Memory after a kind of bad clients, as a share of what it was before."""
SPARE = 2
"""Descriptors of worker threads, which come and go."""


def memory(pid: int) -> int:
    """Bytes that are resident."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_memory() -> int:
    """Bytes that this process ever had resident; `getrusage` counts what its parent had, too."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def compared(
    name: str, count: int, pid: int, rush: Callable[[], None], good: Callable[[], float]
) -> str:
    """Compare a process after a second rush with itself after a first, which filled its pools.

    Raises:
        AssertionError: memory or descriptors stayed, or the first rush took a fifth of the memory.
    """
    fresh, files = memory(pid), descriptors(pid)
    rush()
    _settled(lambda: descriptors(pid) <= files + SPARE)
    good()
    _settled(lambda: memory(pid) <= fresh * MAX_GROWTH and descriptors(pid) <= files + SPARE)
    before = memory(pid)
    begin = time.perf_counter()
    rush()
    took = time.perf_counter() - begin
    _settled(lambda: descriptors(pid) <= files + SPARE)
    waited = good()
    _settled(lambda: memory(pid) <= before * MAX_GROWTH and descriptors(pid) <= files + SPARE)
    after, left = memory(pid), descriptors(pid)
    shown = " → ".join(f"{bytes_ / 1e6:.0f}" for bytes_ in (fresh, before, after))
    row = (f"| {name.replace('_', ' ')} | 2 × {count:,} | {took:.0f} s | {waited * 1000:.0f} ms | "
           f"{shown} MB | {files} → {left} |")  # fmt: skip
    assert before <= fresh * 1.2 and after <= before * MAX_GROWTH and left <= files + SPARE, row
    return row


def _settled(done: Callable[[], bool], seconds: float = 15) -> None:
    """Wait until the server has seen that its clients left."""
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(0.1)
