"""Read the nodes and arrows of mermaid flowcharts, sequence, class and state diagrams."""

from __future__ import annotations

import re
from collections.abc import Callable

from lorepack_builder.model import Diagram, DiagramEdge

_ID = r"[^\W\d][\w.-]*|\d[\w.]*"
_SHAPE = (
    r"(?:\[\[.*?\]\]|\[\(.*?\)\]|\[.*?\]|\(\(\(.*?\)\)\)|\(\(.*?\)\)|\(\[.*?\]\)|\(.*?\)"
    r"|\{\{.*?\}\}|\{.*?\}|>.*?\])"
)
_FLOW_NODE = re.compile(
    rf"\s*(?P<id>(?:(?!--|==|-\.)[\w.])+)(?P<shape>{_SHAPE})?(?::::?\w+)?(?:@\{{.*?\}})?"
)
_FLOW_ARROW = re.compile(
    r"\s*(?:<|x|o)?(?P<open>--|==|-\.)(?:(?P<inner>(?:[^-=.>|\n]|(?<=\w)[-.](?=\w))+?)(?:--|==|\.-))?"
    r"(?:-|=|\.)*(?:>|x(?=\s)|o(?=\s))?\s*(?:\|(?P<pipe>[^|]*)\|)?|\s*~~~"
)
_SEQUENCE = re.compile(
    r"\s*(?P<src>[^-:+<>\n]+?)\s*(?:<<)?(?:-->>|->>|-->|->|--x|-x|--\)|-\))[+-]?\s*(?P<dst>[^:\n]+?)\s*:\s*(?P<label>.*)"
)
_PARTICIPANT = re.compile(
    r"\s*(?:create\s+)?(?:participant|actor)\s+(?P<id>\S+)(?:\s+as\s+(?P<label>.+))?"
)
_CLASS_EDGE = re.compile(
    rf"\s*(?P<src>{_ID})(?:\s*\"[^\"]*\")?\s*(?:<\|--|\*--|o--|<--|<\.\.|<\|\.\.|--\|>|--\*|--o|-->|\.\.>|\.\.\|>|--|\.\.)"
    rf"\s*(?:\"[^\"]*\"\s*)?(?P<dst>{_ID})\s*(?::\s*(?P<label>.*))?$"
)
_CLASS = re.compile(rf"\s*class\s+(?P<id>{_ID})(?:\[\"(?P<label>[^\"]*)\"\])?")
_STATE_EDGE = re.compile(
    r"\s*(?P<src>\[\*\]|[\w.-]+?)\s*-->\s*(?P<dst>\[\*\]|[\w.-]+)\s*(?::\s*(?P<label>.*))?$"
)
_STATE = re.compile(r"\s*state\s+(?:\"(?P<label>[^\"]*)\"\s+as\s+)?(?P<id>[\w.-]+)(?P<open>\s*\{)?")
_SUBGRAPH = re.compile(r"\s*subgraph\s+(?P<id>[\w.-]+)?\s*(?:\[(?P<label>.*?)\])?(?P<rest>.*)$")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_MAX_LINES = 5000


class _Builder:
    """Collects a diagram's parts in the order of their first mention."""

    def __init__(self) -> None:
        self.nodes: dict[str, str] = {}
        self.edges: list[DiagramEdge] = []
        self.clusters: dict[str, str] = {}
        self.members: dict[tuple[str, str], None] = {}
        self.open: list[str] = []

    def node(self, name: str, label: str = "") -> None:
        label = _clean(label)
        if label or name not in self.nodes:
            self.nodes[name] = label or self.nodes.get(name, "") or name
        if self.open:
            self.members[(self.open[-1], name)] = None

    def edge(self, src: str, dst: str, label: str, line: int) -> None:
        self.edges.append(DiagramEdge(src, dst, _clean(label), line))

    def cluster(self, name: str, label: str) -> None:
        self.clusters[name] = _clean(label) or name
        self.open.append(name)


