"""Packs in the configuration of agents: nothing else in their files changes."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from lorepack.cli import cli
from lorepack.clients import jsonc, planned, write
from lorepack.clients.edit import read_servers
from lorepack.clients.targets import TARGETS
from lorepack.errors import LorepackError
from tests.conftest import Built

Build = Callable[..., Built]
CASES = [
    (name, scope)
    for name, target in TARGETS.items()
    for scope in ("user", "project")
    if (target.user if scope == "user" else target.project)
]


@pytest.fixture
def pack(build: Build) -> Path:
    return build({"a.md": "x"}).path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(a) for a in arguments])


def servers(target: str, file: Path) -> dict[str, Any]:
    scope = "project" if "/mcpServers/" in str(file) else "user"
    form = TARGETS[target].form_of(scope)
    return read_servers(file.read_text(), form, TARGETS[target].path)


FORMS = {
    "JSON": ('{\n    "%s": {\n        "mine": {"command": "x"}\n    },\n\t"other" :  [1]\n}',
             "{}", "{ }\n\n", '{\r\n  "%s": {}\r\n}\r\n', '{"%s":{"lorepack-test":{"command":"old"}}}'),
    "TOML": ('a = 1   # one\n\n[%s.mine]\ncommand = "x"\n', "", "\n\n# only a comment", 'a=1'),
    "YAML": ("# mine\n%s:\n    mine:\n        cmd: x   # so\n\n\nlast: [1]\n", "", "%s: {}\n", "a: 1",
             "%s:\n  # nothing yet\na: 2\n"),
    "YAML list": ("name: mine\n%s:\n- name: x\n  command: y   # so\n\nmodels: []\n", "", "%s: []\n",
                  "a: 1", "%s:\n    - name: x\n      url: z\n  # the end\n"),
}  # fmt: skip
"""What users may have in their files, by form."""
WRITTEN = [
    (name, text % tuple([".".join(target.path)] * text.count("%s")))
    for name, target in TARGETS.items()
    for text in FORMS[target.form]
]


@pytest.mark.parametrize(("target", "scope"), CASES)
def test_every_target_is_written_and_taken_back(
    pack: Path, home: Path, tmp_path: Path, target: str, scope: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    where = ["--target", target, "--scope", scope, "--project", str(project)]
    file = TARGETS[target].file(scope, project, home, "lorepack-test")
    assert run("install", pack, *where, "--dry-run").exit_code == 0 and not file.exists()
    done = run("install", pack, *where)
    assert done.exit_code == 0 and f"+++ {file}" in done.output
    entry = servers(target, file)["lorepack-test"]
    command = entry.get("command") or entry["cmd"]
    command = command if isinstance(command, list) else [command, *entry["args"]]
    assert command[1:] == ["mcp", str(pack)] and Path(command[0]).name.startswith("lorepack")
    assert "nothing to change" in run("install", pack, *where).output
    assert run("uninstall", "lorepack-test", *where).exit_code == 0
    assert not file.exists()
    assert "nothing to change" in run("uninstall", "lorepack-test", *where).output


@pytest.mark.parametrize(("target", "text"), WRITTEN)
def test_a_file_that_nothing_else_changed_is_given_back(
    pack: Path, home: Path, tmp_path: Path, target: str, text: str
) -> None:
    """Byte for byte, whatever was in it, and in whichever order servers go."""
    for first, second in (("one", "two"), ("two", "one")):
        scope = "user" if TARGETS[target].user else "project"
        where = ["--target", target, "--scope", scope, "--project", str(tmp_path)]
        file = TARGETS[target].file(scope, tmp_path, home, "one")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        for name in ("one", "two"):
            assert run("install", pack, *where, "--name", name).exit_code == 0
        assert "one" in servers(target, file)
        for name in (first, second):
            assert run("uninstall", name, *where).exit_code == 0
        assert file.read_bytes() == text.encode()
        assert file.with_name(f"{file.name}.bak").read_bytes() == text.encode()


def test_the_first_backup_is_never_overwritten(pack: Path, tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    where = ["--target", "claude-code", "--project", str(tmp_path)]
    file.write_text('{"first": 1}')
    run("install", pack, *where)
    file.write_text('{"second": 2}')
    run("install", pack, *where)
    assert (tmp_path / ".mcp.json.bak").read_text() == '{"first": 1}'
    assert (tmp_path / ".mcp.json.bak.1").read_text() == '{"second": 2}'
    run("uninstall", "lorepack-test", *where)
    assert file.read_text() == '{"second": 2}'


def test_what_was_changed_since_is_kept(pack: Path, tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    where = ["--target", "claude-code", "--project", str(tmp_path)]
    file.write_text('{"first": 1}')
    run("install", pack, *where)
    file.write_text(file.read_text().replace('"first": 1', '"first": 2'))
    run("uninstall", "lorepack-test", *where)
    assert json.loads(file.read_text())["first"] == 2
    assert servers("claude-code", file) == {}


@pytest.mark.parametrize("target", TARGETS)
def test_a_servers_address_is_installed(home: Path, tmp_path: Path, target: str) -> None:
    scope = "user" if TARGETS[target].user else "project"
    where = ["--target", target, "--scope", scope, "--project", str(tmp_path)]
    address = "http://127.0.0.1:8000/mcp/notes"
    assert run("install", address, *where).exit_code == 0
    file = TARGETS[target].file(scope, tmp_path, home, "lorepack-notes")
    assert address in servers(target, file)["lorepack-notes"].values()


def test_a_pulled_pack_is_installed_by_its_name(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written names no version, so that the next one that is pulled is served."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "data" / "lorepack" / "packs"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(pack, folder / "test-1.0.0.lorepack")
    assert run("install", "test", "--target", "cursor", "--project", tmp_path).exit_code == 0
    entry = servers("cursor", tmp_path / ".cursor" / "mcp.json")["lorepack-test"]
    assert entry["args"] == ["mcp", "test"]
    unknown = CliRunner().invoke(
        cli, ["install", "none", "--target", "cursor"], standalone_mode=False
    )
    assert "no pulled pack of that name" in str(unknown.exception)


@pytest.mark.parametrize("target", ["windsurf", "antigravity", "goose"])
def test_a_scope_that_an_agent_has_not(pack: Path, tmp_path: Path, target: str) -> None:
    with pytest.raises(LorepackError, match="use --scope user"):
        TARGETS[target].file("project", tmp_path, tmp_path)


def test_an_installed_server_starts(pack: Path, tmp_path: Path) -> None:
    """What is written is what an agent runs: it answers over stdio."""
    import asyncio

    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    run("install", pack, "--target", "claude-code", "--project", tmp_path, "--tools", "all")
    entry = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["lorepack-test"]

    async def ask() -> int:
        server = StdioServerParameters(command=entry["command"], args=entry["args"])
        async with Client(server) as client:
            return len((await client.list_tools()).tools)

    assert asyncio.run(ask()) == 14


JSONC = """\
{
  // what I like
  "theme": "dark", /* really */
  "servers": {
    "mine": {
      "command": "x" // mine
    },
  },
  "url": "http://x//y", // no comment in a text
}
"""


def test_comments_and_others_are_kept(pack: Path, tmp_path: Path) -> None:
    file = tmp_path / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_text(JSONC)
    run("install", pack, "--target", "vscode", "--project", tmp_path)
    text = file.read_text()
    for kept in JSONC.splitlines():
        assert kept in text
    assert jsonc.parse(text)["servers"]["mine"] == {"command": "x"}
    assert (file.with_name("mcp.json.bak")).read_text() == JSONC
    run("uninstall", "lorepack-test", "--target", "vscode", "--project", tmp_path)
    assert file.read_text() == JSONC


TOML = """\
# my own
model = "o3"  # the best

