"""``pyproject.toml`` (PEP 621, 735, Poetry) and ``requirements.txt`` (PEP 508)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from lorepack.manifests.model import Wanted
from lorepack.manifests.read import read_text, read_toml
from lorepack.manifests.repos import repo_of_url
from lorepack.util.untrusted import tables, texts

_OPTION = re.compile(r"\s+--?[a-z-]+(?:[= ].*)?$")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_VERSION = re.compile(r"\s*[\w.-]+\s*(?:\[[^\]]*\])?\s*\(?([^;@)]*)")
"""What a requirement says of versions, as written."""
_MAX_INCLUDED = 20


def pyproject(path: Path) -> Iterator[Wanted]:
    """Yield what a project needs, in its extras and groups too."""
    data = read_toml(path)
    project = tables(data.get("project"))
    yield from _all(texts(project.get("dependencies")))
    for extra in tables(project.get("optional-dependencies")).values():
        yield from _all(texts(extra))
    for group in tables(data.get("dependency-groups")).values():
        yield from _all(texts(group))
    poetry = tables(tables(data.get("tool")).get("poetry"))
    yield from _poetry(tables(poetry.get("dependencies")))
    yield from _poetry(tables(poetry.get("dev-dependencies")))
    for group in tables(poetry.get("group")).values():
        yield from _poetry(tables(tables(group).get("dependencies")))


def requirements(path: Path, seen: frozenset[Path] = frozenset()) -> Iterator[Wanted]:
    """Yield what a requirements file asks for; files beside it that it includes too."""
    if path in seen or len(seen) > _MAX_INCLUDED:
        return
    text = re.sub(r"\\\r?\n", " ", read_text(path))
    for raw in text.splitlines():
        line = _COMMENT.sub("", raw).strip()
        if match := re.fullmatch(r"(?:-r|--requirement)[ =]?\s*(\S+)", line):
            included = path.parent / match[1]
            # What it includes lies below it, or is none of ours.
            if included.resolve().is_relative_to(path.parent.resolve()) and included.is_file():
                yield from requirements(included, seen | {path})
        elif line.startswith(("-e ", "--editable")):
            yield from _from_url(line.split(None, 1)[-1])
        elif line and not line.startswith("-"):
            yield from _one(_OPTION.sub("", line))


def _all(lines: list[str]) -> Iterator[Wanted]:
    for line in lines:
        yield from _one(line)


def _one(line: str) -> Iterator[Wanted]:
    """Read one requirement; extras and markers do not change which package it is."""
    try:
        found = Requirement(line)
    except InvalidRequirement:
        yield from _from_url(line)
        return
    repo = repo_of_url(found.url) if found.url else ""
    written = _VERSION.match(line) if found.specifier else None
    yield Wanted("pypi", _normal(found.name), written[1].strip() if written else "", repo)


def _from_url(line: str) -> Iterator[Wanted]:
    repo = repo_of_url(line)
    named = re.search(r"#(?:.*&)?egg=([\w.-]+)", line)
    if repo:
        yield Wanted("pypi", _normal(named[1] if named else repo.rpartition("/")[2]), "", repo)


def _poetry(table: dict[str, Any]) -> Iterator[Wanted]:
    for name, value in table.items():
        if name.lower() == "python":
            continue
        facts = tables(value)
        version = value if isinstance(value, str) else facts.get("version", "")
        repo = repo_of_url(str(facts.get("git") or facts.get("url") or ""))
        yield Wanted("pypi", _normal(name), version if isinstance(version, str) else "", repo)


def _normal(name: str) -> str:
    """Return a name as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()
