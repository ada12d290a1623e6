"""``*.sln``, ``*.csproj`` and ``Directory.Packages.props``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lorepack.manifests.model import Wanted
from lorepack.manifests.read import Unreadable, child_text, read_text, read_xml

CENTRAL = "Directory.Packages.props"
_PROJECT = re.compile(r'^Project\("[^"]*"\) = "[^"]*", "([^"]+\.(?:cs|fs|vb)proj)"', re.MULTILINE)


def csproj(path: Path) -> Iterator[Wanted]:
    """Yield the packages of a project; a version may stand in a file above it."""
    central = _central(path.parent)
    for reference in read_xml(path).iter("PackageReference"):
        name = reference.get("Include") or reference.get("Update") or ""
        version = (
            reference.get("VersionOverride") or reference.get("Version")
            or child_text(reference, "Version") or central.get(name.lower(), "")
        )  # fmt: skip
        if name and "$(" not in name:
            yield Wanted("nuget", name, version.strip())


def central_packages(path: Path) -> Iterator[Wanted]:
    """Yield the packages whose versions a central file sets."""
    for entry in read_xml(path).iter("PackageVersion"):
        if name := entry.get("Include"):
            yield Wanted("nuget", name, (entry.get("Version") or "").strip())


def members(path: Path) -> list[str]:
    """Return the projects of a solution."""
    return [found.replace("\\", "/") for found in _PROJECT.findall(read_text(path))]


def _central(folder: Path) -> dict[str, str]:
    for place in (folder, *list(folder.parents)[:8]):
        file = place / CENTRAL
        if file.is_file():
            try:
                return {w.package.lower(): w.version for w in central_packages(file)}
            except Unreadable:
                return {}
    return {}
