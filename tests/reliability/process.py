"""What a server's process has, before and after a rush of bad clients."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

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


def tell(what: str, plays: Mapping[str, Callable[[], str]]) -> int:
    """Play all, and print a table of their rows, with ``what`` comes; return the faults' number."""
    faults = 0
    print(f"| kind | {what} | time | next good answer | memory | descriptors |\n"
          "|---|---|---|---|---|---|")  # fmt: skip
    for name, play in plays.items():
        try:
            print(play(), flush=True)
        except (AssertionError, OSError) as error:
            faults += 1
            print(f"{name}: FAULT {type(error).__name__}: {error}", flush=True)
    return faults


def tell_tracebacks(log: Path) -> int:
    """Print the first traceback in the log of a server that has ended; return 1 if there is one."""
    text = log.read_text()
    if "traceback" not in text:
        return 0
    print("FAULT: the log has tracebacks:", text[text.index('"traceback"') :][:2000])
    return 1


def tool_call(name: str, arguments: Mapping[str, Any], id: object = 1) -> dict[str, Any]:
    """Return the message by which a tool is called."""
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}}  # fmt: skip
