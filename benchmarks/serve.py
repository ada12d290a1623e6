"""A real server under 1, 8 and 64 MCP clients over streamable HTTP, for a bounded number of calls.

python benchmarks/serve.py [CHUNKS] [CALLS]

Default: the synthetic pack of 100,000 chunks, 3,000 calls a number of clients, of which no answer
is remembered. While clients ask, one more asks for /healthz every 20 ms. Prints throughput,
percentiles, errors, and the server's memory after warm-up and at the end.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from time import perf_counter

import httpx
import numpy as np
from query import questions
from synthetic import write_pack

CLIENTS = (1, 8, 64)
_HEADERS = {"accept": "application/json, text/event-stream"}
_fresh = count()


@contextmanager
def server(pack: Path) -> Iterator[str]:
    """Run ``lorepack serve`` on a free port; give its address."""
    command = [str(Path(sys.executable).with_name("lorepack")), "serve", str(pack), "--port", "0",
               "--log-level", "warning"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    yield process.stdout.readline().split()[-1]
    process.terminate()
    process.wait(10)


def asked(texts: list[str]) -> dict[str, object]:
    """Return the next call: a question with a budget of its own, so that no answer is known."""
    number = next(_fresh)
    arguments = {"query": texts[number % len(texts)], "maxTokens": 3000 + number % 90_000}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": "find_chunks", "arguments": arguments}}  # fmt: skip


async def client(http: httpx.AsyncClient, texts: list[str], calls: Iterator[int]) -> list[float]:
    """Ask until there are no calls left; return milliseconds, NaN for an error."""
    times = []
    for _ in calls:
        begin = perf_counter()
        answer = await http.post("/mcp/synthetic", json=asked(texts), headers=_HEADERS)
        good = answer.status_code == 200 and not answer.json()["result"].get("isError")
        times.append((perf_counter() - begin) * 1000 if good else float("nan"))
    return times


_HEALTH = """
import select, sys, time, urllib.request, numpy as np
times = []
print(flush=True)
while True:
    begin = time.perf_counter()
    urllib.request.urlopen(sys.argv[1] + "/healthz").read()
    times.append((time.perf_counter() - begin) * 1000)
    time.sleep(0.02)
    if select.select([sys.stdin], [], [], 0)[0]:
        break
p50, p99 = np.percentile(times, (50, 99))
print(f"health p50 {p50:.1f} p99 {p99:.1f} max {max(times):.1f} ms of {len(times)}")
"""


@contextmanager
def asking_health(address: str) -> Iterator[None]:
    """Ask for /healthz while the block lasts, in a process of its own, and print how it went."""
    command = [sys.executable, "-c", _HEALTH, address]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    process.stdout.readline()
    yield
    told, _ = process.communicate()
    print(f"             {told.strip()}", flush=True)


async def load(address: str, texts: list[str], clients: int, calls: int) -> None:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as http:
        left = iter(range(calls))
        with asking_health(address):
            begin = perf_counter()
            each = await asyncio.gather(*(client(http, texts, left) for _ in range(clients)))
            seconds = perf_counter() - begin
    times = np.array([time for times in each for time in times])
    p50, p95, p99 = np.nanpercentile(times, (50, 95, 99))
    print(f"{clients:>3} clients: {calls / seconds:6.0f} calls/s  p50 {p50:7.1f}  p95 {p95:7.1f}  "
          f"p99 {p99:7.1f} ms  errors {np.isnan(times).sum()}", flush=True)  # fmt: skip


def resident(address: str) -> float:
    """Return the server's memory in MiB, as it tells it."""
    text = httpx.get(f"{address}/metrics").text
    found = re.search(r"^lorepack_rss_bytes (\S+)", text, re.MULTILINE)
    assert found
    return float(found[1]) / 2**20


def main(chunks: int, calls: int) -> None:
    texts = [text for _, text, _ in questions()]
    with tempfile.TemporaryDirectory() as scratch:
        pack = Path(scratch) / "synthetic.lorepack"
        write_pack(pack, chunks)
        with server(pack) as address:
            asyncio.run(load(address, texts, max(CLIENTS), 1000))
            warm = resident(address)
            print(f"after warm-up {warm:.0f} MiB", flush=True)
            for clients in CLIENTS:
                asyncio.run(load(address, texts, clients, calls))
            end = resident(address)
            print(f"at the end {end:.0f} MiB ({(end / warm - 1) * 100:+.1f} %)")
            print(json.dumps(httpx.get(f"{address}/healthz").json()))


if __name__ == "__main__":
    main(*(int(word) for word in (*sys.argv[1:], "100000", "3000")[:2]))
