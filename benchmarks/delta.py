"""What a new version costs to fetch: whole, as the SQLite pages that are new, or as a delta.

``python benchmarks/delta.py OLD NEW`` prints bytes and seconds of each way.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from lorepack.pack.delta import apply_delta, make_delta
from lorepack.util.zstd import zstd

PAGE = 4096
LEVEL = 19


def whole(_: bytes, new: bytes) -> int:
    return len(zstd.compress(new, LEVEL))


def by_page(old: bytes, new: bytes) -> int:
    """Return the size of the new pages, compressed, and of 8 bytes of hash for each page."""
    known = {hashlib.sha256(old[i : i + PAGE]).digest() for i in range(0, len(old), PAGE)}
    pages = [new[i : i + PAGE] for i in range(0, len(new), PAGE)]
    fresh = b"".join(page for page in pages if hashlib.sha256(page).digest() not in known)
    return 8 * len(pages) + len(zstd.compress(fresh, LEVEL))


def main() -> None:
    old_file, new_file = Path(sys.argv[1]), Path(sys.argv[2])
    old, new = old_file.read_bytes(), new_file.read_bytes()
    print(f"the pack itself: {len(new):,} bytes")
    for name, way in (("whole", whole), ("new pages", by_page)):
        begin = perf_counter()
        print(f"{name}, zstd {LEVEL}: {way(old, new):,} bytes, {perf_counter() - begin:.1f} s")
    with tempfile.TemporaryDirectory() as scratch:
        delta, made = Path(scratch, "delta"), Path(scratch, "made")
        begin = perf_counter()
        make_delta(old_file, new_file, delta)
        between = perf_counter()
        apply_delta(old_file, delta, made)
        end = perf_counter()
        assert made.read_bytes() == new
        print(f"delta: {delta.stat().st_size:,} bytes, made in {between - begin:.1f} s, "
              f"applied in {end - between:.1f} s")  # fmt: skip


if __name__ == "__main__":
    main()
