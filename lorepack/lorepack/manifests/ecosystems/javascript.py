"""``package.json`` and ``pnpm-workspace.yaml``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lorepack.manifests.model import Wanted
from lorepack.manifests.read import read_json, read_yaml
from lorepack.manifests.repos import repo_of_url
from lorepack.util.untrusted import tables, texts

_FIELDS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_LOCAL = ("workspace:", "file:", "link:", "portal:", "./", "../", "/")
_SHORT = re.compile(r"(?:github:)?([\w.-]+/[\w.-]+)(?:#.*)?")


def package(path: Path) -> Iterator[Wanted]:
    """Yield what a package needs; members of its own workspace are none of it."""
    data = read_json(path)
    catalogs = _catalogs(path.parent)
    for field in _FIELDS:
        for name, version in tables(data.get(field)).items():
            if isinstance(version, str):
                yield from _one(name, version, catalogs)


def pnpm_workspace(path: Path) -> Iterator[Wanted]:
    """Yield what the catalogues of a workspace name."""
    for catalog in _read_catalogs(read_yaml(path)).values():
        for name, version in catalog.items():
            yield from _one(name, version, {})


def members(path: Path) -> list[str]:
    """Return the patterns of a workspace's members, of ``package.json`` or pnpm's file."""
    data = read_yaml(path) if path.suffix == ".yaml" else read_json(path)
    listed = data.get("packages" if path.suffix == ".yaml" else "workspaces")
    return texts(tables(listed).get("packages")) if isinstance(listed, dict) else texts(listed)


def _one(name: str, version: str, catalogs: dict[str, dict[str, str]]) -> Iterator[Wanted]:
    if version.startswith("catalog:"):
        version = catalogs.get(version.removeprefix("catalog:") or "default", {}).get(name, "")
    if version.startswith("npm:"):
        name, _, version = version.removeprefix("npm:").rpartition("@")
    if not name or version.startswith(_LOCAL):
        return
    if "://" in version or version.startswith(("git@", "github:")) or _SHORT.fullmatch(version):
        short = _SHORT.fullmatch(version)
        yield Wanted("npm", name, "", short[1] if short else repo_of_url(version))
    else:
        yield Wanted("npm", name, version)


def _catalogs(folder: Path) -> dict[str, dict[str, str]]:
    """Return the catalogues of the workspace that ``folder`` lies in."""
    for place in (folder, *list(folder.parents)[:8]):
        file = place / "pnpm-workspace.yaml"
        if file.is_file():
            return _read_catalogs(read_yaml(file))
    return {}


def _read_catalogs(data: dict[str, Any]) -> dict[str, dict[str, str]]:
    named = {"default": data.get("catalog"), **tables(data.get("catalogs"))}
    return {
        key: {n: v for n, v in tables(entries).items() if isinstance(n, str) and isinstance(v, str)}
        for key, entries in named.items()
    }
