"""One typed graph of pages, chunks, files, tags and diagrams; every edge with its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lorepack.forges import repo_name
from lorepack_builder.model import Chunk, CodeRef, Diagram, Link, LinkedPage, Page, Target

NodeRow = tuple[int, str, str, str, int | None, int | None]
EdgeRow = tuple[int, int, int, str, str, str, int | None, int | None]


@dataclass
class Graph:
    """Rows of ``nodes`` and ``edges``."""

    nodes: list[NodeRow] = field(default_factory=list)
    edges: list[EdgeRow] = field(default_factory=list)
    _ids: dict[tuple[str, str], int] = field(default_factory=dict)

    def node(
        self,
        kind: str,
        name: str,
        label: str = "",
        page: int | None = None,
        chunk: int | None = None,
    ) -> int:
        """Return the id of a node, made at its first mention."""
        known = self._ids.get((kind, name))
        if known is not None:
            return known
        number = self._ids[(kind, name)] = len(self.nodes) + 1
        self.nodes.append((number, kind, name, label, page, chunk))
        return number

    def has(self, kind: str, name: str) -> bool:
        """Say whether a node was mentioned before."""
        return (kind, name) in self._ids

    def edge(
        self, src: int, dst: int, kind: str, chunk: int | None, line: int | None,
        label: str = "", fragment: str = "",
    ) -> None:  # fmt: skip
        """Add one edge."""
        self.edges.append((len(self.edges) + 1, src, dst, kind, label, fragment, chunk, line))


@dataclass(frozen=True)
class ChunkPlaces:
    """The chunks of a page, with their ids in the pack."""

    first_id: int
    chunks: tuple[Chunk, ...]

    def at_line(self, line: int) -> int | None:
        """Return the id of the first chunk that holds a line of the file."""
        for number, chunk in enumerate(self.chunks):
            if chunk.first_line <= line <= chunk.last_line:
                return self.first_id + number
        return None

    def at_anchor(self, page: Page, anchor: str) -> int | None:
        """Return the id of the chunk that holds a heading or a marked block."""
        for number, chunk in enumerate(self.chunks):
            if anchor in chunk.anchors:
                return self.first_id + number
        lines = [line for name, line in page.block_ids if name == anchor]
        lines += [heading.line for heading in page.headings if heading.anchor == anchor]
        return self.at_line(lines[0]) if lines else None


def build_graph(pages: Sequence[LinkedPage], chunks: Sequence[tuple[Chunk, ...]]) -> Graph:
    """Return the graph; ids follow the order of pages."""
    graph = Graph()
    places: dict[str, tuple[Page, ChunkPlaces]] = {}
    next_chunk = 1
    for number, (linked, own) in enumerate(zip(pages, chunks, strict=True), 1):
        page = linked.page
        graph.node("page", page.path, page.title, page=number)
        places[page.path] = (page, ChunkPlaces(next_chunk, own))
        next_chunk += len(own)
    for page, place in places.values():
        _add_symbols(graph, page, place)
    for linked in pages:
        page, place = places[linked.page.path]
        for link, target in zip(page.links, linked.targets, strict=True):
            if target is not None and target.kind != "web":
                _add_link(graph, page, place, link, target, places)
        for ref in linked.code_refs:
            _add_code_ref(graph, page, place, ref)
        _add_tags(graph, page, place)
        for number, diagram in enumerate(page.diagrams, 1):
            _add_diagram(graph, page, place, diagram, number)
    return graph


def _add_link(
    graph: Graph, page: Page, place: ChunkPlaces, link: Link, target: Target,
    places: dict[str, tuple[Page, ChunkPlaces]],
) -> None:  # fmt: skip
    src = graph.node("page", page.path)
    evidence = place.at_line(link.line)
    kind = "embed" if link.embed else ("wikilink" if link.syntax == "wikilink" else "link")
    if target.kind == "missing":
        dst = graph.node("missing", target.path, target.path)
        graph.edge(src, dst, "unresolved", evidence, link.line, link.label, link.fragment)
        return
    dst = graph.node(target.kind, target.path, target.path.rsplit("/", 1)[-1])
    graph.edge(src, dst, kind, evidence, link.line, link.label, target.anchor)
    if target.kind == "page" and target.anchor:
        other, other_place = places[target.path]
        chunk = other_place.at_anchor(other, target.anchor)
        if chunk is not None:
            key = other_place.chunks[chunk - other_place.first_id].key
            section = graph.node("chunk", key, f"{target.path}#{target.anchor}", chunk=chunk)
            graph.edge(src, section, "section_link", evidence, link.line, link.label, target.anchor)


def _add_symbols(graph: Graph, page: Page, place: ChunkPlaces) -> None:
    """What a file defines hangs on it, what a class defines on the class."""
    owner = graph.node("page", page.path)
    for symbol in page.symbols:
        name = symbol_node(page.path, symbol.name)
        if graph.has("symbol", name):
            continue
        chunk = place.at_line(symbol.first_line)
        node = graph.node("symbol", name, symbol.name, chunk=chunk)
        parent = symbol_node(page.path, symbol.parent)
        above = graph.node("symbol", parent) if graph.has("symbol", parent) else owner
        graph.edge(above, node, "defines", chunk, symbol.first_line, symbol.kind, symbol.anchor)


def symbol_node(path: str, name: str) -> str:
    """Return the name of a symbol's node."""
    return f"{path}::{name}"


