"""Milliseconds a page for parse, link and chunk, and how they grow with the vault.

python benchmarks/parse.py [VAULT]        default: the Chinese garden of the corpora
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import tiny

from lorepack.models.encoder import load_tokenizer
from lorepack.models.registry import DEFAULT_MODEL, find_model
from lorepack_builder.acquire import acquire
from lorepack_builder.acquire.documents import is_page
from lorepack_builder.chunk import chunk_pages
from lorepack_builder.chunk.tokens import tokenizer_offsets
from lorepack_builder.engine.garbage import few_collections
from lorepack_builder.link import link_pages
from lorepack_builder.parse.pool import parse_files
from lorepack_builder.recipe import SourceSpec

GARDEN = Path(__file__).parents[2] / "shared" / "data" / "vaults" / "zh-garden"
SIZES = tiny.of((300, 3_000, 30_000), (30,))


def measure(vault: Path, offsets: object) -> tuple[int, dict[str, float]]:
    """Return the number of pages and the milliseconds a page of each stage."""
    spec = SourceSpec("v", "vault", vault, str(vault), (), "", "")
    _, files, _ = acquire([spec], Path())
    documents = [file for file in files if is_page(file)]
    marks = [perf_counter()]
    pages = [page for page, _ in parse_files(documents) if page]
    marks.append(perf_counter())
    link_pages(pages, files)
    marks.append(perf_counter())
    chunk_pages(pages, offsets, 256)  # type: ignore[arg-type]
    marks.append(perf_counter())
    stages = zip(("parse", "link", "chunk"), marks, marks[1:], strict=False)
    return len(pages), {name: (end - begin) * 1000 / len(pages) for name, begin, end in stages}


def synthetic(folder: Path, pages: int) -> Path:
    """Write ``pages`` notes that link to each other, in 100 folders."""
    for number in range(pages):
        path = folder / f"area {number % 100}" / f"Note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        links = " ".join(f"[[Note {(number * 7 + step) % pages}#Part {step}]]" for step in range(5))
        text = f"A few words about number {number}, which is linked with others. "
        path.write_text(
            f"---\ntags: [t{number % 50}]\n---\n# Note {number}\n\n{text * 3}\n\n{links}\n\n"
            f"## Part 1\n\n- {text}\n- {text}\n\n## Part 2\n\n{text * 5}\n"
        )
    return folder


def report(name: str, pages: int, stages: dict[str, float]) -> None:
    parts = ", ".join(f"{stage} {value:.2f}" for stage, value in stages.items())
    print(f"{name}: {pages} pages, {sum(stages.values()):.2f} ms a page ({parts})")


@few_collections()
def main() -> None:
    offsets = tokenizer_offsets(load_tokenizer(find_model(DEFAULT_MODEL)))
    vault = Path(sys.argv[1]) if len(sys.argv) > 1 else GARDEN
    if vault.is_dir() and not tiny.TINY:
        for _ in range(3):
            report(vault.name, *measure(vault, offsets))
    for size in SIZES:
        with tempfile.TemporaryDirectory() as scratch:
            report("synthetic", *measure(synthetic(Path(scratch), size), offsets))


if __name__ == "__main__":
    main()
