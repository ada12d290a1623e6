"""Graphviz' SVG → Mermaid, by the classes and titles that Graphviz writes (``-Tsvg``)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bs4 import Tag

from lorepack_builder.convert.html import html_tree

_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")
_MOST = 2_000


@dataclass(frozen=True)
class _Node:
    """A node or cluster: its title, what it shows, and the box that it covers (x1, y1, x2, y2)."""

    title: str
    label: str
    box: tuple[float, float, float, float] | None


def graphviz_mermaid(svg: str) -> str:
    """Return a drawing as a Mermaid graph; '' if it is none of Graphviz'."""
    # What stands before the drawing only declares it.
    soup = html_tree(svg[max(0, svg.find("<svg")) :])
    nodes = [_node(element) for element in soup.select("g.node")[:_MOST]]
    edges = [edge for element in soup.select("g.edge")[:_MOST] if (edge := _edge(element))]
    clusters = [_node(element) for element in soup.select("g.cluster")[:_MOST]]
    if not nodes:
        return ""
    ids = {node.title: f"n{number}" for number, node in enumerate(nodes, 1)}
    owners = {node.title: _innermost(node, clusters) for node in nodes}
    lines = ["graph TD"]
    for number, cluster in enumerate(clusters, 1):
        lines.append(f"    subgraph c{number}[{_quoted(cluster.label)}]")
        inside = [node for node in nodes if owners[node.title] is cluster]
        lines += [f"        {ids[node.title]}[{_quoted(node.label)}]" for node in inside]
        lines.append("    end")
    outside = [node for node in nodes if owners[node.title] is None]
    lines += [f"    {ids[node.title]}[{_quoted(node.label)}]" for node in outside]
    for src, arrow, dst, label in edges:
        if src in ids and dst in ids:
            shown = f"|{_quoted(label)}|" if label else ""
            lines.append(f"    {ids[src]} {arrow}{shown} {ids[dst]}")
    return "\n".join(lines) + "\n"


def _node(element: Tag) -> _Node:
    title = _title(element)
    texts = [text.get_text(" ", strip=True) for text in element.find_all("text")]
    return _Node(title, " ".join(filter(None, texts)) or title, _box(element))


def _edge(element: Tag) -> tuple[str, str, str, str] | None:
    title = _title(element)
    arrow = "->" if "->" in title else "--"
    src, sign, dst = title.partition(arrow)
    texts = [text.get_text(" ", strip=True) for text in element.find_all("text")]
    if not sign:
        return None
    # ``a:port->b:port``: ports are no part of a name.
    ends = (src.partition(":")[0].strip(), dst.partition(":")[0].strip())
    return ends[0], "-->" if arrow == "->" else "---", ends[1], " ".join(filter(None, texts))


def _title(element: Tag) -> str:
    found = element.find("title")
    return found.get_text(strip=True) if isinstance(found, Tag) else ""


def _box(element: Tag) -> tuple[float, float, float, float] | None:
    """Return what the first shape of an element covers."""
    for shape in element.find_all(["polygon", "ellipse", "path", "polyline"]):
        if not isinstance(shape, Tag):
            continue
        if shape.name == "ellipse":
            numbers = [_number(shape, key) for key in ("cx", "cy", "rx", "ry")]
            cx, cy, rx, ry = numbers
            return cx - rx, cy - ry, cx + rx, cy + ry
        found = [float(n) for n in _NUMBERS.findall(str(shape.get("points") or shape.get("d")))]
        if len(found) >= 4:
            xs, ys = found[0::2], found[1::2]
            return min(xs), min(ys), max(xs), max(ys)
    return None


def _number(shape: Tag, key: str) -> float:
    match = _NUMBERS.search(str(shape.get(key) or ""))
    return float(match.group()) if match else 0.0


def _innermost(node: _Node, clusters: list[_Node]) -> _Node | None:
    """Return the smallest cluster around a node's middle: the drawing does not nest them."""
    if node.box is None:
        return None
    x, y = (node.box[0] + node.box[2]) / 2, (node.box[1] + node.box[3]) / 2
    around = [
        cluster
        for cluster in clusters
        if (b := cluster.box) and b[0] <= x <= b[2] and b[1] <= y <= b[3]
    ]
    return min(around, key=_area, default=None)


def _area(node: _Node) -> float:
    box = node.box or (0.0, 0.0, 0.0, 0.0)
    return (box[2] - box[0]) * (box[3] - box[1])


def _quoted(text: str) -> str:
    return '"' + " ".join(text.split()).replace('"', "'").replace(";", ",") + '"'
