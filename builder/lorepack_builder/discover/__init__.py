"""Discover: a project's manifests → its dependencies, their repositories, and a recipe."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.manifests.tree import project_dependencies
from lorepack_builder.discover.registries import Ask, find_repos

Covered = Callable[[str], bool | None]
"""Says whether a repository (``owner/name``) has a wiki; None if that cannot be told now."""


@dataclass(frozen=True)
class Dependency:
    """A package that a project asks for. ``covered`` is None where nobody could tell."""

    ecosystem: str
    package: str
    version: str
    repo: str
    manifests: tuple[str, ...]
    covered: bool | None = None


@dataclass(frozen=True)
class Project:
    """A project's dependencies, in the order of ecosystems and names.

    ``problems`` are (manifest, why it was not read); ``unknown`` packages whose registry did not
    answer.
    """

    root: Path
    dependencies: tuple[Dependency, ...]
    problems: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]


def discover(
    start: Path,
    *,
    offline: bool = False,
    ask: Ask | None = None,
    covered: Covered = lambda _: None,
) -> Project:
    """Read the manifests of the project around ``start``, and find what they ask for.

    Args:
        offline: whether no registry may be asked.
        ask: asks about one package, for tests; else the registries are asked.
        covered: asked about each repository.

    Raises:
        LorepackError: there is no project.
    """
    if not start.is_dir():
        raise LorepackError(f"{start} is no folder", "give a project's folder")
    found = project_dependencies(start)
    if found is None:
        raise LorepackError(
            f"neither {start} nor a folder above it has a manifest",
            "give the folder of a project: pyproject.toml, package.json, pom.xml, …",
        )
    root, by_package, problems = found
    wanted = [entry for entry, _ in by_package]
    repos, unknown = find_repos(wanted, offline=offline, ask=ask)
    told = {repo: covered(repo) for repo in sorted({r for r in repos.values() if r})}
    dependencies = tuple(
        Dependency(
            entry.ecosystem, entry.package, entry.version, repos.get(entry, ""), manifests,
            told.get(repos.get(entry, "")),
        )
        for entry, manifests in by_package
    )  # fmt: skip
    names = tuple(f"{entry.ecosystem} {entry.package}" for entry in unknown)
    return Project(root, dependencies, tuple(problems), names)


def recipe_text(project: Project, recipe: Path) -> str:
    """Return a recipe for ``recipe``'s place: the project, the wikis that cover it, the table."""
    name = slug(project.root.resolve().name) or "project"
    lines = [
        "[pack]", f"name = {_text(name)}", 'version = "0.1.0"',
        f"title = {_text(project.root.resolve().name)}", "",
        "[[source]]", f"name = {_text(name)}", 'kind = "repo"',
        f"path = {_text(relpath(project.root, recipe.parent))}",
    ]  # fmt: skip
    sources = _source_names(project, name)
    for repo, source in sources.items():
        lines += ["", "[[source]]", f"name = {_text(source)}", 'kind = "codewiki"',
                  f"repo = {_text(repo)}"]  # fmt: skip
    for entry in project.dependencies:
        lines += ["", "[[dependency]]", f"ecosystem = {_text(entry.ecosystem)}",
                  f"package = {_text(entry.package)}"]  # fmt: skip
        facts = (("version", entry.version), ("repo", entry.repo),
                 ("source", sources.get(entry.repo, "")))  # fmt: skip
        lines += [f"{key} = {_text(value)}" for key, value in facts if value]
    return "\n".join(lines) + "\n"


def slug(text: str) -> str:
    """Return a name as recipes have them: a-z, 0-9 and -, at most 64."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:64].strip("-")


def _source_names(project: Project, taken: str) -> dict[str, str]:
    """Return a name for each covered repository; two of one name carry their owner's."""
    repos = list(dict.fromkeys(entry.repo for entry in project.dependencies if entry.covered))
    names: dict[str, str] = {}
    for repo in repos:
        short = slug(repo.partition("/")[2])
        alone = sum(slug(other.partition("/")[2]) == short for other in repos) == 1
        names[repo] = short if short and alone and short != taken else slug(repo)
    return names


def _text(value: str) -> str:
    """Return a TOML basic string, which is written as JSON's are."""
    return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")


def rows(dependencies: Sequence[Dependency]) -> list[tuple[str, str, str, str, str]]:
    """Return (dependency, ecosystem, version, repo, covered by) of each."""
    shown = {True: "codewiki", False: "none", None: "not asked"}
    return [
        (d.package, d.ecosystem, d.version, d.repo or "unknown", shown[d.covered])
        for d in dependencies
    ]
