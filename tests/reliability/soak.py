"""A long time of mixed questions while packs are swapped: nothing fails, nothing grows.

``python -m tests.reliability.soak [--minutes 60] [--swap 60]`` serves the demo pack in four
versions, one after another in the same place, to agents, browsers and scripts at once.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import httpx

from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe, with_version
from tests.conftest import ROOT, serve
from tests.reliability.process import descriptors, memory, tool_call

VERSIONS = ("1.0.0", "1.1.0", "1.2.0", "1.3.0")
CLIENTS = 12
PAUSE_SECONDS = 0.05
SAMPLE_SECONDS = 2.0
_ASKED_BY_ONE = 40
"""Questions after which a client goes, and another one comes."""
MAX_GROWTH = 1.05
"""The median of memory in the last third of the time, as a share of that in the second."""
_HEADERS = {"accept": "application/json, text/event-stream"}
_QUESTIONS = ("what is a pack", "how do I install it", "Paket nasıl kurulur", "如何安装",
              '"one file"', "findings severity", "`lorepack verify`", "zzz no such word")  # fmt: skip
_PAGE = "guide/Start here.md"
_TOOLS: Sequence[tuple[str, dict[str, Any]]] = (
    ("find_chunks", {"includeText": True}), ("get_page", {"page": _PAGE}),
    ("find_neighbors", {"source": _PAGE, "depth": 2}), ("wiki_query", {}), ("wiki_status", {}),
    ("wiki_lint", {}), ("tag_taxonomy", {}), ("cross_linker", {"path": _PAGE}), ("resolve_repo", {"name": "x"}),
)  # fmt: skip
_GETS = ("/", "/site/demo/", "/site/demo/guide/start-here/", "/site/demo/pagefind/pagefind.js",
         "/site/demo/llms.txt", "/site/demo/atom.xml", "/readyz", "/metrics", "/api/openapi.json",
         f"/api/demo/page?page={_PAGE}", f"/api/demo/neighbors?source={_PAGE}")  # fmt: skip


@dataclass
class Told:
    """What came of it: answers by version and status, failures, samples (bytes, descriptors)."""

    answers: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    samples: list[tuple[int, int]] = field(default_factory=list)
    swaps: int = 0

    def thirds(self, what: int) -> tuple[float, float]:
        """Return the median of the second third, and that of the last."""
        values = [sample[what] for sample in self.samples]
        third = len(values) // 3
        return statistics.median(values[third : 2 * third]), statistics.median(values[2 * third :])

    def faults(self) -> list[str]:
        found = self.failures[:20]
        (memory_then, memory_now), (files_then, files_now) = self.thirds(0), self.thirds(1)
        if memory_now > memory_then * MAX_GROWTH:
            found.append(f"memory grew from {memory_then / 1e6:.0f} to {memory_now / 1e6:.0f} MB")
        if files_now > files_then * MAX_GROWTH + 2:
            found.append(f"descriptors grew from {files_then:.0f} to {files_now:.0f}")
        return found


def build_versions(folder: Path) -> list[Path]:
    """Build the demo pack once, and again under each later version."""
    recipe = read_recipe(ROOT / "packs" / "demo.toml")
    return [
        Path(build_pack(with_version(recipe, version), folder / version)[0].pack)
        for version in VERSIONS
    ]


async def _client(address: str, number: int, end: float, told: Told) -> None:
    """Ask in turn over MCP, the API and as a browser; every answer must be a good one."""
    lot = random.Random(number)
    while time.monotonic() < end:
        async with httpx.AsyncClient(base_url=address, timeout=30, follow_redirects=True) as client:
            for _ in range(_ASKED_BY_ONE):
                try:
                    told.answers[await _ask(client, lot)] += 1
                except Exception as error:
                    told.failures.append(f"{type(error).__name__}: {str(error)[:300]}")
                await asyncio.sleep(PAUSE_SECONDS)


async def _ask(client: httpx.AsyncClient, lot: random.Random) -> str:
    if lot.random() < 0.4:
        url = lot.choice(_GETS)
        answer = await client.get(url)
        assert answer.status_code == 200, (url, answer.status_code, answer.text[:200])
        return "get"
    question = lot.choice(_QUESTIONS)
    if lot.random() < 0.3:
        answer = await client.get("/api/demo/search", params={"query": question})
        assert answer.status_code == 200, (question, answer.text[:200])
        return str(answer.json()["version"])
    name, arguments = lot.choice(_TOOLS)
    given = {"query": question, **arguments} if name in ("find_chunks", "wiki_query") else arguments
    answer = await client.post("/mcp/demo", json=tool_call(name, given), headers=_HEADERS)
    assert answer.status_code == 200, (name, answer.status_code, answer.text[:200])
    result = answer.json()["result"]
    assert not result.get("isError"), (name, result)
    return str(result["_meta"]["lorepack"]["version"])


async def _swap(packs: Sequence[Path], place: Path, seconds: float, told: Told) -> None:
    for pack in itertools.cycle([*packs[1:], packs[0]]):
        await asyncio.sleep(seconds)
        shutil.copyfile(pack, place.with_name("next"))
        place.with_name("next").replace(place)
        told.swaps += 1


async def _sample(pid: int, told: Told) -> None:
    while True:
        await asyncio.sleep(SAMPLE_SECONDS)
        told.samples.append((memory(pid), descriptors(pid)))


async def soak(packs: Sequence[Path], place: Path, minutes: float, swap: float) -> Told:
    """Ask for so many minutes, with a swap every ``swap`` seconds."""
    shutil.copyfile(packs[0], place)
    told, running = Told(), serve(place.parent, options=["--tools", "all"])
    with running as address:
        end = time.monotonic() + minutes * 60
        beside = [
            asyncio.create_task(_swap(packs, place, swap, told)),
            asyncio.create_task(_sample(running.process.pid, told)),
        ]
        await asyncio.gather(*(_client(address, n, end, told) for n in range(CLIENTS)))
        for task in beside:
            task.cancel()
    return told


@click.command()
@click.option("--minutes", default=60.0)
@click.option("--swap", default=60.0, help="Seconds between two swaps.")
def main(minutes: float, swap: float) -> None:
    """Soak a server, and print what came of it."""
    with tempfile.TemporaryDirectory() as scratch:
        packs = build_versions(Path(scratch) / "built")
        place = Path(scratch) / "served" / "demo.lorepack"
        place.parent.mkdir()
        told = asyncio.run(soak(packs, place, minutes, swap))
    (memory_then, memory_now), (files_then, files_now) = told.thirds(0), told.thirds(1)
    faults = told.faults()
    print(json.dumps({
        "answers": told.answers.total(), "by": dict(told.answers), "swaps": told.swaps,
        "failures": len(told.failures),
        "memoryMB": [round(memory_then / 1e6), round(memory_now / 1e6)],
        "peakMB": round(max(m for m, _ in told.samples) / 1e6),
        "descriptors": [files_then, files_now], "faults": faults,
    }, indent=1))  # fmt: skip
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
