"""Many packs on one server, and packs that change while they are asked."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from watchfiles import watch

from lorepack_server.packs.library import Library
from lorepack_server.packs.mount import mount_pack
from tests.conftest import Built, serve

CLIENTS = 50
Versions = dict[str, Path]


@pytest.fixture
def versions(build: Callable[..., Built]) -> Versions:
    """The same small pack in four versions."""
    return {
        version: build({"Answer.md": f"The answer is forty-{word}."}, version=version).path
        for version, word in (("1.0.0", "one"), ("1.1.0", "two"), ("1.2.0", "three"),
                              ("2.0.0", "four"))
    }  # fmt: skip


async def ask_until(
    address: str, stop: asyncio.Event, answered: asyncio.Event | None = None
) -> Counter[str]:
    """Ask over the API and over MCP; count versions answered, and raise on any failure."""
    seen: Counter[str] = Counter()
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "find_chunks", "arguments": {"query": "answer"}}}  # fmt: skip
    headers = {"accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(base_url=address, timeout=30) as client:
        while not stop.is_set():
            over_api = await client.get("/api/test/search", params={"query": "answer"})
            assert over_api.status_code == 200, over_api.text
            over_mcp = await client.post("/mcp/test", json=call, headers=headers)
            assert over_mcp.status_code == 200, over_mcp.text
            for answer in (over_api.json(), over_mcp.json()["result"]["_meta"]["lorepack"]):
                assert answer["status"] == "ok"
                seen[answer["version"]] += 1
            site = await client.get("/site/test/v/answer/")
            assert site.status_code == 200
            if answered:
                answered.set()
    return seen


async def newest_becomes(address: str, version: str) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=30) as client:
        for _ in range(150):
            ready = (await client.get("/readyz")).json()
            if ready["packs"]["test"][0] == version:
                return
            await asyncio.sleep(0.1)
    raise AssertionError(f"the newest version is still {ready['packs']}")


def test_packs_change_under_fifty_clients(versions: Versions, tmp_path: Path) -> None:
    folder = tmp_path / "packs"
    folder.mkdir()
    path = folder / "a.lorepack"
    shutil.copy(versions["1.0.0"], path)
    log = tmp_path / "log"

    async def change(address: str, stop: asyncio.Event, answered: asyncio.Event) -> None:
        try:
            await asyncio.wait_for(answered.wait(), 60)
            shutil.copy(versions["1.1.0"], folder / "b.lorepack")
            await newest_becomes(address, "1.1.0")
            shutil.copy(versions["1.2.0"], tmp_path / "moved")
            (tmp_path / "moved").replace(path)
            await newest_becomes(address, "1.2.0")
            (folder / "b.lorepack").unlink()
            whole = versions["2.0.0"].read_bytes()
            (folder / "half.lorepack").write_bytes(whole[: len(whole) // 2])
            spoiled = bytearray(whole)
            spoiled[len(whole) // 2] ^= 0xFF
            (folder / "spoiled.lorepack").write_bytes(spoiled)
            (folder / "noise.lorepack").write_bytes(b"no pack at all")
            await asyncio.sleep(4)
            await newest_becomes(address, "1.2.0")
            (folder / "half.lorepack").write_bytes(whole)
            await newest_becomes(address, "2.0.0")
        finally:
            stop.set()

    async def run(address: str) -> Counter[str]:
        stop, answered = asyncio.Event(), asyncio.Event()
        clients = [asyncio.create_task(ask_until(address, stop, answered)) for _ in range(CLIENTS)]
        await change(address, stop, answered)
        return sum(await asyncio.gather(*clients), Counter())

    with serve(folder, log=log) as address:
        seen = asyncio.run(run(address))
        in_flight = httpx.get(f"{address}/healthz").json()["inFlight"]
    assert {"1.0.0", "1.1.0", "1.2.0"} <= set(seen) <= {*versions}
    assert in_flight == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    refused = {Path(line["file"]).name for line in lines if "pack refused" in line["message"]}
    assert refused == {"half.lorepack", "spoiled.lorepack", "noise.lorepack"}


def test_a_pack_that_is_broken_in_place_is_still_served(versions: Versions, tmp_path: Path) -> None:
    library = Library([tmp_path])
    path = shutil.copy(versions["1.0.0"], tmp_path / "a.lorepack")
    library.open()
    broken = tmp_path / "broken"
    broken.write_bytes(b"SQLite format 3\x00 and then nothing")
    broken.replace(path)
    assert library.refresh() == []
    mount = library.shelf.find("test")
    assert mount is not None and mount.version == "1.0.0"
    assert mount.connection().execute("SELECT count(*) FROM pages").fetchone()[0] == 1


def test_a_link_that_leaves_the_folder_is_not_followed(versions: Versions, tmp_path: Path) -> None:
    folder = tmp_path / "packs"
    folder.mkdir()
    (folder / "outside.lorepack").symlink_to(versions["1.0.0"])
    shutil.copy(versions["1.1.0"], folder / "inside.lorepack")
    (folder / "link.lorepack").symlink_to(folder / "inside.lorepack")
    library = Library([folder])
    library.open()
    assert [mount.version for mount in library.shelf.packs["test"]] == ["1.1.0", "1.1.0"]


def two_hundred(pack: Path, folder: Path) -> Path:
    folder.mkdir()
    for number in range(200):
        path = shutil.copy(pack, folder / f"{number}.lorepack")
        with sqlite3.connect(path) as copy:
            copy.execute("UPDATE meta SET value = ? WHERE key = 'name'", (f"pack-{number}",))
    return folder


def test_two_hundred_packs(demo_pack: Path, tmp_path: Path) -> None:
    folder = two_hundred(demo_pack, tmp_path / "packs")
    with serve(folder) as address:
        packs = httpx.get(f"{address}/readyz").json()["packs"]
        assert len(packs) == 200
        answer = httpx.get(f"{address}/api/pack-199/search", params={"query": "one file"}).json()
        assert answer["pack"] == "pack-199" and answer["results"]


MEMORY = """
import resource, sys
from pathlib import Path
from lorepack_server.packs.library import Library
def rss(): return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
one = Library([Path(sys.argv[1]) / "0.lorepack"]); one.open(); before = rss()
all = Library([Path(sys.argv[1])]); all.open()
print((rss() - before) / len(all.shelf.packs))
"""


def test_an_idle_pack_takes_less_than_a_megabyte(demo_pack: Path, tmp_path: Path) -> None:
    folder = two_hundred(demo_pack, tmp_path / "packs")
    told = subprocess.run(
        [sys.executable, "-c", MEMORY, str(folder)], capture_output=True, text=True, check=True
    )
    planes = mount_pack(demo_pack).planes.nbytes
    assert float(told.stdout) < planes + 1e6


def test_nothing_is_written_beside_packs(demo_pack: Path, tmp_path: Path) -> None:
    folder = tmp_path / "packs"
    folder.mkdir()
    pack = Path(shutil.copy(demo_pack, folder))
    pack.chmod(0o444)
    folder.chmod(0o555)
    seen: list[tuple[object, str]] = []
    try:
        with serve(folder) as address:
            changes = watch(folder, rust_timeout=500, yield_on_timeout=True, debounce=50)
            next(changes)
            for query in ("one file", "findings", '"a phrase"', "GET /nothing"):
                assert httpx.get(f"{address}/api/demo/search", params={"query": query}).is_success
            for path in ("page?page=guide/Start here.md", "neighbors?source=%23guide"):
                assert httpx.get(f"{address}/api/demo/{path}").is_success
            assert httpx.get(f"{address}/site/demo/").is_success
            for _ in range(3):
                seen += [(change, path) for change, path in next(changes)]
                time.sleep(0.2)
    finally:
        folder.chmod(0o755)
    assert seen == []
    assert [file.name for file in folder.iterdir()] == [pack.name]
