"""What is refused, and in which words: one sentence that names the thing, and the remedy."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lorepack.cli import cli
from lorepack.clients.obsidian import merged, read_settings, write_settings
from lorepack.pack import delta, signature, site, verify
from lorepack.pack.diff import diff_packs
from lorepack.pack.inspect import inspect_pack
from lorepack.pack.open import open_pack
from lorepack.util.replace import replaced_folder
from tests.conftest import told


@pytest.fixture
def changed(demo_pack: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A copy of the pack on which SQL was run."""

    def change(sql: str) -> Path:
        path = tmp_path / "changed.lorepack"
        shutil.copy(demo_pack, path)
        with closing(sqlite3.connect(path)) as pack:
            pack.executescript(sql)
        return path

    return change


# Packs


def test_files_that_are_no_packs(tmp_path: Path, changed: Callable[[str], Path]) -> None:
    gone = tmp_path / "gone"
    assert told(open_pack, gone) == f"{gone} does not exist: give the path of a .lorepack file"
    (tmp_path / "x").write_text("x")
    assert told(open_pack, tmp_path / "x") == (
        f"{tmp_path / 'x'} is no Lorepack pack: build one with `lorepack build`"
    )
    newer = changed("PRAGMA user_version = 2")
    assert told(open_pack, newer) == (
        f"{newer} has pack format 2, this Lorepack reads format 1: install a newer Lorepack"
    )
    older = changed("PRAGMA user_version = 0")
    assert told(open_pack, older).endswith("reads format 1: build the pack again")
    strange = changed("CREATE TABLE b (x); CREATE TABLE a (x); DROP TABLE concepts")
    assert told(open_pack, strange) == (
        f"{strange} is damaged (schema: differs from format 1: a, b, concepts): "
        "fetch or build it again"
    )


@pytest.mark.parametrize(
    ("sql", "name", "says"),
    [
        ("UPDATE chunks SET page_id = 999 WHERE id = 3", "references",
         r"chunks row 3 points nowhere in pages"),
        ("DELETE FROM chunks_fts_docsize WHERE id = 2", "words",
         r"(\d+) chunks, (\d+) in the words index"),
        ("DELETE FROM vectors WHERE chunk_id = 1", "vectors", r"(\d+) chunks, (\d+) vectors"),
        ("UPDATE vectors SET vector = x'00' WHERE chunk_id = 1", "vectors",
         r"a vector has not 384 dimensions"),
        ("DELETE FROM vector_planes WHERE plane = 0", "vectors",
         r"the vector planes do not fit the chunks"),
        ("UPDATE vector_planes SET bits = x'00' WHERE plane = 5", "vectors",
         r"the vector planes do not fit the chunks"),
        ("UPDATE pages SET title = 'x' WHERE id = 1", "content",
         r"content_digest is [0-9a-f]{12}…, the pack says [0-9a-f]{12}…"),
        ("DELETE FROM meta WHERE key = 'embedder'", "vectors",
         r"cannot be read \('meta has no embedder'\)"),
        ("UPDATE meta SET value = 'x' WHERE key = 'index_digest'", "words",
         r"index_digest is [0-9a-f]{12}…, the pack says x…"),
    ],
)  # fmt: skip
def test_what_verify_says(changed: Callable[[str], Path], sql: str, name: str, says: str) -> None:
    path = changed(f"PRAGMA foreign_keys = OFF; {sql}")
    found = {check.name: check.problem for check in verify.verify_pack(path)}
    match = re.fullmatch(says, found[name])
    assert match, found
    if match.groups():
        assert int(match[1]) == int(match[2]) + 1
    assert list(found) == ["file", "schema", "integrity", "references", "words", "vectors",
                           "content"]  # fmt: skip
    first, problem = next((n, p) for n, p in found.items() if p)
    assert told(verify.require_sound, path) == (
        f"{path} is damaged ({first}: {problem}): fetch or build it again"
    )


def test_what_verify_says_of_the_file_itself(demo_pack: Path, tmp_path: Path) -> None:
    data = demo_pack.read_bytes()
    path = tmp_path / "x.lorepack"

    def problem(content: bytes) -> str:
        path.write_bytes(content)
        return verify.verify_pack(path)[0].problem

    pages = len(data) // 4096
    assert problem(data + b"\0") == f"has {len(data) + 1} bytes, and {pages} pages of 4096"
    assert problem(data[:72] + b"\1" + data[73:]) == "its header has bytes where there are none"
    assert problem(data[:91] + b"\1" + data[92:]) == "its header has bytes where there are none"
    assert problem(data[:18] + b"\2\2" + data[20:]) == "its header asks for a write-ahead log"
    assert problem(data) == ""


