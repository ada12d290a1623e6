"""``find_neighbors``: what is linked with a page, tag or diagram node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lorepack.server.retrieve.neighbors import EDGE_KINDS, Neighbor, find_node, walk
from lorepack.server.retrieve.search import find_chunks
from lorepack.server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    error,
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
    cursor = arguments.get("cursor", "0")
    if not cursor.isdigit():
        return error("invalid_cursor", "use the nextCursor of the answer before")
    found = walk(pack, start, arguments.get("kinds", ()), arguments.get("depth", 1))
    if query := arguments.get("query"):
        found = _by_query(context, found, query)
    begin, limit = int(cursor), arguments.get("limit", 25)
    shown = found[begin : begin + limit]
    following = str(begin + limit) if begin + limit < len(found) else None
    data: dict[str, Any] = {
        **stamp(context.mount),
        "status": "ok" if found else "no_match",
        "source": {"node": start["name"], "kind": start["kind"], "label": start["label"]},
        "total": len(found),
        "neighbors": [asdict(neighbor) for neighbor in shown],
        "nextCursor": following,
    }
    lines = [f"{len(found)} neighbours of {start['name']} ({start['kind']})", *map(_line, shown)]
    if following:
        lines.append(f"More with cursor {following}")
    return ToolAnswer("\n".join(lines), data)


def _by_query(context: Context, found: list[Neighbor], query: str) -> list[Neighbor]:
    answer = find_chunks(context.mount, query, limit=50)
    order: dict[str, int] = {}
    for rank, result in enumerate(answer.results):
        order.setdefault(result.slug, rank)
    return sorted(found, key=lambda n: (order.get(n.node.split("#")[0], 1000), n.depth))


def _line(neighbor: Neighbor) -> str:
    arrow = "→" if neighbor.direction == "out" else "←"
    line = f" (line {neighbor.evidence_line})" if neighbor.evidence_line else ""
    label = f" “{neighbor.label}”" if neighbor.label and neighbor.label != neighbor.node else ""
    return f"{neighbor.depth} {arrow} {neighbor.edge} {neighbor.kind} {neighbor.node}{label}{line}"


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
            "cursor": {"type": "string"},
        },
        ("source",),
    ),
    output_schema=output_schema({"neighbors": {"type": "array", "items": {"type": "object"}}}),
    run=run,
)
