"""The graph for other programs, Obsidian's colours, and a new vault."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import networkx
import pytest
from antlr4 import CommonTokenStream, InputStream
from antlr4.error.ErrorListener import ErrorListener
from antlr4_cypher import CypherLexer, CypherParser
from click.testing import CliRunner

from lorepack.cli import cli
from lorepack.clients.obsidian import COLOURS
from lorepack.pack.export import WRITERS, read_graph
from lorepack.pack.open import open_pack
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from tests.conftest import Built

Build = Callable[..., Built]
PAGES = {
    "guides/A.md": "---\ntags: [one, 'it''s']\nlifecycle: draft\n---\n[[B]] [[Gone \"x\" \\ y]]\n",
    "B.md": "---\ntitle: \"<B> & 'co' \\x07 😀\"\n---\n[[A|to \"A\"]]\n\n"
    "```mermaid\nflowchart TD\n  x[\"a \\\\ b\"] --> y\n```\n",
}  # fmt: skip


def run(*arguments: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(cli, [str(a) for a in arguments], standalone_mode=False)
    if code:
        return str(done.exception)
    assert done.exception is None, done.exception
    return done.output


def counts(built: Built) -> tuple[int, int]:
    with closing(open_pack(built.path)) as pack:
        graph = read_graph(pack)
    return len(graph.nodes), len(graph.edges)


def test_graphml_is_read_by_networkx(build: Build, tmp_path: Path) -> None:
    built = build(PAGES)
    run("export", built.path, "--graph", "graphml", "-o", tmp_path / "g.graphml")
    graph = networkx.read_graphml(tmp_path / "g.graphml")
    assert (graph.number_of_nodes(), graph.number_of_edges()) == counts(built)
    titles = {facts.get("title") for _, facts in graph.nodes(data=True)}
    assert "<B> & 'co' � 😀" in titles
    assert {facts["kind"] for *_, facts in graph.edges(data=True)} >= {"wikilink", "tag"}


def test_json_is_read_by_networkx(build: Build) -> None:
    built = build(PAGES)
    data = json.loads(run("export", built.path, "--graph", "json"))
    graph = networkx.node_link_graph(data, edges="edges")
    assert (graph.number_of_nodes(), graph.number_of_edges()) == counts(built)
    assert graph.graph == {"name": "test", "version": "1.0.0"}


class _Errors(ErrorListener):  # type: ignore[misc]
    def syntaxError(self, *details: object) -> None:
        raise AssertionError(details[4])


def test_cypher_is_cypher(build: Build) -> None:
    built = build(PAGES)
    text = run("export", built.path, "--graph", "cypher")
    constraint, *statements = text.split(";\n")[:-1]
    assert constraint.startswith("CREATE CONSTRAINT") and len(statements) > 4
    for statement in statements:
        lexer = CypherLexer(InputStream(f"{statement};"))
        parser = CypherParser(CommonTokenStream(lexer))
        for part in (lexer, parser):
            part.removeErrorListeners()
            part.addErrorListener(_Errors())
        parser.script()
    assert "CREATE (n:Lore:Page)" in text and "-[r:WIKILINK]->" in text


@pytest.mark.parametrize("form", WRITERS)
def test_kinds_narrow_the_graph(build: Build, form: str) -> None:
    built = build(PAGES)
    with closing(open_pack(built.path)) as pack:
        graph = read_graph(pack, ["page"])
    assert {node.kind for node in graph.nodes} == {"page"} and len(graph.edges) == 2
    out = io.StringIO()
    WRITERS[form](graph, out)
    assert "guides/A.md" in out.getvalue()
    wrong = run("export", built.path, "--graph", form, "--kind", "pages", code=2)
    assert "diagram_node" in wrong and "page" in wrong


# Obsidian's graph view


def settings(vault: Path) -> dict[str, object]:
    data: dict[str, object] = json.loads((vault / ".obsidian" / "graph.json").read_text())
    return data


def test_colours_are_added_and_a_persons_own_are_kept(build: Build, tmp_path: Path) -> None:
    built = build({**PAGES, "notes/C.md": "---\ntags: [one]\n---\nx"})
    vault = tmp_path / "vault"
    own = {"query": 'path:"guides/"', "color": {"a": 1, "rgb": 1}}
    (vault / ".obsidian").mkdir()
    before = {"showTags": True, "colorGroups": [own]}
    (vault / ".obsidian" / "graph.json").write_text(json.dumps(before))
    dry = json.loads(run("colorize", built.path, vault, "--dry-run"))
    assert settings(vault) == before
    run("colorize", built.path, vault)
    after = settings(vault)
    assert after == dry and after["showTags"] is True
    groups = after["colorGroups"]
    assert isinstance(groups, list) and groups[0] == own
    assert [g["query"] for g in groups[1:]] == ['path:"notes/"']
    assert json.loads((vault / ".obsidian" / "graph.json.bak").read_text()) == before
    run("colorize", built.path, vault)
    assert settings(vault) == after


@pytest.mark.parametrize(
    ("by", "query"),
    [("tag", "tag:#one"), ("lifecycle", '["lifecycle":"draft"]'), ("folder", 'path:"guides/"')],
)
def test_groups_by_what_pages_say(build: Build, tmp_path: Path, by: str, query: str) -> None:
    built = build(PAGES)
    groups = json.loads(run("colorize", built.path, tmp_path / "vault", "--by", by, "--dry-run"))
    assert query in [group["query"] for group in groups["colorGroups"]]


def test_no_more_groups_than_colours(build: Build, tmp_path: Path) -> None:
    built = build({f"f{n}/a.md": "x" for n in range(30)})
    groups = json.loads(run("colorize", built.path, tmp_path / "vault", "--dry-run"))
    assert len(groups["colorGroups"]) == len(COLOURS) == len(set(COLOURS))


@pytest.mark.parametrize("text", ["{", "[]"])
def test_settings_that_cannot_be_read_are_left_alone(
    build: Build, tmp_path: Path, text: str
) -> None:
    built = build(PAGES)
    file = tmp_path / "vault" / ".obsidian" / "graph.json"
    file.parent.mkdir()
    file.write_text(text)
    assert "mend or remove it" in run("colorize", built.path, tmp_path / "vault", code=2)
    assert file.read_text() == text
    assert "no folder" in run("colorize", built.path, tmp_path / "none", code=2)


# A new vault


def test_a_new_vault_builds_without_a_finding(tmp_path: Path) -> None:
    run("init", "vault", tmp_path / "My Notes", "--title", "Our notes")
    recipe = read_recipe(tmp_path / "My Notes" / "packs" / "my-notes.toml")
    assert (recipe.name, recipe.title) == ("my-notes", "Our notes")
    summary, findings = build_pack(recipe, tmp_path / "out", strict=True)
    assert (summary.pages, findings) == (3, [])


@pytest.mark.parametrize("options", [(), ("--name", "Ü")])
def test_a_new_vault_overwrites_nothing(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "Tags.md").write_text("mine")
    wrong = run("init", "vault", tmp_path, *options, code=2)
    assert "already" in wrong or "a-z" in wrong
    assert [path.name for path in tmp_path.iterdir()] == ["Tags.md"]
    assert (tmp_path / "Tags.md").read_text() == "mine"


def test_a_title_that_no_recipe_holds_is_refused(tmp_path: Path) -> None:
    assert "recipe" in run("init", "vault", tmp_path / "v", "--title", 'a "b"', code=2)
    assert not (tmp_path / "v").exists()
