"""A question that is an identifier of the pack finds its chunk first."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lorepack.text.tokenize import _stem_word, segment
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from lorepack_server.packs.mount import Mount, mount_pack
from lorepack_server.retrieve.search import find_chunks
from tests.conftest import Built, write_files, write_recipe

IDENTIFIER = re.compile(
    r"(?<![\w./@-])(?:"
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"  # SNAKE
    r"|[a-z]\w*_\w*[a-z]"  # snake_case
    r"|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+"  # camelCase
    r"|[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+"  # dotted
    r"|--[a-z][a-z-]+[a-z]"  # --flag
    r"|v\d+\.\d+\.\d+"  # version
    r"|[a-z]\w+(?:::\w+)+"  # std::vector
    r"|@[a-z][\w.]+\w"  # @decorator
    r"|[a-z]\w+(?:/\w+)+\.\w+"  # path
    r")(?![\w/-])"
)


@pytest.fixture(scope="module")
def code_pack(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Mount:
    folder = tmp_path_factory.mktemp("code")
    pages = {}
    for file in sorted([*(corpora / "repos").rglob("*"), *(corpora / "codewiki").rglob("*.md")]):
        if file.suffix in (".md", ".rst", ".py") and file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            name = str(file.relative_to(corpora))
            pages[f"{name}.md"] = (
                text if file.suffix == ".md" else f"# {name}\n\n```\n{text}\n```\n"
            )
    write_files(folder / "vault", pages)
    summary, _ = build_pack(read_recipe(write_recipe(folder, folder / "vault")), folder / "out")
    return mount_pack(Path(summary.pack))


def test_five_hundred_identifiers_find_their_chunk_first(code_pack: Mount) -> None:
    texts = [row[0] for row in code_pack.connection().execute("SELECT text FROM chunks")]
    found = sorted({name for text in texts for name in IDENTIFIER.findall(text) if len(name) < 60})
    assert len(found) > 3000
    asked = random.Random(0).sample(found, 500)
    missed = [name for name in asked if not _first_holds(code_pack, name)]
    assert missed == []


def _first_holds(mount: Mount, name: str) -> bool:
    results = find_chunks(mount, name).results
    # A path that is a page's own is answered by that page.
    return bool(results) and name.lower() in f"{results[0].path}\n{results[0].text}".lower()


@pytest.mark.parametrize(
    "name",
    ["HALYARD_DISPATCH_TIMEOUT", "getHTTPServer", "a.b.c", "--dry-run", "E1234", "v3.1.0",
     "std::vector", "src/core/main.rs", "C++", ".NET", "@decorator", "kebab-case-name"],
)  # fmt: skip
def test_each_form_of_identifier(build: Callable[..., Built], name: str) -> None:
    pages = {
        f"{n}.md": f"# Page {n}\n\nPlain words about core, main, server and case.\n"
        for n in "abcdef"
    }
    pages["z.md"] = f"# Last\n\nSome text that names {name} in passing.\n"
    mount = build(pages).mount()
    for asked in (name, name.lower(), f"`{name}`"):
        assert find_chunks(mount, asked).results[0].path == "v/z.md", asked


def test_words_are_segmented_alike_in_all_threads() -> None:
    words = [f"{stem}{ending}" for stem in ("relat", "nation", "hop", "generat", "connect", "run")
             for ending in ("ing", "ational", "ized", "s", "ly", "edly", "iveness", "er")]  # fmt: skip
    texts = [f"{word}{number}x {word}q{'z' * number}ing" for number in range(60) for word in words]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(segment, texts))
    finally:
        sys.setswitchinterval(before)
    _stem_word.cache_clear()
    assert together == [segment(text) for text in texts]
