"""``list_project_dependencies`` and ``resolve_repo``: packages and repositories → sources here."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lorepack.forges import repo_name
from lorepack_server.tools.answer import Context, ToolAnswer, ToolSpec, pack_identity, paginated
from lorepack_server.tools.arguments import Arguments, Paged
from lorepack_server.tools.near_names import near_names

_DEPENDENCIES = """
SELECT ecosystem, dependencies.name AS package, version, repo, coalesce(sources.name, '') AS source
FROM dependencies LEFT JOIN sources ON sources.id = dependencies.source_id
ORDER BY ecosystem, package
"""
_SOURCES = "SELECT name, kind, origin, web, revision, licence FROM sources ORDER BY id"
_REPO = re.compile(
    r"^(?:[a-z+]+://|git@)?(?:[^/@]+@)?(?:[\w.-]+\.\w+[/:])?([\w.-]+/[\w.-]+?)(?:\.git)?/?$"
)


class RepoArguments(Arguments):
    """What ``resolve_repo`` takes."""

    renamed: ClassVar = {"repo": "name", "package": "name", "url": "name", "source": "name"}
    name: Annotated[str, Field(min_length=1, description="package, owner/name or URL")]


def dependencies(context: Context, arguments: Paged) -> ToolAnswer:
    """List what the project that the pack was made for depends on, and what covers it here.

    A client that works in a project of its own has that project's dependencies listed after them.
    """
    pack = context.mount.connection()
    rows = [dict(row) for row in pack.execute(_DEPENDENCIES)]
    listed_already = {(row["ecosystem"], row["package"]) for row in rows}
    own = _of_roots(context, _known(pack))
    rows += (row for row in own if (row["ecosystem"], row["package"]) not in listed_already)
    nothing = "this pack was not made from a project's manifest, and no root of yours has one"
    return paginated(context, arguments, "dependencies", rows, _line, nothing)


def _of_roots(context: Context, known: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """Return what the manifests under the client's roots ask for, and what covers it here."""
    from lorepack.manifests.tree import project_dependencies

    rows = []
    for root in context.roots:
        found = project_dependencies(root)
        for wanted, manifests in found[1] if found else ():
            names = (f"{wanted.ecosystem}:{wanted.package}", wanted.package, wanted.repo)
            entry = next((known[n.lower()] for n in names if n.lower() in known), {})
            rows.append(
                {
                    "ecosystem": wanted.ecosystem, "package": wanted.package,
                    "version": wanted.version, "repo": wanted.repo or entry.get("repo", ""),
                    "source": entry.get("source", ""), "manifest": manifests[0],
                }
            )  # fmt: skip
    return rows


def _line(row: Mapping[str, Any]) -> str:
    package = f"{row['ecosystem']} {row['package']} {row['version']}".strip()
    covered = f"source {row['source']}" if row["source"] else "not in this pack"
    return f"{package} → {row['repo'] or 'repository unknown'} ({covered})"


def resolve(context: Context, arguments: RepoArguments) -> ToolAnswer:
    """Answer which source of the pack documents a package, ``owner/name``, URL or source name."""
    pack = context.mount.connection()
    name = arguments.name.strip()
    known = _known(pack)
    wanted = name.lower()
    repo = match.group(1).lower() if (match := _REPO.match(wanted)) else wanted
    found = known.get(wanted) or known.get(repo) or _wanted_by_roots(context, known, wanted)
    if found is None:
        near = near_names(wanted, known, 5)
        data = {**pack_identity(context.mount), "status": "no_match", "near": near}
        hint = f" Near: {', '.join(near)}" if near else ""
        return ToolAnswer(f"no_match: {context.label} does not know {name[:200]!r}.{hint}", data)
    data = {
        **pack_identity(context.mount),
        "status": "ok" if found["source"] else "no_docs",
        **found,
    }
    where = f"source {found['source']}" if found["source"] else "not covered by this pack"
    sha = f" @ {found['revision'][:12]}" if found["revision"] else ""
    return ToolAnswer(f"{name} → {found['repo'] or found['origin']}{sha} ({where})", data)


def _wanted_by_roots(
    context: Context, known: Mapping[str, Mapping[str, str]], wanted: str
) -> Mapping[str, str] | None:
    """Return what a manifest under the client's roots says of a package."""
    for row in _of_roots(context, known):
        names = (row["package"].lower(), f"{row['ecosystem']}:{row['package']}".lower())
        if wanted in names and row["repo"]:
            return {"repo": row["repo"], "source": row["source"], "origin": "", "revision": ""}
    return None


def _known(pack: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """Return repository and source under every name that leads to them, lower case."""
    sources = {
        row["name"]: {
            "repo": repo_name(row["web"]) or _repo_of(row["origin"]), "source": row["name"],
            "origin": row["origin"], "revision": row["revision"],
        }
        for row in pack.execute(_SOURCES)
    }  # fmt: skip
    known = {name.lower(): entry for name, entry in sources.items()}
    for entry in sources.values():
        if entry["repo"]:
            known.setdefault(entry["repo"].lower(), entry)
    for row in pack.execute(_DEPENDENCIES):
        nothing = {"repo": row["repo"], "source": "", "origin": "", "revision": ""}
        entry = {**sources.get(row["source"], nothing), "repo": row["repo"]}
        for key in (row["package"], f"{row['ecosystem']}:{row['package']}", row["repo"]):
            if key:
                known.setdefault(key.lower(), entry)
    return known


def _repo_of(origin: str) -> str:
    match = _REPO.match(origin) if "://" in origin or origin.startswith("git@") else None
    return match.group(1) if match else ""


DEPENDENCIES = ToolSpec(
    name="list_project_dependencies",
    description=(
        "List what the project behind {pack} depends on: packages, repositories, and which source "
        "here documents each."
    ),
    arguments=Paged,
    run=dependencies,
    reads_roots=True,
)
RESOLVE = ToolSpec(
    name="resolve_repo",
    description="Find the repository, and the source in {pack}, of a package, owner/name or URL.",
    arguments=RepoArguments,
    run=resolve,
    reads_roots=True,
)
