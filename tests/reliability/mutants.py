"""Serve damaged and hostile packs: each is refused, or answers; none crashes or runs what it says.

``python -m tests.reliability.mutants [NUMBER]`` (10,000) makes that many from one small pack, each
from its number alone, and serves them one after another in processes of their own.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import queue
import random
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx

from lorepack.errors import LorepackError
from lorepack.pack.digest import content_digest, index_digest
from lorepack.pack.verify import verify_pack
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from lorepack_server.app import Settings, create_app
from lorepack_server.calls import Calls
from lorepack_server.metrics import Metrics
from lorepack_server.packs.library import Library
from lorepack_server.tools.answer import Context
from lorepack_server.tools.profiles import PROFILES
from tests.reliability.process import peak_memory

PAGE = 4096
SLOW_SECONDS = 10.0
"""Seconds of the processor that serving one may take."""
HANG_SECONDS = 60.0
_SEAL_SECONDS = 2.0
LARGEST = 600 << 20
"""Bytes of memory that serving a small mutant may take at most."""
CANARY = "canary"
"""What a file beside the packs holds, which no answer may show."""

_CALLS: dict[str, dict[str, Any]] = {
    "find_chunks": {"query": "install chunks `run_it`", "limit": 20, "includeText": True},
    "get_page": {"page": "v/a.md"},
    "find_neighbors": {"source": "v/a.md", "depth": 3},
    "wiki_query": {"query": "install"},
    "resolve_repo": {"name": "install"},
    "cross_linker": {"path": "v/a.md"},
    "wiki_synthesize": {"concepts": ["install", "chunks"]},
}
_URLS = ("/", "/site/m/", "/site/m/a.md", "/site/m/none", "/metrics", "/readyz",
         "/api/m/search?q=install")  # fmt: skip


def base_pack(folder: Path) -> Path:
    """Build the pack that all mutants are made of, with vectors and a few files of a site."""
    vault = folder / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("---\ntags: [x, y]\n---\n# A\n\n[[b]] and [[c#Two]].\n\nTo install "
                                "chunks, `run_it`.\n\n```mermaid\ngraph TD\na-->b\n```\n")  # fmt: skip
    (vault / "b.md").write_text("# B\n\n## One\n\n![[a]]\n\n## Two\n\nInstall it. #x/z\n")
    (vault / "c.md").write_text("# C\n\n## Two\n\n我们怎样安装？ [[nowhere]] #x\n")
    recipe = folder / "r.toml"
    recipe.write_text(
        '[pack]\nname="m"\nversion="1"\n[[source]]\nname="v"\nkind="vault"\npath="vault"\n'
    )
    pack = Path(build_pack(read_recipe(recipe), folder / "out", site=False)[0].pack)
    with closing(sqlite3.connect(pack)) as opened:
        for name, text in (
            ("index.html", b"<p>x</p>" * 99),
            ("a.md", b"# A"),
            ("404.html", b"no" * 99),
        ):
            packed = zlib.compress(text)
            row = (name, 0o100644, 0, len(text), min(packed, text, key=len))
            opened.execute("INSERT INTO sqlar VALUES (?, ?, ?, ?, ?)", row)
        seal(opened)
    return pack


def seal(pack: sqlite3.Connection) -> None:
    """Write digests that fit, as somebody who forges a pack would."""
    for key, digest in (("content_digest", content_digest), ("index_digest", index_digest)):
        pack.execute("UPDATE meta SET value = ? WHERE key = ?", (digest(pack), key))
    pack.commit()


def flips(data: bytearray, lot: random.Random) -> None:
    for _ in range(lot.choice((1, 2, 8, 64, 512))):
        data[lot.randrange(len(data))] ^= 1 << lot.randrange(8)


def header_flips(data: bytearray, lot: random.Random) -> None:
    for _ in range(lot.choice((1, 2, 4))):
        data[lot.randrange(100)] = lot.randrange(256)


def truncation(data: bytearray, lot: random.Random) -> None:
    if lot.random() < 0.3:
        data += lot.randbytes(lot.randrange(3 * PAGE))
    else:
        del data[lot.randrange(len(data)) :]


def swapped_pages(data: bytearray, lot: random.Random) -> None:
    for _ in range(lot.choice((1, 1, 4))):
        one, two = (lot.randrange(len(data) // PAGE) * PAGE for _ in range(2))
        data[one : one + PAGE], data[two : two + PAGE] = (
            data[two : two + PAGE], data[one : one + PAGE],
        )  # fmt: skip


def zeroed_page(data: bytearray, lot: random.Random) -> None:
    at = lot.randrange(len(data) // PAGE) * PAGE
    data[at : at + PAGE] = bytes(PAGE) if lot.random() < 0.5 else lot.randbytes(PAGE)


BYTES: tuple[Callable[[bytearray, random.Random], None], ...] = (
    flips, header_flips, truncation, swapped_pages, zeroed_page,
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, "", "x", -1, 0, 2**62, -(2**63), 1.5, float("inf"), b"", b"\xff" * 7, b"\0" * 4096,
    "[" * 100_000, '{"a": ' * 5_000, "[]", "{}", "null", "9" * 5_000, "\0", "\ud7ff", "../../x",
    "x" * 1_000_000, "2026-13-45", "</script>",
)  # fmt: skip
_HOSTILE = (
    "CREATE VIEW v AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM pages; END",
    "CREATE TABLE extra (x)",
    "ALTER TABLE pages RENAME TO p2; CREATE VIEW pages AS SELECT * FROM p2",
    "ALTER TABLE meta RENAME TO m2; CREATE VIEW meta AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL "
    "SELECT n + 1 FROM r) SELECT key, value FROM m2, r",
    "ALTER TABLE chunks RENAME TO c2; CREATE VIEW chunks AS SELECT *, randomblob(1000000000) FROM c2",
    "CREATE VIRTUAL TABLE d USING dbstat",
    "ALTER TABLE pages ADD COLUMN g TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000))) VIRTUAL",
    "CREATE INDEX i ON pages (hex(randomblob(10)))",
    "DROP TABLE vectors", "DROP TABLE chunks_fts_data", "DELETE FROM meta", "DELETE FROM vectors",
    "DELETE FROM chunks_fts_config", "UPDATE edges SET src = dst", "UPDATE edges SET dst = src",
    "UPDATE pages SET id = id + 9223372036854775800",
)  # fmt: skip


def wrong_values(pack: sqlite3.Connection, lot: random.Random) -> None:
    tables = [row[0] for row in pack.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for _ in range(lot.choice((1, 2, 5))):
        table = lot.choice(tables)
        columns = [row[1] for row in pack.execute(f'PRAGMA table_info("{table}")')]
        where = "" if lot.random() < 0.5 else " WHERE rowid = 1"
        if table == "meta":
            keys = [row[0] for row in pack.execute("SELECT key FROM meta")]
            where, columns = f" WHERE key = '{lot.choice(keys)}'", ["value"]
        with suppress(sqlite3.Error):
            change = f'UPDATE OR IGNORE "{table}" SET "{lot.choice(columns)}" = ?{where}'  # noqa: S608
            pack.execute(change, (lot.choice(_VALUES),))


def cyclic_edges(pack: sqlite3.Connection, lot: random.Random) -> None:
    nodes = [row[0] for row in pack.execute("SELECT id FROM nodes")]
    for (edge,) in pack.execute("SELECT id FROM edges").fetchall():
        pair = (lot.choice(nodes), lot.choice(nodes), edge)
        pack.execute("UPDATE edges SET src = ?, dst = ? WHERE id = ?", pair)


def hostile_schema(pack: sqlite3.Connection, lot: random.Random) -> None:
    with suppress(sqlite3.Error):
        pack.executescript(lot.choice(_HOSTILE))


def bombs(pack: sqlite3.Connection, lot: random.Random) -> None:
    bomb = zlib.compress(bytes(1 << lot.choice((20, 27))))
    size = lot.choice((0, 5, 1 << 40, 2**63 - 1, -3, len(bomb) + 1))
    pack.execute("UPDATE sqlar SET sz = ?, data = ?", (size, bomb))


def huge_counts(pack: sqlite3.Connection, lot: random.Random) -> None:
    counts = json.dumps(dict.fromkeys(("pages", "chunks", "edges", "nodes", "findings"), 10**18))
    pack.execute("UPDATE meta SET value = ? WHERE key = 'counts'", (counts,))
    embedder = json.loads(
        pack.execute("SELECT value FROM meta WHERE key = 'embedder'").fetchone()[0]
    )
    embedder["dims"] = lot.choice((0, -1, 1, 10**9, "many"))
    pack.execute("UPDATE meta SET value = ? WHERE key = 'embedder'", (json.dumps(embedder),))
    pack.execute("UPDATE vector_planes SET bits = ?", (bytes(lot.choice((0, 3, 8, 8000))),))


ROWS: tuple[Callable[[sqlite3.Connection, random.Random], None], ...] = (
    wrong_values, wrong_values, wrong_values, cyclic_edges, hostile_schema, bombs, huge_counts,
)  # fmt: skip


def how_made(number: int) -> str:
    """Return how a mutant is made: odd ones in their bytes, even ones in their rows."""
    lot = random.Random(number)
    change, alter = lot.choice(BYTES), lot.choice(ROWS)
    return change.__name__ if number % 2 else alter.__name__


def mutate(base: Path, target: Path, number: int) -> None:
    """Write mutant ``number`` to ``target``."""
    lot = random.Random(number)
    change, alter = lot.choice(BYTES), lot.choice(ROWS)
    if number % 2:
        data = bytearray(base.read_bytes())
        change(data, lot)
        target.write_bytes(data)
        return
    shutil.copyfile(base, target)
    with closing(sqlite3.connect(target)) as pack:
        pack.execute("PRAGMA foreign_keys = OFF")
        pack.execute("PRAGMA ignore_check_constraints = ON")
        # Some mutants hold a query without an end, which sealing would run.
        end = time.monotonic() + _SEAL_SECONDS
        pack.set_progress_handler(lambda: time.monotonic() > end, 10_000)
        # What one change broke may be what the next would read.
        with suppress(sqlite3.Error):
            alter(pack, lot)
        pack.commit()
        # Half of them say of themselves that they are whole.
        if lot.random() < 0.5:
            with suppress(sqlite3.Error, TypeError, ValueError, OverflowError):
                seal(pack)


def serve(pack: Path) -> str:
    """Verify, mount and ask a pack in every way; return what came of it."""
    with suppress(LorepackError):
        verify_pack(pack)
    library = Library([pack])
    try:
        library.open()
    except LorepackError as error:
        assert error.message and error.remedy
        return "refused"
    return anyio.run(_ask, library)


async def _ask(library: Library) -> str:
    outcomes = Counter[str]()
    calls = Calls(Metrics())
    tools = {spec.name: spec for spec in PROFILES["all"]}
    (mounts,) = library.shelf.packs.values()
    for name in tools:
        answer = await calls.run(tools, name, _CALLS.get(name, {}), Context(mounts[0]))
        assert CANARY not in answer.text
        code = answer.data["error"]["code"] if answer.is_error else "ok"
        assert code in ("ok", "damaged", "internal"), (name, code)
        outcomes["answered" if code == "ok" else code] += 1
    transport = httpx.ASGITransport(
        create_app(library, Settings(hosts=("m",))), raise_app_exceptions=False
    )
    async with httpx.AsyncClient(
        transport=transport, base_url="http://m", headers={"accept-encoding": "identity"}
    ) as client:
        for url in _URLS:
            name = mounts[0].name if mounts else "m"
            response = await client.get(url.replace("/m/", f"/{name}/"))
            assert CANARY not in response.text
            if response.status_code >= 500:
                assert response.json()["error"]["code"], url
                outcomes["damaged"] += 1
    kinds = [kind for kind in ("internal", "damaged") if outcomes[kind]]
    return kinds[0] if kinds else "answered"


def _server(asked: Any, told: Any) -> None:
    """Serve each pack whose path is put into ``asked``, and tell what came of it."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    logging.disable(logging.CRITICAL)
    while pack := asked.get():
        begin = time.process_time()
        try:
            outcome = serve(pack)
        except BaseException as error:
            outcome = f"FAILED {type(error).__name__}: {str(error)[:200]}"
        told.put((outcome, time.process_time() - begin, peak_memory()))


