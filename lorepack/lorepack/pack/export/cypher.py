"""Cypher statements that make the graph in Neo4j and its kin (openCypher 9)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TextIO

from lorepack.pack.export.model import Graph

_AT_ONCE = 500
_NODE = ("id", "kind", "name", "label", "title", "lang", "category", "lifecycle")
_EDGE = ("src", "dst", "label", "line")


def write_cypher(graph: Graph, out: TextIO) -> None:
    """Write statements that end in a semicolon: an index, nodes by kind, then edges by kind.

    Nodes have two labels, ``Lore`` and their kind's (``Page``); edges are of their kind's type
    (``WIKILINK``). Text is only ever a literal.
    """
    out.write("CREATE CONSTRAINT lore_id IF NOT EXISTS FOR (n:Lore) REQUIRE n.id IS UNIQUE;\n")
    nodes = sorted(graph.nodes, key=lambda node: (node.kind, node.id))
    for kind, of_kind in groupby(nodes, key=lambda node: node.kind):
        label = "".join(part.capitalize() for part in kind.split("_"))
        for rows in _batches([_facts(node, _NODE) for node in of_kind]):
            out.write(f"UNWIND {rows} AS row CREATE (n:Lore:{label}) SET n = row;\n")
    edges = sorted(graph.edges, key=lambda edge: (edge.kind, edge.id))
    for kind, of_type in groupby(edges, key=lambda edge: edge.kind):
        for rows in _batches([_facts(edge, _EDGE) for edge in of_type]):
            out.write(
                f"UNWIND {rows} AS row MATCH (a:Lore {{id: row.src}}) "
                f"MATCH (b:Lore {{id: row.dst}}) CREATE (a)-[r:{kind.upper()}]->(b) "
                "SET r.label = row.label, r.line = row.line;\n"
            )


def _facts(item: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names}


def _batches(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for begin in range(0, len(rows), _AT_ONCE):
        yield f"[{', '.join(map(_literal, rows[begin : begin + _AT_ONCE]))}]"


def _literal(row: Mapping[str, Any]) -> str:
    """Return a map literal; what JSON escapes in a text is escaped so in Cypher, too."""
    facts = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in row.items())
    return f"{{{', '.join(facts)}}}"
