"""``find_neighbors``: what is linked with a page, symbol, tag or diagram node."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lorepack_server.retrieve.neighbors import EdgeKind, by_meaning, find_nodes, walk
from lorepack_server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    pack_identity,
    paginated,
)
from lorepack_server.tools.arguments import Between, Paged


class NeighborsArguments(Paged):
    """What ``find_neighbors`` takes."""

    renamed: ClassVar = {
        "source": "page", "node": "page", "name": "page", "path": "page", "kind": "kinds",
        "edge_kinds": "kinds", "question": "query",
    }  # fmt: skip
    page: Annotated[
        str, Field(min_length=1, description="page, qualified symbol, #tag or diagram node")
    ]
    kinds: tuple[EdgeKind, ...] = ()
    depth: Annotated[int, Between(1, 3), Field(description="1 to 3")] = 1
    query: Annotated[str, Field(description="rank by closeness to it")] = ""
    limit: Annotated[int, Between(1, 100), Field(description="1 to 100, else 25")] = 25


def run(context: Context, arguments: NeighborsArguments) -> ToolAnswer:
    """Walk from a node; with ``query``, what the query finds comes first."""
    pack = context.mount.connection()
    nodes = find_nodes(pack, arguments.page)
    if not nodes:
        nothing = {**pack_identity(context.mount), "status": "no_match", "neighbors": []}
        text = (f"no_match: {context.label} has no page, symbol, tag or node "
                f"{arguments.page[:200]!r}; find_chunks finds what is near.")  # fmt: skip
        return ToolAnswer(text, nothing)
    return neighbors_of(context, nodes[0], arguments) if len(nodes) == 1 else several(
        context, nodes, arguments
    )  # fmt: skip


def neighbors_of(context: Context, start: sqlite3.Row, arguments: NeighborsArguments) -> ToolAnswer:
    """Answer with what is linked with one node."""
    pack = context.mount.connection()
    found = walk(pack, start, arguments.kinds, arguments.depth)
    if arguments.query:
        found = by_meaning(context.mount, found, arguments.query)
    node = {"node": start["name"], "kind": start["kind"], "label": start["label"]}
    return paginated(
        context, arguments, "neighbors", [vars(neighbor) for neighbor in found], _line,
        head=f"{len(found)} neighbours of {start['name']} ({start['kind']})", source=node,
    )  # fmt: skip


def several(
    context: Context, nodes: Sequence[sqlite3.Row], arguments: NeighborsArguments
) -> ToolAnswer:
    """Answer with all the nodes that a name may mean."""
    data = {**pack_identity(context.mount), "status": "several", "neighbors": [],
            "nodes": [{"node": node["name"], "kind": node["kind"]} for node in nodes]}  # fmt: skip
    head = f"several: {arguments.page!r} may be any of these; ask for one as it is written here"
    lines = [f"- {node['name']} ({node['kind']})" for node in nodes]
    return ToolAnswer("\n".join([head, *lines]), data)


def _line(neighbor: Mapping[str, Any]) -> str:
    arrow = "→" if neighbor["direction"] == "out" else "←"
    node, label, at = (neighbor[key] for key in ("node", "label", "evidence_line"))
    if neighbor["kind"] == "chunk":
        node, label = label, ""
    named = neighbor["kind"] == "symbol"
    anchor = f"#{neighbor['fragment']}" if neighbor["fragment"] and not named else ""
    line = f" L{at}" if at else ""
    title = f" “{label}”" if label and not named and label not in (node, f"#{node}") else ""
    step = f"{neighbor['depth']} " if neighbor["depth"] > 1 else ""
    return f"{step}{arrow} {neighbor['edge']} {neighbor['kind']} {node}{anchor}{title}{line}"


SPEC = ToolSpec(
    name="find_neighbors",
    description=(
        "List what links to and from a page, section, symbol, #tag or diagram node of {pack}: "
        "links, backlinks, embeds, tags, definitions."
    ),
    arguments=NeighborsArguments,
    run=run,
)