def _add_code_ref(graph: Graph, page: Page, place: ChunkPlaces, ref: CodeRef) -> None:
    mention, target = ref.mention, ref.target
    src = graph.node("page", page.path)
    evidence = place.at_line(mention.line)
    kind, own = "code_ref", repo_name(page.source.web)
    named = mention.text.partition(":")[0] if ":" in mention.text and mention.certain else own
    if named != own:
        kind = "cross_repo_ref"
        graph.edge(src, graph.node("repo", named, named), kind, evidence, mention.line)
    if target.kind == "repo":
        return
    if target.kind == "page" and ref.symbol:
        dst = graph.node("symbol", symbol_node(target.path, ref.symbol), ref.symbol)
    else:
        dst = graph.node(target.kind, target.path, ref.symbol or target.path.rsplit("/", 1)[-1])
    first, last = mention.lines or (0, 0)
    label = f"L{first}-L{last}" if mention.lines else mention.text
    graph.edge(src, dst, kind, evidence, mention.line, label, target.anchor)


def _add_tags(graph: Graph, page: Page, place: ChunkPlaces) -> None:
    src = graph.node("page", page.path)
    lines = dict(reversed(page.tag_lines))
    for tag in page.tags:
        line = lines.get(tag, 1)
        graph.edge(src, graph.node("tag", tag, f"#{tag}"), "tag", place.at_line(line), line)


def _add_diagram(
    graph: Graph, page: Page, place: ChunkPlaces, diagram: Diagram, number: int
) -> None:
    evidence = place.at_line(diagram.line)
    prefix = f"{page.path}#diagram-{number}/"
    owner = graph.node("page", page.path)
    clusters = {
        name: graph.node("diagram_cluster", prefix + name, label)
        for name, label in diagram.clusters
    }
    nodes = {
        name: graph.node("diagram_node", prefix + name, label) for name, label in diagram.nodes
    }
    everything = {**nodes, **clusters}
    for member in everything.values():
        graph.edge(owner, member, "diagram_member", evidence, diagram.line)
    for cluster, member_name in diagram.members:
        if cluster in clusters and member_name in everything:
            graph.edge(
                clusters[cluster], everything[member_name], "diagram_member", evidence, diagram.line
            )
    for edge in diagram.edges:
        if edge.src in everything and edge.dst in everything:
            graph.edge(
                everything[edge.src], everything[edge.dst], "diagram_edge",
                place.at_line(edge.line) or evidence, edge.line, edge.label,
            )  # fmt: skip