[mcp_servers.mine]
command = "x"  # mine

[profiles.deep]
effort = "high"
"""


def test_toml_keeps_its_comments(pack: Path, tmp_path: Path) -> None:
    file = tmp_path / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(TOML)
    run("install", pack, "--target", "codex", "--project", tmp_path)
    text = file.read_text()
    for kept in TOML.splitlines():
        assert kept in text
    assert set(tomllib.loads(text)["mcp_servers"]) == {"mine", "lorepack-test"}
    run("uninstall", "lorepack-test", "--target", "codex", "--project", tmp_path)
    assert tomllib.loads(file.read_text()) == tomllib.loads(TOML)
    assert "# my own" in file.read_text()


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', '{"a": 1 "b": 2}', "nonsense",
                                  '{"mcpServers": {}} extra', "[" * 5000])  # fmt: skip
def test_what_is_no_configuration_is_left_alone(pack: Path, tmp_path: Path, text: str) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text(text)
    done = CliRunner().invoke(
        cli, ["install", str(pack), "--target", "claude-code", "--project", str(tmp_path)],
        standalone_mode=False,
    )  # fmt: skip
    assert isinstance(done.exception, LorepackError) and "mend it first" in str(done.exception)
    assert file.read_text() == text


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    change = planned(TARGETS["cursor"], "project", tmp_path, tmp_path, "x", ["lorepack"])
    change.file.parent.mkdir()
    change.file.write_text('{"mcpServers": {"new": {}}}')
    with pytest.raises(LorepackError, match="another program"):
        write(change)


def test_links_are_followed_and_modes_kept(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o600)
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").symlink_to(real)
    write(planned(TARGETS["cursor"], "project", tmp_path, tmp_path, "x", ["lorepack"]))
    assert "mcpServers" in real.read_text() and real.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / ".cursor" / "mcp.json").is_symlink()


# JSON with comments


NAMES = st.text(min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)
COMMENT = '/* { " } */ // , ]'


def commented(data: Any, indent: int | None) -> str:
    """JSON with a comment after every line."""
    lines = json.dumps(data, indent=indent, ensure_ascii=False).split("\n")
    return "".join(f"{line} {COMMENT}\n" for line in lines)


@given(OBJECTS, NAMES, NAMES, OBJECTS, st.sampled_from([None, 2, 4]))
@settings(max_examples=200, deadline=None)
def test_a_member_is_set_and_taken_out_and_nothing_else(
    data: dict[str, Any], outer: str, inner: str, value: dict[str, Any], indent: int | None
) -> None:
    if outer in data and not isinstance(data[outer], dict):
        return
    text = commented(data, indent)
    changed = jsonc.put(text, (outer, inner), value)
    assert jsonc.parse(changed) == {**data, outer: {**data.get(outer, {}), inner: value}}
    assert jsonc.put(changed, (outer, inner), value) == changed
    if inner not in data.get(outer, {}):
        assert changed.count(COMMENT) == text.count(COMMENT)
    gone = jsonc.remove(changed, (outer, inner))
    left = {name: item for name, item in data.get(outer, {}).items() if name != inner}
    assert jsonc.parse(gone) == {**data, outer: left}


@given(st.text(alphabet='{}[]",:/* \n\\01tx', max_size=40))
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = jsonc.parse(text)
    except ValueError:
        return
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL) if '"' not in text else None
    if plain is not None and not re.search(r",\s*[\]}]", plain):
        assert json.loads(plain) == value
