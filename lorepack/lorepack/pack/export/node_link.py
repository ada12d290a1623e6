"""JSON in the node-link form that d3 and networkx read."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, TextIO

from lorepack.pack.export.model import Graph


def write_node_link(graph: Graph, out: TextIO) -> None:
    """Write a directed multigraph: ``nodes`` by ``id``, ``edges`` from ``source`` to ``target``."""
    edges: list[dict[str, Any]] = []
    for edge in graph.edges:
        facts = asdict(edge)
        ends = {"source": facts.pop("src"), "target": facts.pop("dst"), "key": facts.pop("id")}
        edges.append({**ends, **facts})
    data = {
        "directed": True,
        "multigraph": True,
        "graph": {"name": graph.name, "version": graph.version},
        "nodes": [asdict(node) for node in graph.nodes],
        "edges": edges,
    }
    json.dump(data, out, ensure_ascii=False)
    out.write("\n")
