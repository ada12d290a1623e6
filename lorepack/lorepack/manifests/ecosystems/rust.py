"""``Cargo.toml``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lorepack.manifests.model import Wanted
from lorepack.manifests.read import Unreadable, read_toml
from lorepack.manifests.repos import repo_of_url
from lorepack.util.untrusted import tables, texts

_FIELDS = ("dependencies", "dev-dependencies", "build-dependencies")


def cargo(path: Path) -> Iterator[Wanted]:
    """Yield what a crate needs, of its targets and its workspace too."""
    data = read_toml(path)
    shared = tables(tables(data.get("workspace")).get("dependencies"))
    inherited = shared or _workspace(path.parent)
    places = [data, *map(tables, tables(data.get("target")).values())]
    for name, value in shared.items():
        yield from _one(name, value, {})
    for place in places:
        for field in _FIELDS:
            for name, value in tables(place.get(field)).items():
                yield from _one(name, value, inherited)


def members(path: Path) -> list[str]:
    """Return the patterns of a workspace's members."""
    return texts(tables(read_toml(path).get("workspace")).get("members"))


def _one(name: str, value: Any, inherited: dict[str, Any]) -> Iterator[Wanted]:
    """Read one entry; ``package`` is the crate that ``name`` stands for."""
    facts = tables(value)
    if facts.get("workspace") is True:
        value = inherited.get(name, "")
        facts = tables(value)
    version = value if isinstance(value, str) else facts.get("version", "")
    real, git = facts.get("package", name), facts.get("git", "")
    if "path" in facts and not git:
        # A neighbour in the same repository.
        return
    if isinstance(real, str):
        repo = repo_of_url(git) if isinstance(git, str) else ""
        yield Wanted("cargo", real, version if isinstance(version, str) else "", repo)


def _workspace(folder: Path) -> dict[str, Any]:
    for place in list(folder.parents)[:8]:
        file = place / "Cargo.toml"
        if file.is_file():
            try:
                found = tables(tables(read_toml(file).get("workspace")).get("dependencies"))
            except Unreadable:
                return {}
            if found:
                return found
    return {}
