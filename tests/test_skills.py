"""The skills: whole, true to the commands and tools that they name, as files and as prompts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

from lorepack.cli import cli
from lorepack.cli.config import option_names
from lorepack_server.packs.mount import mount_pack
from lorepack_server.skills import HERE, skills
from lorepack_server.tools.profiles import PROFILES
from tests.conftest import Built

ELEVEN = (
    "data-ingest", "graph-colorize", "impl-validator", "ingest-url", "wiki-agent", "wiki-capture",
    "wiki-export", "wiki-ingest", "wiki-rebuild", "wiki-research", "wiki-setup",
)  # fmt: skip


@pytest.fixture(scope="module")
def texts(demo_pack: Path) -> dict[str, str]:
    return {skill.name: skill.text for skill in skills(mount_pack(demo_pack), HERE)}


def test_all_eleven_are_there(texts: dict[str, str]) -> None:
    assert tuple(texts) == ELEVEN


@pytest.mark.parametrize("name", ELEVEN)
def test_a_skill_says_when_how_and_what_comes_out(texts: dict[str, str], name: str) -> None:
    head, _, body = texts[name].removeprefix("---\n").partition("\n---\n")
    front = yaml.safe_load(head)
    assert front["name"] == name and set(front) == {"name", "description"}
    assert "Use " in front["description"] and len(front["description"]) < 500
    headings = re.findall(r"^## (.+)$", re.sub(r"```.*?```", "", body, flags=re.DOTALL), re.M)
    assert [h for h in headings if h != "Rules"] == ["When to use", "Steps", "Output"]
    assert ("{{" not in texts[name] and "Lorepack demo" in texts[name]) or name == "wiki-setup"


def commands(text: str) -> Iterator[list[str]]:
    for line in re.findall(r"`(lorepack [^`\n]+)`|^\s*(lorepack .+)$", text, re.M):
        words = shlex.split("".join(line).split(" | ")[0])
        yield words[1:]


@pytest.mark.parametrize("name", ELEVEN)
def test_every_command_in_a_skill_exists_with_its_options(texts: dict[str, str], name: str) -> None:
    for words in commands(texts[name]):
        command: click.Command = cli
        while isinstance(command, click.Group) and words:
            found = command.get_command(click.Context(command), words.pop(0))
            assert found is not None, (name, words)
            command = found
        known = {
            *option_names(command),
            *(opt.lstrip("-") for p in command.params for opt in p.opts),
        }
        used = {word.lstrip("-") for word in words if word.startswith("-")}
        assert used <= known, (name, words)


@pytest.mark.parametrize("name", ELEVEN)
def test_every_tool_in_a_skill_exists(texts: dict[str, str], name: str) -> None:
    tools = {spec.name for spec in PROFILES["all"]}
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", texts[name]))
    assert named - tools <= {"compare_with", "code_ref"}, named - tools


def install(folder: Path, pack: Path, *options: str) -> Any:
    arguments = ["skills", "install", str(folder), "--pack", str(pack), *options]
    return CliRunner().invoke(cli, arguments, standalone_mode=False)


def test_skills_are_installed_filled_and_not_over_other_files(
    demo_pack: Path, tmp_path: Path
) -> None:
    first = install(tmp_path, demo_pack, "--endpoint", "http://127.0.0.1:8000/mcp/demo")
    assert len(first.output.splitlines()) == 11
    text = (tmp_path / "wiki-agent" / "SKILL.md").read_text()
    assert "<http://127.0.0.1:8000/mcp/demo>" in text and "1.0.0" not in text
    again = install(tmp_path, demo_pack, "--endpoint", "http://127.0.0.1:8000/mcp/demo")
    assert again.output == ""
    (tmp_path / "wiki-agent" / "SKILL.md").write_text("my own")
    refused = install(tmp_path, demo_pack)
    assert "use --force" in str(refused.exception)
    assert (tmp_path / "wiki-agent" / "SKILL.md").read_text() == "my own"
    assert len(install(tmp_path, demo_pack, "--force").output.splitlines()) >= 1
    assert "lorepack mcp" in (tmp_path / "wiki-agent" / "SKILL.md").read_text()


def test_skills_outlive_a_machine_and_a_version(demo_pack: Path, tmp_path: Path) -> None:
    install(tmp_path, demo_pack)
    for file in tmp_path.rglob("SKILL.md"):
        text = file.read_text()
        assert str(demo_pack.parent) not in text and "1.0.0" not in text.replace("example", "")


def test_a_hostile_title_stays_a_title(build: Callable[..., Built]) -> None:
    mount = build({"a.md": "x"}).mount()
    title = 'x"\n---\n# {{ name }} `rm`: y\n---'
    hostile = replace(mount, title=title, _first=mount.connection())
    for skill in skills(hostile, HERE):
        head = skill.text.removeprefix("---\n").partition("\n---\n")[0]
        assert set(yaml.safe_load(head)) == {"name", "description"}
        assert "\n# {{ name }}" not in skill.text


def test_the_list_is_for_people_and_machines(demo_pack: Path) -> None:
    done = CliRunner().invoke(cli, ["skills", "list", "--pack", str(demo_pack)])
    assert len(done.output.splitlines()) == 11
    as_json = CliRunner().invoke(cli, ["skills", "list", "--pack", str(demo_pack), "--json"])
    assert [row["name"] for row in yaml.safe_load(as_json.output)] == list(ELEVEN)
