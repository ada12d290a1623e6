"""The graph of a pack, as it is exported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A node; what follows ``label`` is known of pages only."""

    id: int
    kind: str
    name: str
    label: str
    title: str
    lang: str
    category: str
    lifecycle: str


@dataclass(frozen=True)
class Edge:
    """An edge; ``line`` is where it is written in the file, or 0."""

    id: int
    src: int
    dst: int
    kind: str
    label: str
    line: int


@dataclass(frozen=True)
class Graph:
    """A whole graph, and the pack that it is of."""

    name: str
    version: str
    nodes: Sequence[Node]
    edges: Sequence[Edge]