def parse_mermaid(source: str, first_line: int) -> Diagram | None:
    """Read one diagram; None for a kind that has no graph. Never raises.

    Args:
        first_line: the file's line on which ``source`` starts.
    """
    lines = source.split("\n")[:_MAX_LINES]
    kind, start = _kind(lines)
    reader = _READERS.get(kind)
    if reader is None:
        return None
    builder = _Builder()
    for number, line in enumerate(lines[start + 1 :], start + 1):
        for statement in line.split(";") if kind == "flowchart" else [line]:
            if statement.strip() and not statement.lstrip().startswith("%%"):
                reader(builder, statement[:1000], first_line + number)
    return Diagram(
        kind,
        first_line,
        tuple(builder.nodes.items()),
        tuple(builder.edges),
        tuple(builder.clusters.items()),
        tuple(builder.members),
    )


def _kind(lines: list[str]) -> tuple[str, int]:
    in_header = False
    for number, line in enumerate(lines):
        word = re.split(r"[\s;]", line.strip())[0]
        if word == "---":
            in_header = not in_header
        elif word and not in_header and not word.startswith("%%"):
            return _KINDS.get(word, word), number
    return "", 0


def _flowchart(builder: _Builder, statement: str, line: int) -> None:
    stripped = statement.strip()
    if stripped == "end":
        if builder.open:
            builder.open.pop()
        return
    if stripped.startswith("subgraph"):
        match = _SUBGRAPH.match(statement)
        if match:
            name = (match["id"] or "") + ("" if match["label"] else match["rest"])
            builder.cluster(
                name.strip().strip('"') or f"cluster{len(builder.clusters)}", match["label"] or ""
            )
        return
    if stripped.split(" ")[0] in _FLOW_SETTINGS:
        return
    position, label = 0, ""
    before: list[str] = []
    while True:
        group, position = _flow_group(builder, statement, position)
        for src in before:
            for dst in group:
                builder.edge(src, dst, label, line)
        arrow = _FLOW_ARROW.match(statement, position) if group else None
        if arrow is None or arrow.end() == position:
            return
        label, before, position = arrow["pipe"] or arrow["inner"] or "", group, arrow.end()


def _flow_group(builder: _Builder, statement: str, position: int) -> tuple[list[str], int]:
    """Read ``A & B & C`` from ``position``; return the ids and where they end."""
    group: list[str] = []
    while match := _FLOW_NODE.match(statement, position):
        name = match["id"]
        if name not in builder.clusters:
            builder.node(name, _unshape(match["shape"] or ""))
        group.append(name)
        position = match.end()
        joined = re.compile(r"\s*&").match(statement, position)
        if not joined:
            break
        position = joined.end()
    return group, position


def _sequence(builder: _Builder, statement: str, line: int) -> None:
    if match := _PARTICIPANT.match(statement):
        builder.node(match["id"], match["label"] or "")
    elif match := _SEQUENCE.match(statement):
        builder.node(match["src"])
        builder.node(match["dst"])
        builder.edge(match["src"], match["dst"], match["label"], line)


def _class(builder: _Builder, statement: str, line: int) -> None:
    if match := _CLASS.match(statement):
        builder.node(match["id"], match["label"] or "")
    elif match := _CLASS_EDGE.match(statement):
        builder.node(match["src"])
        builder.node(match["dst"])
        builder.edge(match["src"], match["dst"], match["label"] or "", line)


def _state(builder: _Builder, statement: str, line: int) -> None:
    if statement.strip() == "}":
        if builder.open:
            builder.open.pop()
    elif match := _STATE_EDGE.match(statement):
        builder.node(match["src"])
        builder.node(match["dst"])
        builder.edge(match["src"], match["dst"], match["label"] or "", line)
    elif match := _STATE.match(statement):
        if match["open"]:
            builder.cluster(match["id"], match["label"] or "")
        else:
            builder.node(match["id"], match["label"] or "")


def _unshape(shape: str) -> str:
    return shape.lstrip("[({>").rstrip("])}").strip("/\\").strip().strip('"')


def _clean(label: str) -> str:
    return " ".join(_BREAK.sub(" ", label).strip().strip('"').split())


_KINDS = {
    "graph": "flowchart",
    "flowchart-elk": "flowchart",
    "classDiagram-v2": "classDiagram",
    "stateDiagram-v2": "stateDiagram",
}
_FLOW_SETTINGS = frozenset({"direction", "classDef", "class", "style", "linkStyle", "click"})
_READERS: dict[str, Callable[[_Builder, str, int], None]] = {
    "flowchart": _flowchart,
    "sequenceDiagram": _sequence,
    "classDiagram": _class,
    "stateDiagram": _state,
}
