"""Lorepack against the usual recipe at 10,000, 100,000 and 1,000,000 chunks, in one run.

python benchmarks/query.py [CHUNKS ...]

The usual recipe: FTS5 (unicode61) OR of all words, sqlite-vec float32, RRF; the same texts, vectors
and question vectors. Needs the packages apsw and sqlite-vec (this Python's own sqlite3 may not load
extensions).
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import count as count_up
from pathlib import Path
from time import perf_counter

import apsw
import numpy as np
import numpy.typing as npt
import sqlite_vec
from synthetic import LANGUAGES, XQUAD, Texts, passages, write_pack

from lorepack_builder.collection import read_collection
from lorepack_server.packs.mount import mount_pack
from lorepack_server.retrieve.encoders import query_encoder
from lorepack_server.retrieve.lexical import search_words
from lorepack_server.retrieve.query import Query, parse_query
from lorepack_server.retrieve.rank import rank_chunks
from lorepack_server.retrieve.search import find_chunks

SIZES = (10_000, 100_000, 1_000_000)
GROUPS = (*LANGUAGES, "other")
PER_GROUP = 40
_LIMIT = 100
_LONG_MS = 300.0
_PLAIN_OR = """
SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?
ORDER BY bm25(chunks_fts, 4.0, 2.0, 1.0, 2.0) LIMIT ?
"""
_WORD = re.compile(r"\w+")

Ranked = Sequence[int]


def questions() -> list[tuple[str, str, int]]:
    """Return (group, question, its chunk): questions of 8 to 15 words in English, and their twins,
    asked in the passage's own language, and in another ("other").
    """
    chunk = {item.id: (place, item.lang) for place, item in enumerate(passages(), 1)}
    every = [item for item in read_collection(XQUAD).questions if item.lang in LANGUAGES]
    long = {q.id[:-3] for q in every if q.lang == "en" and 8 <= len(q.text.split()) <= 15}
    groups: dict[str, list[tuple[str, str, int]]] = {name: [] for name in GROUPS}
    for question in every:
        place, lang = chunk[next(iter(question.grades))]
        if question.id[:-3] in long:
            group = lang if question.lang == lang else "other"
            groups[group].append((group, question.text, place))
    return [q for found in groups.values() for q in found[:: len(found) // PER_GROUP][:PER_GROUP]]


def measure(
    name: str, asked: Sequence[tuple[str, str, int]], answer: Callable[[int], Ranked]
) -> float:
    """Print percentiles and nDCG@10; return the median in milliseconds.

    Every question is asked three times and its best time counts, so that percentiles tell what
    questions cost and not what else the machine did; what takes long anyway is asked once.
    """
    times, gains = [], {group: [] for group in GROUPS}
    for number, (group, _, wanted) in enumerate(asked):
        took = []
        while len(took) < 3 and (not took or took[0] < _LONG_MS):
            begin = perf_counter()
            found = list(answer(number))[:10]
            took.append((perf_counter() - begin) * 1000)
        times.append(min(took))
        gains[group].append(1 / math.log2(found.index(wanted) + 2) if wanted in found else 0.0)
    p50, p95, p99 = np.percentile(times, (50, 95, 99))
    ndcg = "  ".join(f"{group} {np.mean(values):.3f}" for group, values in gains.items())
    print(f"  {name:<34} p50 {p50:8.2f}  p95 {p95:8.2f}  p99 {p99:8.2f} ms   nDCG@10 {ndcg}",
          flush=True)  # fmt: skip
    return float(p50)


def usual_recipe(path: Path, texts: Texts, vectors: npt.NDArray[np.float32]) -> apsw.Connection:
    db = apsw.Connection(str(path))
    db.enable_load_extension(True)
    db.load_extension(sqlite_vec.loadable_path())
    db.execute("CREATE VIRTUAL TABLE words USING fts5(body)")
    db.execute(f"CREATE VIRTUAL TABLE vectors USING vec0(v float[{vectors.shape[1]}])")
    with db:
        rows = ((number, text) for number, (_, text, _) in enumerate(texts, 1))
        db.executemany("INSERT INTO words (rowid, body) VALUES (?, ?)", rows)
        db.executemany("INSERT INTO vectors (rowid, v) VALUES (?, ?)",
                       ((n, row.tobytes()) for n, row in enumerate(vectors, 1)))  # fmt: skip
    return db


def usual_words(db: apsw.Connection, text: str) -> list[int]:
    expression = " OR ".join(f'"{word}"' for word in _WORD.findall(text))
    sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
    return [row[0] for row in db.execute(sql, (expression, _LIMIT))]


def usual_meaning(db: apsw.Connection, vector: npt.NDArray[np.float32]) -> list[int]:
    sql = "SELECT rowid FROM vectors WHERE v MATCH ? AND k = ? ORDER BY distance"
    return [row[0] for row in db.execute(sql, (vector.tobytes(), _LIMIT))]


def plain_or(pack: sqlite3.Connection, query: Query) -> list[int]:
    """The pack's own tokens, all of them, ranked by FTS5."""
    expression = " OR ".join(f'"{token}"' for word in query.words for token in word)
    return [row[0] for row in pack.execute(_PLAIN_OR, (expression, _LIMIT))]


