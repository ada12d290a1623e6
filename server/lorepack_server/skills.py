"""The skills: how an agent keeps a wiki, as files to install and as MCP prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import yaml
from jinja2 import Environment, StrictUndefined

from lorepack.errors import LorepackError
from lorepack.pack.format import SUFFIX
from lorepack_server.packs.mount import Mount

HERE = "this server's tools (profile `all`)"
"""The endpoint in a skill that the server itself hands out."""
FILE = "SKILL.md"


@dataclass(frozen=True)
class Skill:
    """A skill, filled: ``text`` is the whole file, ``body`` what follows its front matter."""

    name: str
    description: str
    text: str
    body: str


def skills(mount: Mount, endpoint: str) -> list[Skill]:
    """Return all skills, filled for a pack, in the order of their names.

    Args:
        endpoint: where its tools are, in words.
    """
    values = {
        "name": mount.name,
        "title": " ".join(mount.title.split())[:100],
        "endpoint": endpoint,
        "recipe": f"packs/{mount.name}.toml",
        # Where a build puts it: a skill is kept with a project, and outlives machines and versions.
        "pack": _pack_of_any_version(mount),
    }
    return [_skill(template, values) for template in _templates()]


def stdio_endpoint(mount: Mount) -> str:
    """Return the server of a pack's tools over stdio, as `lorepack install` names it."""
    command = f"lorepack mcp {_pack_of_any_version(mount)} --tools all"
    return f"the MCP server lorepack-{mount.name} (`{command}`)"


def _pack_of_any_version(mount: Mount) -> str:
    return f"out/{mount.name}-VERSION{SUFFIX}"


def install_skills(mount: Mount, folder: Path, endpoint: str, *, force: bool) -> list[Path]:
    """Write ``folder``/<skill>/SKILL.md for every skill; return what is new or differs.

    Raises:
        LorepackError: a file with other content is there and ``force`` is not said, or the folder
            cannot be written; then nothing was written.
    """
    texts = {folder / skill.name / FILE: skill.text for skill in skills(mount, endpoint)}
    changed = {path: text for path, text in texts.items() if _current(path) != text}
    other = [path for path in changed if path.exists()]
    if other and not force:
        raise LorepackError(
            f"{len(other)} skills differ from what is there; the first is {other[0]}",
            "look at them, then use --force",
        )
    try:
        for path, text in changed.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LorepackError(f"{folder} cannot be written ({error})", "check it") from error
    return list(changed)


def _current(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _skill(template: str, values: dict[str, str]) -> Skill:
    # The front matter is YAML: a title must not end its text.
    head, _, body = template.removeprefix("---\n").partition("\n---\n")
    facts = yaml.safe_load(head)
    description = _environment().from_string(facts["description"]).render(values)
    filled = _environment().from_string(body).render(values)
    front = yaml.safe_dump(
        {"name": facts["name"], "description": description}, allow_unicode=True, sort_keys=False,
        width=1_000_000,
    )  # fmt: skip
    return Skill(facts["name"], description, f"---\n{front}---\n{filled}", filled)


@cache
def _environment() -> Environment:
    # Markdown: there is nothing to escape for HTML.
    return Environment(undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701


@cache
def _templates() -> Sequence[str]:
    folder = files("lorepack_templates") / "skills"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".md")), key=lambda f: f.name)
    return tuple(file.read_text(encoding="utf-8") for file in found)
