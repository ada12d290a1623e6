"""What verify finds: flipped bytes, cut files, foreign schemas, forged digests; and signatures."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from lorepack.cli import cli
from lorepack.errors import LorepackError
from lorepack.pack.signature import require_signature, signature_file
from lorepack.pack.verify import verify_pack
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from lorepack_server.packs.library import Library
from tests.conftest import Built, run, serve, write_files, write_recipe

FLIPS = 500
"""Places in the pages of each table."""
PAGES = {
    "a.md": "---\ntags: [x, X]\naliases: [Aa]\n---\n# A\n\nOne. [[b]] [[Gone]] B said.\n",
    "b.md": "# B\n\n```mermaid\nflowchart TD\n  p --> q\n```\n\n" + "Many words. " * 400,
    "code.md": "`code` A and B, A and B.", "c.md": "A B", "d.md": "A B", "e.md": "B, A.",
}  # fmt: skip


def problems(path: Path) -> dict[str, str]:
    return {check.name: check.problem for check in verify_pack(path) if check.problem}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of two versions with something in every table that can have it, and no site."""
    folder = tmp_path_factory.mktemp("verify")
    vault = write_files(folder / "v", PAGES)
    (folder / "repo").mkdir()
    (folder / "repo" / "m.py").write_text('class Lid:\n    """A lid."""\n')
    extra = (
        f'[[source]]\nname = "r"\nkind = "folder"\npath = "{folder / "repo"}"\n'
        '[[dependency]]\necosystem = "pypi"\npackage = "flask"\n'
    )
    recipe = write_recipe(folder, vault, model="multilingual-e5-small", extra=extra)
    build_pack(read_recipe(recipe), folder, site=False)
    (vault / "c.md").write_text("A B C")
    recipe.write_text(recipe.read_text().replace('"1.0.0"', '"1.1.0"'))
    summary, _ = build_pack(read_recipe(recipe), folder, site=False)
    return Path(summary.pack)


def pages_of_tables(path: Path) -> dict[str, list[int]]:
    """The numbers of the pages that hold each table and its indexes."""
    owners = "SELECT coalesce(m.tbl_name, d.name), d.pageno FROM dbstat d LEFT JOIN sqlite_master m ON m.name = d.name"
    found: dict[str, list[int]] = {}
    with closing(sqlite3.connect(path)) as pack:
        try:
            for name, number in pack.execute(owners):
                found.setdefault(name, []).append(number)
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no dbstat")
    return found


def rows(path: Path) -> list[str]:
    """Everything that can be read from a pack, its settings too."""
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as pack:
        names = [
            r[0]
            for r in pack.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        ]
        dump = [repr(pack.execute("SELECT * FROM sqlite_master").fetchall())]
        dump += [
            repr(pack.execute(f"PRAGMA {p}").fetchall()) for p in ("user_version", "application_id")
        ]
        return dump + [repr(pack.execute(f'SELECT * FROM "{name}"').fetchall()) for name in names]  # noqa: S608


@pytest.mark.slow
def test_every_flip_that_changes_content_is_found(small: Path, tmp_path: Path) -> None:
    original, whole = small.read_bytes(), rows(small)
    assert problems(small) == {}
    lot, path = random.Random(1), tmp_path / "flipped.lorepack"
    unseen = 0
    for table, pages in sorted(pages_of_tables(small).items()):
        for _ in range(FLIPS):
            place = (lot.choice(pages) - 1) * 4096 + lot.randrange(4096)
            damaged = bytearray(original)
            damaged[place] ^= 1 << lot.randrange(8)
            path.write_bytes(damaged)
            try:
                found = problems(path)
            except LorepackError:
                continue
            if not found:
                unseen += 1
                assert rows(path) == whole, (table, place)
    # Free space between rows is no content; most of a small pack is that.
    assert unseen


@pytest.mark.parametrize("cut", [1, 4095, 4096, 9000, -1, -4096])
def test_a_file_of_another_length_is_found(small: Path, tmp_path: Path, cut: int) -> None:
    original = small.read_bytes()
    path = tmp_path / "cut.lorepack"
    path.write_bytes(original[:-cut] if cut > 0 else original + b"\0" * -cut)
    with suppress(LorepackError):
        assert problems(path)


FOREIGN = {
    "table": "CREATE TABLE extra (x)",
    "view": "CREATE VIEW hidden AS SELECT * FROM pages",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON pages BEGIN SELECT 1; END",
    "index": "CREATE INDEX i ON pages (title)",
    "column": "ALTER TABLE pages ADD COLUMN x TEXT",
    "view instead of a table": "DROP TABLE findings; CREATE VIEW findings AS SELECT 1 AS id",
    "dropped": "DROP TABLE suggestions",
}


@pytest.mark.parametrize("sql", FOREIGN.values(), ids=FOREIGN)
def test_a_schema_that_is_not_the_formats_is_found(small: Path, tmp_path: Path, sql: str) -> None:
    path = tmp_path / "foreign.lorepack"
    shutil.copy(small, path)
    with closing(sqlite3.connect(path)) as pack:
        pack.executescript(sql)
    found = problems(path)
    assert "schema" in found and "content" not in found


