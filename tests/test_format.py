"""The pack format: what a file must be, how it is opened, and what verify finds."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lorepack.errors import LorepackError
from lorepack.pack.open import open_pack
from lorepack.pack.verify import require_sound, verify_pack
from tests.conftest import ROOT, Built


def problems(path: Path) -> dict[str, str]:
    return {check.name: check.problem for check in verify_pack(path) if check.problem}


def test_a_built_pack_is_whole(demo_pack: Path) -> None:
    assert problems(demo_pack) == {}


def test_header_names_format_and_application(demo_pack: Path) -> None:
    pack = sqlite3.connect(demo_pack)
    assert pack.execute("PRAGMA application_id").fetchone() == (0x4C4F5245,)
    assert pack.execute("PRAGMA user_version").fetchone() == (1,)
    assert pack.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_opening_writes_nothing_and_allows_no_writing(demo_pack: Path) -> None:
    before = sorted(demo_pack.parent.iterdir())
    pack = open_pack(demo_pack)
    with pytest.raises(sqlite3.OperationalError):
        pack.execute("DELETE FROM pages")
    assert pack.execute("SELECT count(*) FROM pages").fetchone()[0] == 13
    assert sorted(demo_pack.parent.iterdir()) == before


def test_the_site_is_sqlites_own_archive(demo_pack: Path) -> None:
    if shutil.which("sqlite3") is None:
        pytest.skip("the sqlite3 shell is not installed")
    listed = subprocess.run(
        ["sqlite3", str(demo_pack), "-A", "-t"], capture_output=True, text=True, check=True
    )
    assert "index.html" in listed.stdout.splitlines()


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, None])
def test_a_foreign_file_is_refused_in_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.lorepack"
    if content is None:
        sqlite3.connect(path).execute("CREATE TABLE t (x)")
    else:
        path.write_bytes(content)
    with pytest.raises(LorepackError, match=r"is no Lorepack pack: build one"):
        open_pack(path)


def test_a_newer_format_is_refused(tmp_path: Path, demo_pack: Path) -> None:
    path = tmp_path / "new.lorepack"
    shutil.copy(demo_pack, path)
    with sqlite3.connect(path) as pack:
        pack.execute("PRAGMA user_version = 2")
    with pytest.raises(LorepackError, match=r"format 2.*install a newer Lorepack"):
        open_pack(path)


CONTENT_CHANGES = {
    "page": "UPDATE pages SET markdown = markdown || '.' WHERE id = 1",
    "heading": "UPDATE headings SET text = 'x' WHERE page_id = 1 AND ordinal = 0",
    "chunk": "UPDATE chunks SET text = upper(text) WHERE id = 2",
    "vector": "UPDATE vectors SET scale = scale * 2 WHERE chunk_id = 1",
    "planes": "UPDATE vector_planes SET bits = zeroblob(length(bits)) WHERE plane = 0",
    "edge": "UPDATE edges SET line = 1000 WHERE id = 1",
    "site": "UPDATE sqlar SET data = zeroblob(length(data)) WHERE name = 'index.html'",
    "meta": "UPDATE meta SET value = 'other' WHERE key = 'title'",
    "term": "UPDATE terms SET chunks = chunks + 1 WHERE term = 'pack'",
    "finding": "INSERT INTO findings VALUES (99, 'r', 'info', 'p', 1, 'm', '')",
}


@pytest.mark.parametrize("statement", CONTENT_CHANGES.values(), ids=CONTENT_CHANGES)
def test_verify_finds_a_changed_row(tmp_path: Path, demo_pack: Path, statement: str) -> None:
    path = tmp_path / "changed.lorepack"
    shutil.copy(demo_pack, path)
    with sqlite3.connect(path) as pack:
        assert pack.execute(statement).rowcount > 0
    assert "content" in problems(path)
    with pytest.raises(LorepackError, match="is damaged"):
        require_sound(path)


def test_verify_finds_a_missing_chunk_vector_and_word(tmp_path: Path, demo_pack: Path) -> None:
    path = tmp_path / "short.lorepack"
    shutil.copy(demo_pack, path)
    with sqlite3.connect(path) as pack:
        pack.execute("DELETE FROM vectors WHERE chunk_id = 1")
        pack.execute("DELETE FROM chunks_fts_docsize WHERE id = 2")
        pack.execute("UPDATE chunks SET page_id = 999 WHERE id = 3")
    assert {"vectors", "words", "references", "content"} <= set(problems(path))


def test_every_flipped_byte_of_text_is_found(tmp_path: Path, demo_pack: Path) -> None:
    """Flip bytes all over the file: verify says so, or the byte is no content (free space)."""
    original = demo_pack.read_bytes()
    text = b"Sealing is atomic"
    offsets = [original.index(text) + shift for shift in (0, 5, 11)]
    path = tmp_path / "flipped.lorepack"
    for offset in [*offsets, *range(4096, len(original), len(original) // 25)]:
        damaged = bytearray(original)
        damaged[offset] ^= 0x20
        path.write_bytes(damaged)
        try:
            found = problems(path)
        except LorepackError:
            continue
        if offset in offsets:
            assert "content" in found
        if not found:
            assert same_rows(path, demo_pack)


def same_rows(left: Path, right: Path) -> bool:
    def dump(path: Path) -> list[str]:
        tables = [
            "pages", "chunks", "vectors", "vector_planes", "edges", "nodes", "sqlar", "meta",
            "terms", "headings",
        ]  # fmt: skip
        pack = sqlite3.connect(path)
        return [repr(pack.execute(f"SELECT * FROM {table}").fetchall()) for table in tables]  # noqa: S608

    return dump(left) == dump(right)


def test_schema_explains_every_table() -> None:
    lines = (ROOT / "lorepack" / "lorepack" / "pack" / "schema.sql").read_text().split("\n")
    for number, line in enumerate(lines):
        if line.startswith("CREATE TABLE") or line.startswith("CREATE VIRTUAL"):
            explained = lines[number - 1].startswith("--") or "symbols" in line
            assert explained, line


def test_a_pack_without_a_model_is_whole_too(build: Callable[..., Built]) -> None:
    assert problems(build({"a.md": "# A\n\ntext"}).path) == {}
    assert problems(build({}).path) == {}
