"""Packs that were published before: each opens, answers and verifies in every later Lorepack."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lorepack.errors import LorepackError
from lorepack.pack.diff import diff_packs
from lorepack.pack.inspect import inspect_pack
from lorepack.pack.open import open_pack
from lorepack.pack.verify import require_sound
from lorepack_server.packs.mount import mount_pack
from lorepack_server.retrieve.search import find_chunks
from lorepack_server.tools.answer import Context
from lorepack_server.tools.profiles import PROFILES

PACKS = sorted((Path(__file__).parent / "fixtures").glob("format-*/*.lorepack"))


@pytest.fixture(params=PACKS, ids=lambda path: f"{path.parent.name}/{path.name}")
def old(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def test_there_are_some() -> None:
    assert PACKS


def test_it_is_sound_and_tells_what_is_in_it(old: Path) -> None:
    require_sound(old)
    facts = inspect_pack(old)
    assert facts.meta["counts"]["pages"] == 4 and facts.meta["languages"] == ["en", "zh"]


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("how do I install it?", "n/Install.md"),
        ("怎样检索？", "n/检索.md"),
        ("paket nasıl kurulur?", "n/Install.md"),
        ("run_it", "code/run.py"),
    ],
)
def test_it_answers_by_words_and_by_meaning(old: Path, question: str, page: str) -> None:
    answer = find_chunks(mount_pack(old), question)
    assert not answer.degraded and page in [result.path for result in answer.results[:2]]


def test_every_tool_answers(old: Path) -> None:
    given = {
        "find_chunks": {"query": "install"},
        "find_neighbors": {"source": "n/Search.md"},
        "resolve_repo": {"name": "code"},
        "wiki_synthesize": {"concepts": ["Install", "Search"]},
    }
    context = Context(mount_pack(old))
    for spec in PROFILES["all"]:
        answer = spec.call(context, given.get(spec.name, {}))
        assert not answer.is_error, (spec.name, answer.text)


def test_it_compares_with_a_pack_of_today(old: Path, demo_pack: Path) -> None:
    assert diff_packs(old, demo_pack).counts()["page"]["removed"] == 4


def test_a_newer_format_is_told_from_a_broken_file(old: Path, tmp_path: Path) -> None:
    newer, broken = tmp_path / "newer.lorepack", tmp_path / "broken.lorepack"
    shutil.copyfile(old, newer)
    with closing(sqlite3.connect(newer)) as pack:
        pack.executescript("CREATE TABLE of_tomorrow (x); PRAGMA user_version = 2;")
    with pytest.raises(LorepackError, match=r"pack format 2.*install a newer Lorepack"):
        open_pack(newer)
    data = bytearray(old.read_bytes())
    data[4096:8192] = bytes(4096)
    broken.write_bytes(data)
    with pytest.raises(LorepackError, match=r"is damaged|is no Lorepack pack"):
        mount_pack(broken)
    with pytest.raises(LorepackError, match="is damaged"):
        require_sound(broken)