def test_a_write_ahead_log_is_no_part_of_a_pack(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "wal.lorepack"
    shutil.copy(small, path)
    with closing(sqlite3.connect(path)) as pack:
        pack.execute("PRAGMA journal_mode = WAL")
    assert "file" in problems(path)


def test_a_forged_digest_is_found_by_who_knows_the_right_one(small: Path, tmp_path: Path) -> None:
    from lorepack.pack.digest import content_digest

    path = tmp_path / "forged.lorepack"
    shutil.copy(small, path)
    with closing(sqlite3.connect(path)) as pack:
        (right,) = pack.execute("SELECT value FROM meta WHERE key = 'content_digest'").fetchone()
        pack.execute("UPDATE meta SET value = ? WHERE key = 'content_digest'", ("0" * 64,))
        pack.commit()
        assert "content" in problems(path)
        pack.execute("UPDATE pages SET title = 'Forged' WHERE id = 1")
        digest = content_digest(pack)
        pack.execute("UPDATE meta SET value = ? WHERE key = 'content_digest'", (digest,))
        pack.commit()
    assert problems(path) == {}
    done = CliRunner().invoke(cli, ["verify", str(path), "--digest", right])
    assert done.exit_code == 1 and f"is {digest}" in done.output
    assert CliRunner().invoke(cli, ["verify", str(small), "--digest", right]).exit_code == 0


# Signatures


@pytest.fixture
def signed(small: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A signed pack, and the public key."""
    pack = tmp_path / small.name
    shutil.copy(small, pack)
    run("keygen", tmp_path / "key")
    run("sign", pack, "--key", tmp_path / "key")
    return pack, tmp_path / "key.pub"


def test_a_signature_holds_for_its_pack_and_key_alone(
    signed: tuple[Path, Path], tmp_path: Path
) -> None:
    pack, public = signed
    assert "test 1.1.0 content:" in require_signature(pack, str(public))
    assert "signature   ok" in run("verify", pack, "--key", public)
    text = public.read_text().splitlines()[1]
    assert "signature   ok" in run("verify", pack, "--key", text)
    run("keygen", tmp_path / "other")
    with pytest.raises(LorepackError, match="not what was signed by this key"):
        require_signature(pack, str(tmp_path / "other.pub"))
    with pack.open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 1]))
    with pytest.raises(LorepackError, match="not what was signed"):
        require_signature(pack, str(public))


@pytest.mark.parametrize("damage", ["comment", "cut", "gone", "text"])
def test_a_signature_that_is_none_is_refused(signed: tuple[Path, Path], damage: str) -> None:
    pack, public = signed
    file = signature_file(pack)
    text = file.read_text()
    if damage == "gone":
        file.unlink()
    else:
        file.write_text(
            {"comment": text.replace("1.1.0", "1.2.0"), "cut": text[:60], "text": "x"}[damage]
        )
    done = CliRunner().invoke(cli, ["verify", str(pack), "--key", str(public)])
    assert (
        done.exit_code == 1
        and "signature   " in done.output
        and "signature   ok" not in done.output
    )


def test_a_key_has_a_password_and_is_never_overwritten(small: Path, tmp_path: Path) -> None:
    pack = tmp_path / small.name
    shutil.copy(small, pack)
    (tmp_path / "password").write_text("open sesame\n")
    run("keygen", tmp_path / "key", "--password-file", tmp_path / "password")
    assert (tmp_path / "key").stat().st_mode & 0o77 == 0
    again = CliRunner().invoke(cli, ["keygen", str(tmp_path / "key")], standalone_mode=False)
    assert "already" in str(again.exception)
    without = ["sign", str(pack), "--key", str(tmp_path / "key")]
    assert isinstance(
        CliRunner().invoke(cli, without, standalone_mode=False).exception, LorepackError
    )
    run(*without, "--password-file", tmp_path / "password")
    require_signature(pack, str(tmp_path / "key.pub"))


def test_minisign_itself_agrees(signed: tuple[Path, Path], tmp_path: Path) -> None:
    if shutil.which("minisign") is None:
        pytest.skip("minisign is not installed")
    pack, public = signed
    subprocess.run(["minisign", "-V", "-q", "-p", str(public), "-m", str(pack)], check=True)
    subprocess.run(["minisign", "-G", "-W", "-f", "-p", str(tmp_path / "m.pub"), "-s", str(tmp_path / "m.key")],
                   check=True, capture_output=True)  # fmt: skip
    subprocess.run(["minisign", "-S", "-s", str(tmp_path / "m.key"), "-m", str(pack)], check=True,
                   capture_output=True)  # fmt: skip
    require_signature(pack, str(tmp_path / "m.pub"))


def test_a_server_mounts_signed_packs_only(
    signed: tuple[Path, Path], build: Callable[..., Built], tmp_path: Path
) -> None:
    pack, public = signed
    folder = tmp_path / "served"
    folder.mkdir()
    shutil.copy(pack, folder)
    shutil.copy(signature_file(pack), folder)
    shutil.copy(build({"a.md": "x"}).path, folder / "unsigned-1.lorepack")
    library = Library([folder], str(public))
    library.open()
    assert [(m.name, m.version) for m in library.shelf.newest()] == [("test", "1.1.0")]
    with serve(folder, options=["--require-signature", str(public)]) as address:
        import urllib.request

        assert b"1.1.0" in urllib.request.urlopen(f"{address}/").read()
    with pytest.raises(LorepackError, match="no signature"):
        Library([folder / "unsigned-1.lorepack"], str(public)).open()
    mcp = CliRunner().invoke(
        cli, ["mcp", str(folder / "unsigned-1.lorepack"), "--require-signature", str(public)],
        standalone_mode=False,
    )  # fmt: skip
    assert "no signature" in str(mcp.exception)
