"""Walk the graph around a page, tag, file or chunk; bounded."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lorepack_server.retrieve.page_names import Place, find_pages, find_symbols
from lorepack_server.retrieve.query import parse_query

if TYPE_CHECKING:
    from lorepack_server.packs.mount import Mount

MAX_VISITED = 2000

_FIND = """
SELECT id, kind, name, label FROM nodes
WHERE name = :name OR (kind = 'tag' AND lower(name) = lower(:tag)) OR label = :name
ORDER BY name = :name DESC, kind = 'page' DESC, id LIMIT 1
"""
_NODE = "SELECT id, kind, name, label FROM nodes WHERE kind = ? AND name = ?"
_SECTION = """
SELECT nodes.id, nodes.kind, nodes.name, nodes.label FROM nodes
JOIN pages ON pages.id = nodes.page_id JOIN chunks ON chunks.id = nodes.chunk_id
WHERE nodes.kind = 'chunk' AND pages.path = ? AND chunks.anchor = ?
"""
_STEP = """
SELECT edges.id, edges.src, edges.dst, edges.kind, edges.label, edges.line, edges.chunk_id,
    edges.fragment, nodes.kind AS node_kind, nodes.name, nodes.label AS node_label,
    nodes.id AS node_id, :direction AS direction
FROM edges JOIN nodes ON nodes.id = edges.{far}
WHERE edges.{near} IN (SELECT value FROM json_each(:ids))
  AND (:kinds IS NULL OR edges.kind IN (SELECT value FROM json_each(:kinds)))
ORDER BY edges.id LIMIT :limit
"""
_PAGES_OF_NODES = """
SELECT name, page_id FROM nodes
WHERE page_id IS NOT NULL AND name IN (SELECT value FROM json_each(?))
"""
_OUT = _STEP.format(far="dst", near="src")
_IN = _STEP.format(far="src", near="dst")
_TO_SECTION = "section_link"
EdgeKind = Literal[
    "wikilink", "embed", "link", "tag", "section_link", "code_ref", "diagram_edge",
    "diagram_member", "cross_repo_ref", "defines", "unresolved",
]  # fmt: skip


@dataclass(frozen=True)
class Neighbor:
    """A node near the start, and the edge that led to it."""

    node: str
    kind: str
    label: str
    depth: int
    edge: str
    direction: str
    evidence_line: int | None
    via: str
    fragment: str = ""
    """The section that the link leads to, where it names one."""


def find_nodes(pack: sqlite3.Connection, name: str) -> list[sqlite3.Row]:
    """Return the nodes that ``name`` may mean.

    A path, ``#tag``, key or label as it is in the graph; else what `find_pages` takes. A page and a
    symbol of one name are both found.
    """
    values = {"name": name, "tag": name.lstrip("#")}
    exact = pack.execute(_FIND, values).fetchone()
    if exact is not None and exact["label"] != name:
        return [exact]
    symbols = (
        pack.execute(_NODE, ("symbol", f"{row['file']}::{row['name']}")).fetchone()
        for row in find_symbols(pack, name)
    )
    pages = (_node_at(pack, place) for place in find_pages(pack, name, symbols=False))
    found = [node for node in (exact, *pages, *symbols) if node is not None]
    return list({node["id"]: node for node in found}.values())


def _node_at(pack: sqlite3.Connection, place: Place) -> sqlite3.Row | None:
    """Return the node of a section that others link to, or else of its page."""
    section: sqlite3.Row | None = None
    if place.section:
        section = pack.execute(_SECTION, (place.path, place.section)).fetchone()
    page: sqlite3.Row | None = pack.execute(_NODE, ("page", place.path)).fetchone()
    return section or page


def walk(
    pack: sqlite3.Connection, start: sqlite3.Row, kinds: Sequence[str], depth: int
) -> list[Neighbor]:
    """Return the nodes within ``depth`` steps in either direction, nearest first.

    At most `MAX_VISITED` of them. A link to a section is told once, with the page.
    """
    names = {start["id"]: start["name"]}
    frontier = [start["id"]]
    found: list[Neighbor] = []
    for step in range(1, depth + 1):
        following: list[int] = []
        for row in _links(_edges(pack, frontier, kinds)):
            if row["node_id"] in names or len(names) > MAX_VISITED:
                continue
            names[row["node_id"]] = row["name"]
            following.append(row["node_id"])
            near = row["src"] if row["direction"] == "out" else row["dst"]
            found.append(
                Neighbor(
                    row["name"], row["node_kind"], row["node_label"], step, row["kind"],
                    row["direction"], row["line"], names[near],
                    row["fragment"] if row["direction"] == "out" else "",
                )
            )  # fmt: skip
        frontier = following
    return found


def _links(edges: Sequence[sqlite3.Row]) -> list[sqlite3.Row]:
    """Return the edges without those to a section whose link to the page is among them."""
    ends = ("src", "line", "label", "fragment")
    to_pages = {tuple(row[end] for end in ends) for row in edges if row["kind"] != _TO_SECTION}
    return [
        row for row in edges
        if row["kind"] != _TO_SECTION or tuple(row[end] for end in ends) not in to_pages
    ]  # fmt: skip


def by_meaning(mount: Mount, found: Sequence[Neighbor], question: str) -> list[Neighbor]:
    """Return ``found`` with what is nearest to ``question`` first.

    A page or chunk stands as its best chunk does among all chunks of what was found; what has no
    chunk comes after those, nearest in the graph first.
    """
    from lorepack_server.retrieve.rank import pages_of_chunks, rank_chunks

    pack = mount.connection()
    names = json.dumps(list({neighbor.node for neighbor in found}))
    pages = dict(pack.execute(_PAGES_OF_NODES, (names,)).fetchall())
    ranking = rank_chunks(mount, parse_query(question), sorted(set(pages.values())))
    owners = pages_of_chunks(pack, ranking.hybrid)
    place: dict[int, int] = {}
    for rank, chunk in enumerate(ranking.hybrid):
        place.setdefault(owners[chunk], rank)
    last = len(ranking.hybrid)
    return sorted(found, key=lambda n: (place.get(pages.get(n.node, 0), last), n.depth))


def _edges(pack: sqlite3.Connection, ids: Sequence[int], kinds: Sequence[str]) -> list[sqlite3.Row]:
    values = {
        "ids": json.dumps(list(ids)),
        "kinds": json.dumps(list(kinds)) if kinds else None,
        "limit": 2 * MAX_VISITED,
    }
    outgoing = pack.execute(_OUT, {**values, "direction": "out"}).fetchall()
    return outgoing + pack.execute(_IN, {**values, "direction": "in"}).fetchall()