def fuse(*branches: Ranked) -> list[int]:
    scores: dict[int, float] = {}
    for branch in branches:
        for rank, chunk in enumerate(branch, 1):
            scores[chunk] = scores.get(chunk, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda chunk: -scores[chunk])


def own_process(path: Path) -> None:
    """Mount and ask in a process of its own, for its memory."""
    code = (
        "import sys; from pathlib import Path; from time import perf_counter\n"
        "from lorepack_server.packs.mount import mount_pack\n"
        "from lorepack_server.retrieve.search import find_chunks\n"
        "def rss(): return int(open('/proc/self/statm').read().split()[1]) * 4 // 1024\n"
        "begin = perf_counter(); mount = mount_pack(Path(sys.argv[1]))\n"
        "ms = (perf_counter() - begin) * 1000; before = rss()\n"
        "for n in range(20): find_chunks(mount, f'which year did the committee decide {n}')\n"
        "print(f'  mount {ms:.0f} ms; RSS {before} MB mounted, {rss()} MB with the model')"
    )
    environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, env=environment)


def run(count: int, folder: Path) -> None:
    path = folder / f"{count}.lorepack"
    texts, vectors = write_pack(path, count)
    size = path.stat().st_size / 2**20
    print(f"{count:,} chunks; pack {size:.0f} MB", flush=True)
    own_process(path)
    mount = mount_pack(path)
    pack = mount.connection()
    asked = questions()
    queries = [parse_query(text) for _, text, _ in asked]
    encoder = query_encoder(mount)
    assert not isinstance(encoder, str)
    embedded = [encoder.encode_query(text) for _, text, _ in asked]

    def words(n: int) -> Ranked:
        return [hit.chunk for hit in search_words(pack, queries[n], count, None, _LIMIT)]

    fresh = count_up()

    def answer(n: int) -> Ranked:
        # Another address each time, so that no answer is remembered.
        site = f"http://host/{next(fresh)}/"
        found = find_chunks(mount, asked[n][1], limit=10, site_url=site)
        return [result.chunk for result in found.results]

    def again(n: int) -> Ranked:
        return [result.chunk for result in find_chunks(mount, asked[n][1], limit=10).results]

    def hybrid(n: int) -> Ranked:
        return rank_chunks(mount, queries[n], vector=embedded[n]).hybrid

    measure("Lorepack: words", asked, words)
    measure("its tokens, plain OR in FTS5", asked, lambda n: plain_or(pack, queries[n]))
    ours = measure("Lorepack: hybrid, vector given", asked, hybrid)
    measure("Lorepack: question to answer", asked, answer)
    measure("Lorepack: the same question again", asked, again)
    other = folder / "usual.sqlite"
    db = usual_recipe(other, texts, vectors)

    def usual(n: int) -> Ranked:
        return fuse(usual_words(db, asked[n][1]), usual_meaning(db, embedded[n]))

    measure("usual: words (plain OR)", asked, lambda n: usual_words(db, asked[n][1]))
    theirs = measure("usual: hybrid, vector given", asked, usual)
    print(f"  {theirs / ours:.1f} × (medians); usual recipe's file {other.stat().st_size >> 20} MB")
    db.close()
    other.unlink()
    path.unlink()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for count in map(int, sys.argv[1:] or SIZES):
            run(count, Path(scratch))
