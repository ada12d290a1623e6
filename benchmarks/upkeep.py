"""What upkeep costs: the stages of a build, each command on the pack, and how it grows.

``python benchmarks/upkeep.py`` builds the Chinese garden without its site, with the default model,
then times every command as a process of its own; then looks through synthetic wikis of more and
more pages, with vectors drawn at random, for the slope.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from math import log
from pathlib import Path
from time import perf_counter

import numpy as np
import tiny

from lorepack_builder.acquire import acquire
from lorepack_builder.build import build_pack
from lorepack_builder.chunk import chunk_pages
from lorepack_builder.chunk.tokens import estimated_offsets
from lorepack_builder.link import link_pages
from lorepack_builder.lint import lint_pages
from lorepack_builder.maintenance import review
from lorepack_builder.model import SourceFile
from lorepack_builder.parse import parse_file
from lorepack_builder.recipe import SourceSpec, read_recipe
from lorepack_builder.recipe.settings import LintSettings

VAULTS = Path(__file__).parents[2] / "shared" / "data" / "vaults"
GARDEN = VAULTS / tiny.of("zh-garden", "obsidian-sandbox")
LOREPACK = Path(sys.executable).with_name("lorepack")
COMMANDS = {
    "lint": [], "links": [], "tags": [], "synthesize": [], "memory": [], "hot": [], "status": [],
}  # fmt: skip


def garden(folder: Path) -> None:
    recipe = folder / "garden.toml"
    recipe.write_text(
        f'[pack]\nname="garden"\nversion="1"\n[[source]]\nname="g"\nkind="vault"\npath="{GARDEN}"\n'
    )
    summary, _ = build_pack(read_recipe(recipe), folder / "out", site=False)
    print(f"{summary.pages} pages, {summary.chunks} chunks")
    for stage in ("lint", "upkeep"):
        print(f"stage {stage:<12} {summary.seconds[stage]:6.2f} s")
    for command, options in COMMANDS.items():
        begin = perf_counter()
        subprocess.run(
            [str(LOREPACK), command, summary.pack, *options], check=True, capture_output=True
        )
        print(f"command {command:<10} {perf_counter() - begin:6.2f} s")


def synthetic(folder: Path, pages: int) -> list[SourceFile]:
    """Write pages with four links and forty words each, of a vocabulary that grows with them."""
    lot = random.Random(1)
    words = [f"w{n}" for n in range(2000)]
    for n in range(pages):
        links = " ".join(f"[[Topic {lot.randrange(pages)}]]" for _ in range(2))
        said = " ".join(f"topic {lot.randrange(pages)}" for _ in range(2))
        text = (
            f"---\ntags: [t{n % 50}]\n---\n{' '.join(lot.choices(words, k=40))} {links} {said}.\n"
        )
        (folder / f"Topic {n}.md").write_text(text)
    return acquire([SourceSpec("v", "vault", folder, str(folder))], folder)[1]


def grow(pages: int) -> float:
    with tempfile.TemporaryDirectory() as scratch:
        files = synthetic(Path(scratch), pages)
        parsed = [page for file in files if (page := parse_file(file)[0])]
        linked, _ = link_pages(parsed, files)
        chunks = chunk_pages(parsed, estimated_offsets, 256)
        lot = np.random.default_rng(1)
        vectors = lot.normal(size=(sum(map(len, chunks)), 384)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        begin = perf_counter()
        lint_pages(linked, files, LintSettings(), "2026-12-01")
        review(linked, chunks, files, vectors, None, None, "2026-12-01")
        return perf_counter() - begin


def main() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as scratch:
        garden(Path(scratch))
    before: tuple[int, float] | None = None
    for pages in tiny.of((1_000, 3_000, 10_000, 30_000), (50, 100)):
        seconds = grow(pages)
        slope = log(seconds / before[1]) / log(pages / before[0]) if before else 0
        print(f"{pages:>6} pages {seconds:7.2f} s" + (f", slope {slope:.2f}" if before else ""))
        before = pages, seconds


if __name__ == "__main__":
    main()
