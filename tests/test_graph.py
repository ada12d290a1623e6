"""The graph: typed edges with evidence, diagrams, and walking it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lorepack_builder.parse.mermaid import parse_mermaid
from lorepack_server.tools.answer import Context
from lorepack_server.tools.find_neighbors import SPEC
from tests.conftest import Built

VAULT = {
    "a.md": "#t/x\n\n[[b#Part|label]] and ![[c]]\n\n[m](d.md) [[Gone]]\n",
    "b.md": "intro\n\n## Part\n\n[[c]]\n",
    "c.md": "[[d]]\n",
    "d.md": "end\n\n```mermaid\ngraph LR\n  A[Start] -->|yes| B\n```\n",
}


def edges(built: Built) -> set[tuple[str, str, str, int]]:
    rows = (
        built.mount()
        .connection()
        .execute(
            "SELECT s.name, e.kind, d.name, e.line FROM edges e JOIN nodes s ON s.id = e.src "
            "JOIN nodes d ON d.id = e.dst WHERE d.kind <> 'chunk'"
        )
    )
    return {tuple(row) for row in rows}


def test_edges_are_typed_and_know_their_line(build: Callable[..., Built]) -> None:
    found = edges(build(VAULT))
    assert found == {
        ("v/a.md", "tag", "t/x", 1),
        ("v/a.md", "wikilink", "v/b.md", 3),
        ("v/a.md", "embed", "v/c.md", 3),
        ("v/a.md", "link", "v/d.md", 5),
        ("v/a.md", "unresolved", "Gone", 5),
        ("v/b.md", "wikilink", "v/c.md", 5),
        ("v/c.md", "wikilink", "v/d.md", 1),
        ("v/d.md", "diagram_member", "v/d.md#diagram-1/A", 4),
        ("v/d.md", "diagram_member", "v/d.md#diagram-1/B", 4),
        ("v/d.md#diagram-1/A", "diagram_edge", "v/d.md#diagram-1/B", 5),
    }


def test_every_edge_has_evidence_and_section_links_a_chunk(build: Callable[..., Built]) -> None:
    pack = build(VAULT).mount().connection()
    assert pack.execute("SELECT count(*) FROM edges WHERE chunk_id IS NULL").fetchone()[0] == 0
    rows = pack.execute(
        "SELECT c.text FROM edges e JOIN nodes n ON n.id = e.dst JOIN chunks c ON c.id = n.chunk_id "
        "WHERE e.kind = 'section_link'"
    ).fetchall()
    assert [row[0].split("\n")[0] for row in rows] == ["## Part"]


def test_walking_by_depth_kind_and_direction(build: Callable[..., Built]) -> None:
    context = Context(build(VAULT).mount())

    def names(**arguments: object) -> list[str]:
        data = SPEC.call(
            context, {"kinds": ["wikilink", "link", "embed"], "limit": 100, **arguments}
        ).data
        return [n["node"] for n in data["neighbors"]]

    assert names(source="v/b.md") == ["v/c.md", "v/a.md"]
    assert names(source="v/b.md", depth=2) == ["v/c.md", "v/a.md", "v/d.md"]
    assert names(source="v/b.md", kinds=["embed"]) == []
    assert names(source="#t/x", kinds=["tag"], depth=1) == ["v/a.md"]
    assert names(source="v/b.md", depth=2, query="end")[0] == "v/d.md"
    first = SPEC.call(context, {"source": "v/a.md", "depth": 3, "limit": 2}).data
    second = SPEC.call(
        context, {"source": "v/a.md", "depth": 3, "limit": 2, "cursor": first["nextCursor"]}
    ).data
    assert first["total"] == second["total"] and first["neighbors"] != second["neighbors"]
    assert SPEC.call(context, {"source": "nothing"}).data["status"] == "no_match"


DIAGRAMS = {
    "flowchart": (
        'flowchart TD\n  A["Long name"] --> B{ask}\n  B -- yes --> C((end))\n  B -.->|no| D & E\n'
        "  subgraph one [One]\n    C\n  end\n  F-->G-->H\n  %% note\n  style A fill:#fff\n  I ==> J; K --- L",
        {("A", "B", ""), ("B", "C", "yes"), ("B", "D", "no"), ("B", "E", "no"), ("F", "G", ""),
         ("G", "H", ""), ("I", "J", ""), ("K", "L", "")},
        {"A": "Long name", "B": "ask", "C": "end"},
    ),
    "sequence": (
        "sequenceDiagram\n  participant U as User\n  U->>Server: ask\n  Server-->>U: answer\n  loop x\n  end",
        {("U", "Server", "ask"), ("Server", "U", "answer")},
        {"U": "User", "Server": "Server"},
    ),
    "class": (
        "classDiagram\n  Animal <|-- Dog\n  class Cat {\n  +meow()\n  }\n  Dog --> Cat : chases",
        {("Animal", "Dog", ""), ("Dog", "Cat", "chases")},
        {"Cat": "Cat"},
    ),
    "state": (
        "stateDiagram-v2\n  [*] --> Idle\n  Idle --> Busy: work\n  state Busy {\n    a --> b\n  }",
        {("[*]", "Idle", ""), ("Idle", "Busy", "work"), ("a", "b", "")},
        {"Idle": "Idle"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "arrows", "labels"), DIAGRAMS.values(), ids=DIAGRAMS)
def test_mermaid(source: str, arrows: set[tuple[str, str, str]], labels: dict[str, str]) -> None:
    diagram = parse_mermaid(source, 1)
    assert diagram is not None
    assert {(e.src, e.dst, e.label) for e in diagram.edges} == arrows
    assert labels.items() <= dict(diagram.nodes).items()


def test_clusters_have_members() -> None:
    diagram = parse_mermaid("graph LR\nsubgraph S [Side]\n  A --> B\nend\nC", 1)
    assert diagram is not None
    assert diagram.clusters == (("S", "Side"),)
    assert set(diagram.members) == {("S", "A"), ("S", "B")}


def test_other_diagrams_have_no_graph() -> None:
    assert parse_mermaid("pie title X\n  a : 1", 1) is None
    assert parse_mermaid("", 1) is None
