"""Build and query at 1,000, 10,000 and 100,000 pages: time, memory, bytes, and the slope of each.

``python benchmarks/scale.py [PAGES …]``, without the site and without a model, each build and each
server as a process of its own. A slope of 1 is linear: ten times the pages, ten times the cost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from math import log
from pathlib import Path
from time import perf_counter

from parse import synthetic

LOREPACK = Path(sys.executable).with_name("lorepack")
QUESTIONS = 300
_ASK = """
import json, random, sys, time
from pathlib import Path
from lorepack_server.packs.mount import mount_pack
from lorepack_server.retrieve.search import find_chunks
begin = time.perf_counter()
mount = mount_pack(Path(sys.argv[1]))
opened = time.perf_counter() - begin
lot = random.Random(1)
words = [row[0] for row in mount.connection().execute(
    "SELECT term FROM terms WHERE chunks > 1 ORDER BY term LIMIT 5000")]
took = []
for _ in range(int(sys.argv[2])):
    question = " ".join(lot.choices(words, k=4))
    begin = time.perf_counter()
    find_chunks(mount, question)
    took.append(time.perf_counter() - begin)
took.sort()
rss = int(open("/proc/self/statm").read().split()[1]) * 4096
print(json.dumps({"mount": opened, "p50": took[len(took) // 2], "p99": took[int(len(took) * .99)],
                  "server MB": rss / 1e6}))
"""


def measure(pages: int) -> dict[str, float]:
    """Return all figures of one size."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        vault = synthetic(folder / "vault", pages)
        recipe = folder / "r.toml"
        recipe.write_text(
            f'[pack]\nname="r"\nversion="1"\n[[source]]\nname="v"\nkind="vault"\npath="{vault}"\n'
            '[embed]\nmodel="none"\n'
        )
        os.environ["LOREPACK_CACHE"] = str(folder / "cache")
        begin = perf_counter()
        command = [str(LOREPACK), "build", str(recipe), "--out", str(folder), "--no-site", "--json"]
        built = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert built.stdout
        summary = json.loads(built.stdout.read())
        _, _, usage = os.wait4(built.pid, 0)
        seconds = perf_counter() - begin
        asked = subprocess.run(
            [sys.executable, "-c", _ASK, summary["pack"], str(QUESTIONS)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        stages = {f"{name} s": value for name, value in summary["seconds"].items()}
        return {
            "build s": seconds, **stages, "build MB": usage.ru_maxrss * 1024 / 1e6,
            "pack MB": summary["bytes"] / 1e6, **_in_milliseconds(json.loads(asked.stdout)),
        }  # fmt: skip


def _in_milliseconds(asked: Mapping[str, float]) -> dict[str, float]:
    return {
        "mount ms": asked["mount"] * 1000, "question p50 ms": asked["p50"] * 1000,
        "question p99 ms": asked["p99"] * 1000, "server MB": asked["server MB"],
    }  # fmt: skip


def main() -> None:
    """Print a table: a row a figure, a column a size, and the slope between the last two."""
    sizes = [int(size) for size in sys.argv[1:]] or [1_000, 10_000, 100_000]
    found = [measure(size) for size in sizes]
    print("| figure | " + " | ".join(f"{size:,}" for size in sizes) + " | slope |")
    print("|---" * (len(sizes) + 2) + "|")
    for name in found[0]:
        values = [one[name] for one in found]
        slope = ""
        if len(values) > 1 and values[-2] > 0 and values[-1] > 0:
            slope = f"{log(values[-1] / values[-2]) / log(sizes[-1] / sizes[-2]):.2f}"
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in values) + f" | {slope} |")


if __name__ == "__main__":
    main()
