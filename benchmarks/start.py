"""How soon a stdio server offers its tools: processor and wall time until they are listed.

``python benchmarks/start.py PACK [--lorepack COMMAND] [--times N]``. With ``--lorepack`` another
version is measured, to compare the two.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from pathlib import Path
from statistics import median
from time import perf_counter

_ASKED = (
    {"id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"}}},
    {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/list"},
)  # fmt: skip


def start(command: str, pack: Path) -> tuple[float, float]:
    """Return processor and wall time, in seconds, from the start to the list of tools."""
    begin = perf_counter()
    process = subprocess.Popen([command, "mcp", str(pack)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
    assert process.stdin and process.stdout
    for message in _ASKED:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()
    while json.loads(process.stdout.readline()).get("id") != 1:
        pass
    wall = perf_counter() - begin
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    process.kill()
    process.communicate()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), wall


def main() -> None:
    """Print the median of some starts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--lorepack", default=shutil.which("lorepack") or "lorepack")
    parser.add_argument("--times", type=int, default=9)
    given = parser.parse_args()
    processor, wall = zip(
        *(start(given.lorepack, given.pack) for _ in range(given.times)), strict=True
    )
    print(f"processor {median(processor):.2f} s   wall {median(wall):.2f} s")


if __name__ == "__main__":
    main()
