"""``find_neighbors``: what is linked with a page, tag or diagram node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorepack.server.retrieve.neighbors import EDGE_KINDS, by_meaning, find_node, walk
from lorepack.server.tools.answer import (
    CURSOR,
    Context,
    ToolAnswer,
    ToolSpec,
    budget,
    listed,
    object_schema,
    output_schema,
    stamp,
)


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Walk from ``source``; with ``query``, what the query finds comes first."""
    pack = context.mount.connection()
    start = find_node(pack, arguments["source"])
    if start is None:
        nothing = {**stamp(context.mount), "status": "no_match", "neighbors": []}
        return ToolAnswer(f"no_match: the graph has no {arguments['source']!r}", nothing)
    found = walk(pack, start, arguments.get("kinds", ()), arguments.get("depth", 1))
    if query := arguments.get("query"):
        found = by_meaning(context.mount, found, query)
    node = {"node": start["name"], "kind": start["kind"], "label": start["label"]}
    return listed(
        context, arguments, "neighbors", [vars(neighbor) for neighbor in found], _line, limit=25,
        head=f"{len(found)} neighbours of {start['name']} ({start['kind']})", source=node,
    )  # fmt: skip


def _line(neighbor: Mapping[str, Any]) -> str:
    arrow = "→" if neighbor["direction"] == "out" else "←"
    node, said, at = (neighbor[key] for key in ("node", "label", "evidence_line"))
    line = f" (line {at})" if at else ""
    label = f" “{said}”" if said and said != node else ""
    return f"{neighbor['depth']} {arrow} {neighbor['edge']} {neighbor['kind']} {node}{label}{line}"


SPEC = ToolSpec(
    name="find_neighbors",
    description=(
        "List what is linked with a page path, #tag, diagram node or chunk: links, backlinks, "
        "embeds, tags, diagram arrows. Use it to explore around a page that was found."
    ),
    input_schema=object_schema(
        {
            "source": {"type": "string", "minLength": 1},
            "kinds": {"type": "array", "items": {"enum": list(EDGE_KINDS)}},
            "depth": {"type": "integer", "minimum": 1, "maximum": 3, "default": 1},
            "query": {"type": "string", "description": "rank by closeness to this"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 25},
            "cursor": CURSOR,
            "maxTokens": budget(3000),
        },
        ("source",),
    ),
    output_schema=output_schema({"neighbors": {"type": "array", "items": {"type": "object"}}}),
    run=run,
)
