"""Write the graph of a pack for other programs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TextIO

from lorepack.pack.export.cypher import write_cypher
from lorepack.pack.export.graphml import write_graphml
from lorepack.pack.export.model import Edge, Graph, Node
from lorepack.pack.export.node_link import write_node_link

_META = "SELECT key, value FROM meta WHERE key IN ('name', 'version')"
_NODES = """
SELECT nodes.id, nodes.kind, nodes.name, nodes.label, coalesce(pages.title, ''),
    coalesce(pages.lang, ''), coalesce(pages.category, ''), coalesce(pages.lifecycle, '')
FROM nodes LEFT JOIN pages ON pages.id = nodes.page_id ORDER BY nodes.id
"""
_EDGES = "SELECT id, src, dst, kind, label, coalesce(line, 0) AS line FROM edges ORDER BY id"
_KINDS = "SELECT DISTINCT kind FROM nodes ORDER BY kind"

WRITERS: dict[str, Callable[[Graph, TextIO], None]] = {
    "graphml": write_graphml, "json": write_node_link, "cypher": write_cypher,
}  # fmt: skip


def read_graph(pack: sqlite3.Connection, kinds: Sequence[str] = ()) -> Graph:
    """Return the graph of a pack, or that of nodes of some kinds and the edges between them.

    Raises:
        ValueError: the pack has no nodes of a kind; the message names those it has.
    """
    known = [row[0] for row in pack.execute(_KINDS)]
    for kind in kinds:
        if kind not in known:
            raise ValueError(f"there are no nodes of kind {kind!r}; there are {', '.join(known)}")
    meta = dict(pack.execute(_META).fetchall())
    nodes = [Node(*row) for row in pack.execute(_NODES)]
    if kinds:
        nodes = [node for node in nodes if node.kind in kinds]
    shown = {node.id for node in nodes}
    edges = [Edge(*row) for row in pack.execute(_EDGES)]
    inside = [edge for edge in edges if edge.src in shown and edge.dst in shown]
    return Graph(meta["name"], meta["version"], nodes, inside)
