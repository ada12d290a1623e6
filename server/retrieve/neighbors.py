"""Walk the graph around a page, tag, file or chunk; bounded."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from lorepack.server.mount import Mount
from lorepack.server.retrieve.query import parse_query
from lorepack.server.retrieve.rank import pages_of_chunks, rank_chunks

MAX_VISITED = 2000

_FIND = """
SELECT id, kind, name, label FROM nodes
WHERE name = :name OR (kind = 'tag' AND lower(name) = lower(:tag)) OR label = :name
ORDER BY name = :name DESC, kind = 'page' DESC, id LIMIT 1
"""
_STEP = """
SELECT edges.id, edges.src, edges.dst, edges.kind, edges.label, edges.line, edges.chunk_id,
    nodes.kind AS node_kind, nodes.name, nodes.label AS node_label, nodes.id AS node_id,
    :direction AS direction
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
EDGE_KINDS = (
    "wikilink", "embed", "link", "tag", "section_link", "code_ref", "diagram_edge",
    "diagram_member", "cross_repo_ref", "defines", "unresolved",
)  # fmt: skip


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


def find_node(pack: sqlite3.Connection, name: str) -> sqlite3.Row | None:
    """Return the node with this path, tag (with or without #), key or label."""
    row: sqlite3.Row | None = pack.execute(
        _FIND, {"name": name, "tag": name.lstrip("#")}
    ).fetchone()
    return row


def walk(
    pack: sqlite3.Connection, start: sqlite3.Row, kinds: Sequence[str], depth: int
) -> list[Neighbor]:
    """Return the nodes within ``depth`` steps in either direction, nearest first.

    At most `MAX_VISITED` of them.
    """
    names = {start["id"]: start["name"]}
    frontier = [start["id"]]
    found: list[Neighbor] = []
    for step in range(1, depth + 1):
        following: list[int] = []
        for row in _edges(pack, frontier, kinds):
            if row["node_id"] in names or len(names) > MAX_VISITED:
                continue
            names[row["node_id"]] = row["name"]
            following.append(row["node_id"])
            near = row["src"] if row["direction"] == "out" else row["dst"]
            found.append(
                Neighbor(
                    row["name"], row["node_kind"], row["node_label"], step, row["kind"],
                    row["direction"], row["line"], names[near],
                )
            )  # fmt: skip
        frontier = following
    return found


def by_meaning(mount: Mount, found: Sequence[Neighbor], question: str) -> list[Neighbor]:
    """Return ``found`` with what is nearest to ``question`` first.

    A page or chunk stands as its best chunk does among all chunks of what was found; what has no
    chunk comes after those, nearest in the graph first.
    """
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