@dataclass
class Found:
    """Counts by how mutants were made and what came of them; faults; bytes of memory."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    largest: int = 0


def _serve_all(base: Path, folder: Path, numbers: Sequence[int], found: Found) -> None:
    """Make mutants, and serve them in a process that is started anew if one takes it down."""
    context = multiprocessing.get_context("spawn")
    left = list(reversed(numbers))
    while left:
        asked, told = context.Queue(), context.Queue()
        server = context.Process(target=_server, args=(asked, told), daemon=True)
        server.start()
        while left and server.is_alive():
            number = left.pop()
            target = folder / f"{numbers[0]}.lorepack"
            mutate(base, target, number)
            asked.put(target)
            how = how_made(number)
            try:
                outcome, seconds, peak = told.get(timeout=HANG_SECONDS)
            except queue.Empty:
                what = "hangs" if server.is_alive() else f"crashed ({server.exitcode})"
                found.faults.append(f"{number} {how}: the server {what}")
                server.kill()
                break
            found.largest = max(found.largest, peak)
            found.counts[how, outcome.partition(":")[0]] += 1
            if outcome.startswith("FAILED") or seconds > SLOW_SECONDS:
                found.faults.append(f"{number} {how}: {outcome} in {seconds:.1f} s")
            written = [f.name for f in folder.iterdir() if f.name.startswith(target.name)]
            if written != [target.name]:
                found.faults.append(f"{number} {how}: wrote {written}")
        asked.put(None)
        server.join(10)


def run(numbers: Sequence[int], processes: int = os.cpu_count() or 1) -> Found:
    """Serve mutants of these numbers."""
    found = Found()
    with tempfile.TemporaryDirectory() as scratch:
        base = base_pack(Path(scratch))
        served = Path(scratch) / "served"
        served.mkdir()
        (Path(scratch) / "secret.txt").write_text(CANARY)
        # In pairs, as those with odd numbers are served far quicker.
        shares = [[n for n in numbers if n // 2 % processes == first] for first in range(processes)]
        with ThreadPoolExecutor(processes) as threads:
            list(
                threads.map(
                    lambda share: _serve_all(base, served, share, found), filter(None, shares)
                )
            )
    if found.largest > LARGEST:
        found.faults.append(f"a server took {found.largest >> 20} MiB")
    return found


def main() -> None:
    """Print a table, and fail on any fault."""
    found = run(range(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
    outcomes = sorted({outcome for _, outcome in found.counts})
    print(f"| made by | {' | '.join(outcomes)} |")
    print("|---" * (len(outcomes) + 1) + "|")
    for how in sorted({how for how, _ in found.counts}):
        print(f"| {how} | {' | '.join(str(found.counts[how, o]) for o in outcomes)} |")
    print(f"largest server: {found.largest >> 20} MiB")
    print("\n".join(found.faults[:40]))
    sys.exit(1 if found.faults else 0)


if __name__ == "__main__":
    main()