def test_facts_that_are_missing(changed: Callable[[str], Path], tmp_path: Path) -> None:
    path = changed("DELETE FROM meta WHERE key = 'content_digest'")
    assert told(verify.content_digest_of, path) == (
        f"{path} is damaged ('meta has no content_digest'): fetch or build it again"
    )
    path = changed("DELETE FROM meta WHERE key = 'counts'")
    assert told(inspect_pack, path) == (
        f"{path} is damaged ('counts'): run `lorepack verify` on it"
    )
    path = changed("DELETE FROM meta WHERE key = 'name'")
    signature.new_keys(tmp_path / "key", None)
    assert told(signature.sign_pack, path, tmp_path / "key", None) == (
        f"{path} is damaged ('name'): build it again"
    )


def test_a_pack_whose_rows_cannot_be_read_is_damaged(demo_pack: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.lorepack"
    with closing(sqlite3.connect(demo_pack)) as pack:
        sql = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        roots = [pack.execute(sql, (name,)).fetchone()[0] for name in ("pages", "meta")]
    data = bytearray(demo_pack.read_bytes())
    for root in roots:
        data[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    path.write_bytes(data)
    assert re.fullmatch(
        rf"{path} is damaged \(.*malformed\): run `lorepack verify`", told(diff_packs, path, path)
    )
    for look in (inspect_pack, verify.content_digest_of):
        assert f"{path} is damaged (" in told(look, path)
    signature.new_keys(tmp_path / "key", None)
    assert "is damaged (" in told(signature.sign_pack, path, tmp_path / "key", None)


# Signatures


def test_keys_and_signatures(
    demo_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = tmp_path / "p.lorepack"
    shutil.copy(demo_pack, pack)
    key, public = tmp_path / "key", tmp_path / "key.pub"
    assert signature.new_keys(key, None) == public
    assert told(signature.new_keys, key, None) == f"{key} is there already: give another name"
    key.unlink()
    assert told(signature.new_keys, key, None) == f"{public} is there already: give another name"
    nowhere = tmp_path / "no" / "key"
    assert re.fullmatch(rf"{nowhere} cannot be written \(.*\): check its folder",
                        told(signature.new_keys, nowhere, None))  # fmt: skip
    assert re.fullmatch(
        rf"{key} does not sign \(.*\): give a minisign secret key and its password",
        told(signature.sign_pack, pack, key, None),
    )
    assert told(signature.require_signature, pack, str(public)) == (
        f"{pack} has no signature: {pack}.minisig is missing"
    )
    assert re.fullmatch(r"nokey is no minisign public key \(.*\): give its file or its text",
                        told(signature.require_signature, pack, "nokey"))  # fmt: skip
    other = signature.new_keys(tmp_path / "other", None)
    signature.sign_pack(pack, tmp_path / "other", None)
    assert re.fullmatch(
        rf"{pack} is not what was signed by this key \(.+\): fetch it again, or check the key",
        told(signature.require_signature, pack, str(public)),
    )
    signature.require_signature(pack, str(other))
    signature.signature_file(pack).unlink()
    signature.signature_file(pack).mkdir()
    assert re.fullmatch(rf"{pack}\.minisig cannot be written \(.*\): check its folder",
                        told(signature.sign_pack, pack, tmp_path / "other", None))  # fmt: skip
    monkeypatch.setitem(sys.modules, "minisign", None)
    assert told(signature.new_keys, key, None) == (
        "signatures need the extra `sign`: pip install 'lorepack[sign]'"
    )


def test_a_password_file_that_cannot_be_read(tmp_path: Path) -> None:
    command = ["keygen", str(tmp_path / "k"), "--password-file", str(tmp_path / "none")]
    done = CliRunner().invoke(cli, command, standalone_mode=False)
    assert re.fullmatch(rf"{tmp_path}/none cannot be read \(.*\): check the file",
                        str(done.exception))  # fmt: skip


# Deltas


def test_deltas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, made, gone = (tmp_path / name for name in ("old", "new", "delta", "gone"))
    old.write_bytes(b"old " * 99)
    new.write_bytes(b"new " * 99)
    delta.make_delta(old, new, made)
    assert made.read_bytes().startswith(b'{"lorepack-delta": 1, "from": "')
    assert delta.joinable(old, new)
    assert "cannot be made (" in told(delta.make_delta, old, gone, made)
    assert "cannot be read (" in told(delta.read_header, gone)
    assert told(delta.read_header, old) == (
        f"{old} is no delta of packs: give a file made as *.lorepack-delta"
    )
    assert told(delta.apply_delta, new, made, tmp_path / "x") == (
        f"{made} is no delta of {new}: give the file it was made of"
    )
    head, _, frame = made.read_bytes().partition(b"\n")
    facts = json.loads(head)
    made.write_bytes(json.dumps({**facts, "to": "0" * 64}).encode() + b"\n" + frame)
    assert told(delta.apply_delta, old, made, tmp_path / "x") == (
        f"{made} is damaged: fetch it again, or the whole pack"
    )
    made.write_bytes(json.dumps({**facts, "bytes": 5}).encode() + b"\n" + frame)
    assert told(delta.apply_delta, old, made, tmp_path / "x") == (
        f"{made} cannot be applied (it holds more than it says): fetch the pack"
    )
    monkeypatch.setattr(delta, "MAX_BYTES", 300)
    assert not delta.joinable(old, new)
    assert told(delta.make_delta, old, new, made) == (
        f"{old} has 396 bytes; deltas are made of files up to 300: fetch the whole pack"
    )
    monkeypatch.setattr(delta, "MAX_BYTES", 396)
    assert delta.joinable(old, new)


# Folders, sites, settings


def test_folders_that_are_not_replaced(tmp_path: Path) -> None:
    def replace_it(folder: Path) -> None:
        with replaced_folder(folder, "sign", "site") as new:
            (new / "sign").write_text("new")

    (tmp_path / "file").write_text("x")
    assert told(replace_it, tmp_path / "file") == f"{tmp_path}/file is no folder: give another"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a").write_text("x")
    assert told(replace_it, tmp_path / "mine") == (
        f"{tmp_path}/mine is not empty, and no site: give a new or empty folder"
    )
    assert re.fullmatch(rf"{tmp_path}/file/x cannot be written \(.*\): check its folder",
                        told(replace_it, tmp_path / "file" / "x"))  # fmt: skip
    for _ in range(2):
        replace_it(tmp_path / "a" / "new")
    assert [path.name for path in (tmp_path / "a").rglob("*")] == ["new", "sign"]


@pytest.mark.parametrize("name", ["../x", "a//b", "./x", "a/..", "a\\b", "a\0b", "", "/x"])
def test_names_that_would_leave_a_site(tmp_path: Path, name: str) -> None:
    assert told(site.put_site, [("a", b""), (name, b"")], tmp_path / "site") == (
        f"the site's file {name!r} would leave it: do not trust this pack"
    )
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize(
    ("size", "data", "problem"),
    [(5, b"xx", r" \(.+\)"), ("5", b"xxxxx", ""), (2, "xx", ""), (9, b"x\x9c\x03\0\0\0\0\1", ""),
     (1 << 70, b"x", "")],
)  # fmt: skip
def test_files_of_a_site_that_are_none(size: Any, data: Any, problem: str) -> None:
    said = told(lambda: site.SiteFile(size, data).plain())
    assert re.fullmatch(rf"a file of the site is damaged{problem}: run `lorepack verify`", said)


def test_graph_settings(tmp_path: Path) -> None:
    none = tmp_path / "none"
    assert told(read_settings, none) == f"{none} is no folder: give the folder of an Obsidian vault"
    assert read_settings(tmp_path) == {}
    file = tmp_path / ".obsidian" / "graph.json"
    write_settings(tmp_path, {"a": "ü"})
    assert file.read_text() == '{\n  "a": "ü"\n}' and read_settings(tmp_path) == {"a": "ü"}
    assert not file.with_suffix(".json.bak").exists()
    file.write_text("[]")
    assert told(read_settings, tmp_path) == f"{file} is no object: mend or remove it"
    file.write_text("{")
    assert re.fullmatch(rf"{file} cannot be read \(.*\): mend or remove it",
                        told(read_settings, tmp_path))  # fmt: skip
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / ".obsidian").write_text("a file")
    assert re.fullmatch(rf"{tmp_path}/v/.obsidian/graph.json cannot be written \(.*\): check its f.*",
                        told(write_settings, tmp_path / "v", {}))  # fmt: skip
    groups = [{"query": "q", "color": 1}, {"query": "r", "color": 2}]
    assert merged({"colorGroups": ["odd", {"query": "q", "color": 9}], "x": 1}, groups) == {
        "x": 1, "colorGroups": [{"query": "q", "color": 9}, {"query": "r", "color": 2}],
    }  # fmt: skip
