"""GraphML, as yEd, Gephi and networkx read it. http://graphml.graphdrawing.org/specification.html"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TextIO
from xml.etree.ElementTree import Element, SubElement, tostring

from lorepack.pack.export.model import Graph
from lorepack.text.xml import xml_text

_FACTS: Mapping[str, Sequence[str]] = {
    "node": ("kind", "name", "label", "title", "lang", "category", "lifecycle"),
    "edge": ("kind", "label", "line"),
}
_INTEGERS = frozenset({"line"})


def write_graphml(graph: Graph, out: TextIO) -> None:
    """Write a directed graph, every fact of nodes and edges as data."""
    out.write('<?xml version="1.0" encoding="utf-8"?>\n')
    out.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    for domain, names in _FACTS.items():
        for name in names:
            kind = "int" if name in _INTEGERS else "string"
            facts = {"id": f"{domain}-{name}", "for": domain, "attr.name": name, "attr.type": kind}
            _write(Element("key", facts), out)
    out.write(f'<graph id="{graph.name}" edgedefault="directed">\n')
    for node in graph.nodes:
        _write(_element("node", {"id": f"n{node.id}"}, node), out)
    for edge in graph.edges:
        ends = {"id": f"e{edge.id}", "source": f"n{edge.src}", "target": f"n{edge.dst}"}
        _write(_element("edge", ends, edge), out)
    out.write("</graph>\n</graphml>\n")


def _element(tag: str, attributes: dict[str, str], item: Any) -> Element:
    element = Element(tag, attributes)
    for name in _FACTS[tag]:
        if value := getattr(item, name):
            SubElement(element, "data", key=f"{tag}-{name}").text = xml_text(str(value))
    return element


def _write(element: Element, out: TextIO) -> None:
    out.write(tostring(element, encoding="unicode") + "\n")
