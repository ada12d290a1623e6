"""Find a project's root, the manifests in it, and what they ask for."""

from __future__ import annotations

import fnmatch
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from lorepack.manifests.ecosystems import (
    dotnet,
    go,
    java,
    javascript,
    php_ruby,
    python,
    rust,
)
from lorepack.manifests.model import Wanted
from lorepack.manifests.read import Unreadable

MAX_UP = 32
MAX_MEMBERS = 256
_MAX_DEPTH = 8
_MAX_FOLDERS = 20_000
_NOT_OURS = frozenset(
    {"node_modules", "vendor", "target", "build", "dist", "venv", "env", "site-packages", "bin",
     "obj", "out", "__pycache__", "third_party", "testdata", "fixtures"}
)  # fmt: skip

_Value = TypeVar("_Value")
Reader = Callable[[Path], Iterator[Wanted]]
READERS: Mapping[str, Reader] = {
    "pom.xml": java.pom,
    "*.csproj": dotnet.csproj,
    "Directory.Packages.props": dotnet.central_packages,
    "Cargo.toml": rust.cargo,
    "composer.json": php_ruby.composer,
    "go.mod": go.mod,
    "pyproject.toml": python.pyproject,
    "requirements*.txt": python.requirements,
    "package.json": javascript.package,
    "pnpm-workspace.yaml": javascript.pnpm_workspace,
    "Gemfile.lock": php_ruby.gemfile_lock,
    "build.gradle": java.gradle,
    "build.gradle.kts": java.gradle,
}
"""What reads each kind of manifest, by the pattern of its name."""
WORKSPACES: Mapping[str, Callable[[Path], list[str]]] = {
    "*.sln": dotnet.members,
    "go.work": go.members,
    "pom.xml": java.members,
    "Cargo.toml": rust.members,
    "package.json": javascript.members,
    "pnpm-workspace.yaml": javascript.members,
}
"""Manifests that name others of the same project."""


Asked = list[tuple[Wanted, tuple[str, ...]]]
"""Packages, and the manifests that ask for each."""


def project_dependencies(start: Path) -> tuple[Path, Asked, list[tuple[str, str]]] | None:
    """Return a project's root, what its manifests ask for, and (path, problem); None without one.

    A package that several manifests ask for is one, at the first version that is said.
    """
    root = find_root(start)
    if root is None:
        return None
    manifests, problems = find_manifests(root)
    asked: dict[tuple[str, str], tuple[Wanted, list[str]]] = {}
    for manifest in manifests:
        name = manifest.relative_to(root).as_posix()
        try:
            found = read_manifest(manifest)
        except Unreadable as error:
            problems.append((name, str(error)))
            continue
        for wanted in found:
            key = wanted.ecosystem, wanted.package
            known, places = asked.setdefault(key, (wanted, []))
            if (not known.version and wanted.version) or (not known.repo and wanted.repo):
                known = replace(
                    known, version=known.version or wanted.version, repo=known.repo or wanted.repo
                )
            if name not in places:
                places.append(name)
            asked[key] = known, places
    listed = sorted(asked.items())
    return root, [(wanted, tuple(places)) for _, (wanted, places) in listed], problems


def find_root(start: Path) -> Path | None:
    """Return the first folder from ``start`` upwards that has a manifest.

    At most `MAX_UP` levels, and never beyond the home directory.
    """
    home = Path.home()
    folder = start.absolute()
    for _ in range(MAX_UP):
        if any(_kinds(name) for name in _names(folder)):
            return folder
        if folder in (home, folder.parent):
            return None
        folder = folder.parent
    return None


def find_manifests(root: Path) -> tuple[list[Path], list[tuple[str, str]]]:
    """Return the manifests of a project in the order of their paths, and (path, problem).

    Those that workspaces name come with those that lie in the tree; of both, at most `MAX_MEMBERS`.
    """
    found: dict[Path, None] = dict.fromkeys(_in_tree(root))
    problems: list[tuple[str, str]] = []
    for manifest in list(found):
        for read in _matching(WORKSPACES, manifest.name):
            try:
                patterns = read(manifest)
            except Unreadable as error:
                problems.append((str(manifest.relative_to(root)), str(error)))
                continue
            found |= dict.fromkeys(_members(root, manifest.parent, patterns))
    listed = sorted(found, key=lambda path: (len(path.parts), str(path)))
    if len(listed) > MAX_MEMBERS:
        problems.append((".", f"holds more than {MAX_MEMBERS} manifests; the deepest are left out"))
    return listed[:MAX_MEMBERS], problems


def read_manifest(path: Path) -> list[Wanted]:
    """Return what one manifest asks for.

    Raises:
        Unreadable: it is refused, or not understood.
    """
    return [wanted for read in _matching(READERS, path.name) for wanted in read(path)]


def _matching(table: Mapping[str, _Value], name: str) -> list[_Value]:
    return [value for pattern, value in table.items() if fnmatch.fnmatchcase(name, pattern)]


def _kinds(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, p) for p in (*READERS, *WORKSPACES))


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []


def _in_tree(root: Path) -> Iterator[Path]:
    """Yield the manifests below ``root``, without following links and into nobody else's code."""
    stack, seen = [(root, 0)], 0
    while stack and seen < _MAX_FOLDERS:
        folder, depth = stack.pop()
        seen += 1
        for name in reversed(_names(folder)):
            path = folder / name
            try:
                mode = path.lstat().st_mode
            except OSError:
                continue
            if stat.S_ISDIR(mode):
                if depth < _MAX_DEPTH and name not in _NOT_OURS and not name.startswith("."):
                    stack.append((path, depth + 1))
            elif _kinds(name):
                yield path


def _members(root: Path, folder: Path, patterns: list[str]) -> Iterator[Path]:
    """Yield the manifests of a workspace's members, none of which lies outside the project."""
    inside = root.resolve()
    for pattern in patterns[:MAX_MEMBERS]:
        if pattern.startswith(("/", "!")) or "\0" in pattern or ".." in Path(pattern).parts[2:]:
            continue
        if any(sign in pattern for sign in "*?["):
            places = [*_glob(folder, pattern)]
        else:
            places = [folder / pattern]
        for place in places[:MAX_MEMBERS]:
            if not place.resolve().is_relative_to(inside) or place.is_symlink():
                continue
            candidates = [place / name for name in _names(place)] if place.is_dir() else [place]
            yield from (path for path in candidates if path.is_file() and _kinds(path.name))


def _glob(folder: Path, pattern: str) -> Iterator[Path]:
    try:
        yield from sorted(folder.glob(pattern.rstrip("/")))
    except (ValueError, NotImplementedError, OSError):
        return
