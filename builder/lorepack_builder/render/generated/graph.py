"""The graph view: every page as a point, every link as a line, laid out here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lorepack_builder.link.outgoing import outgoing
from lorepack_builder.model import LinkedPage
from lorepack_builder.render.generated.page import generated_page
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.page import GRAPH_URL
from lorepack_builder.render.scripts import numbered, script_call

MAX_NODES = 5000
"""Pages in the picture; of a larger pack, those with the most links."""
DATA_URL = "graph/data.js"
_STEPS = 200
_REPELLED_BY = 12
_SIZE = 1000.0


def graph_page(given: SiteInput) -> SitePage:
    """Return the page that holds the view."""
    shown = min(len(given.pages), MAX_NODES)
    return generated_page(
        GRAPH_URL, "Graph", "graph.html.j2", {"shown": shown, "pages": len(given.pages)},
        in_nav=True, script="graph", description=f"{shown} pages and their links",
    )  # fmt: skip


def graph_data(given: SiteInput) -> bytes:
    """Return the script that calls ``lorepack.graph`` with the layout.

    ``nodes`` are rows of title, address, x, y, source, lifecycle and first tag (numbers of their
    lists); ``edges`` is a flat list of pairs of node numbers.
    """
    pages, edges = _drawn(given.pages)
    sources = numbered(linked.page.source.name for linked in pages)
    lifecycles = numbered(linked.page.lifecycle for linked in pages)
    tags = numbered((linked.page.tags or ("",))[0].lower() for linked in pages)
    groups = [sources[linked.page.source.name] for linked in pages]
    places = layout(len(pages), edges, groups)
    nodes = [
        [
            linked.page.title, given.urls[linked.page.path], int(x), int(y),
            sources[linked.page.source.name], lifecycles[linked.page.lifecycle],
            tags[(linked.page.tags or ("",))[0].lower()],
        ]
        for linked, (x, y) in zip(pages, places, strict=True)
    ]  # fmt: skip
    data = {
        "sources": list(sources),
        "lifecycles": list(lifecycles),
        "tags": list(tags),
        "nodes": nodes,
        "edges": [end for edge in edges for end in edge],
    }
    return script_call("lorepack.graph", data)


def _drawn(pages: Sequence[LinkedPage]) -> tuple[list[LinkedPage], list[tuple[int, int]]]:
    links = {(p.page.path, path) for p in pages for path in outgoing(p)}
    degree = Counter(end for link in links for end in link)
    most = sorted(pages, key=lambda p: (-degree[p.page.path], p.page.path))[:MAX_NODES]
    shown = sorted(most, key=lambda p: p.page.path)
    number = {p.page.path: index for index, p in enumerate(shown)}
    pairs = {
        (min(number[a], number[b]), max(number[a], number[b]))
        for a, b in links
        if a in number and b in number
    }
    return shown, sorted(pairs)


def layout(
    count: int, edges: Sequence[tuple[int, int]], groups: Sequence[int]
) -> npt.NDArray[np.int32]:
    """Return int32 (count, 2), places for the nodes of a graph.

    Springs along edges, and at each step repulsion from a few nodes drawn by lot (as LargeVis and
    UMAP do), so that a step costs O(nodes + edges). Nodes of a group start near each other.
    """
    lot = np.random.default_rng(0)
    angle = 2 * np.pi * np.asarray(groups, np.float64) / max(1, len(set(groups)))
    start = np.stack([np.cos(angle), np.sin(angle)], 1) if count else np.zeros((0, 2))
    places = start + lot.normal(0, 0.3, (count, 2))
    ends = np.asarray(edges, np.int64).reshape(-1, 2)
    degree = np.maximum(np.bincount(ends.ravel(), minlength=count), 1)
    for step in range(_STEPS if count > 1 else 0):
        heat = 0.1 * (1 - step / _STEPS)
        others = places[lot.integers(0, count, (count, _REPELLED_BY))]
        away = places[:, None, :] - others
        distance = (away**2).sum(2, keepdims=True) + 1e-3
        push = (away / distance).mean(1) * 0.35
        pull = np.zeros_like(places)
        along = places[ends[:, 1]] - places[ends[:, 0]]
        for axis in (0, 1):
            pull[:, axis] += np.bincount(ends[:, 0], along[:, axis], count)
            pull[:, axis] -= np.bincount(ends[:, 1], along[:, axis], count)
        move = push + pull / degree[:, None] * 0.6 - places * 0.02
        length = np.sqrt((move**2).sum(1, keepdims=True)) + 1e-9
        places += move / length * np.minimum(length, heat * 4)
    reach = np.abs(places).max(initial=1e-9)
    placed: npt.NDArray[np.int32] = np.rint(places / reach * _SIZE).astype(np.int32)
    return placed
