"""The tools beside the core ones, called as the server calls them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lorepack_server.tools.answer import Context, ToolAnswer
from lorepack_server.tools.profiles import PROFILES
from lorepack_server.tools.tokens import count_tokens
from tests.conftest import Built

Ask = Callable[..., ToolAnswer]
PAGES = {
    "Harbour.md": "---\ntags: [sea, ports]\ntool: claude\ncreated: 2026-03-01\n---\n"
    "# Harbour\n\nThe Night Watch counts ships. See [[Lighthouse]].\n",
    "Lighthouse.md": "---\ntags: [Sea, port]\ntool: codex\ncreated: 2026-03-20\n---\n"
    "# Lighthouse\n\nThe harbour master and the night watch share a lamp. [[Lighthuose]]\n\n"
    "```\nTide Table\n```\n",
    "Night Watch.md": "---\ntags: [people]\ntool: claude\ncreated: 2026-01-05\n"
    "updated: 2026-03-25\naliases: [Wachdienst]\n---\n# Night Watch\n\nThey read the tide table. "
    "Der Wachdienst dauert acht Stunden.\n",
    "Tide Table.md": "---\ntags: [sea/tides]\ncreated: 2025-12-01\n---\n# Tide Table\n\n"
    "When the water is high, the night watch and the harbour close.\n",
    "law.md": "# Tags\n\n- sea: all of it\n- `ports`: where ships land\n- people\n- sea/tides\n",
    "潮汐.md": "# 潮汐\n\n月亮引起潮汐。\n",
    "港口.md": "# 港口\n\n港口的船等待潮汐再出发。\n",
}  # fmt: skip


@pytest.fixture
def ask(build: Callable[..., Built]) -> Ask:
    """Call a tool on a small pack."""
    extra = (
        'licence = "MIT"\n[[dependency]]\necosystem = "pypi"\npackage = "flask"\n'
        'version = "3.1"\nrepo = "pallets/flask"\nsource = "v"\n'
        '[[dependency]]\necosystem = "npm"\npackage = "left-pad"\nrepo = "left-pad/left-pad"\n'
    )
    mount = build(PAGES, extra=extra).mount()
    tools = {spec.name: spec for spec in PROFILES["all"]}

    def call(name: str, /, **arguments: Any) -> ToolAnswer:
        answer = tools[name].call(Context(mount), arguments)
        json.dumps(dict(answer.data))
        return answer

    return call


def paths(entries: list[Mapping[str, Any]], key: str = "path") -> list[str]:
    return [entry[key].removeprefix("v/") for entry in entries]


def test_profiles_hold_what_they_promise() -> None:
    assert len(PROFILES["core"]) == 6 and len(PROFILES["wiki"]) == 8
    assert len({spec.name for spec in PROFILES["all"]}) == 14
    for spec in PROFILES["all"]:
        Draft202012Validator.check_schema(dict(spec.input_schema))


def test_every_tool_keeps_to_a_budget(ask: Ask) -> None:
    calls: dict[str, dict[str, Any]] = {
        "find_chunks": {"query": "night"}, "get_page": {"page": "v/Harbour.md"},
        "find_neighbors": {"source": "v/Harbour.md"}, "list_project_dependencies": {},
        "wiki_status": {}, "wiki_query": {"query": "night"}, "memory_bridge": {}, "wiki_lint": {},
        "cross_linker": {"path": "v/Harbour.md"}, "tag_taxonomy": {}, "daily_update": {}, "pack_diff": {},
        "wiki_synthesize": {"concepts": ["harbour", "night watch"]},
    }  # fmt: skip
    assert {*calls, "resolve_repo"} == {spec.name for spec in PROFILES["all"]}
    for name, arguments in calls.items():
        whole = ask(name, **arguments, maxTokens=100_000).text
        cut = ask(name, **arguments, maxTokens=100).text
        assert len(cut) <= len(whole) and count_tokens(cut) <= 110, (name, cut)


def test_dependencies_and_their_repositories(ask: Ask) -> None:
    listed = ask("list_project_dependencies").data["dependencies"]
    assert [(d["package"], d["source"]) for d in listed] == [("left-pad", ""), ("flask", "v")]
    assert ask("list_project_dependencies", cursor="1").data["dependencies"] == [listed[1]]
    for name in ("flask", "pypi:flask", "Pallets/Flask", "https://github.com/pallets/flask.git",
                 "git@github.com:pallets/flask.git"):  # fmt: skip
        found = ask("resolve_repo", name=name).data
        assert (found["status"], found["source"], found["repo"]) == ("ok", "v", "pallets/flask")
    assert ask("resolve_repo", name="left-pad").data["status"] == "no_docs"
    assert ask("resolve_repo", name="flaks").data["near"][0] == "flask"


def test_wiki_query_joins_its_filters(ask: Ask) -> None:
    found = ask("wiki_query", query="ships", tags=["sea", "ports"])
    assert paths(found.data["pages"]) == ["Harbour.md"]
    assert found.data["pages"][0]["links"] == ["v/Lighthouse.md"]
    assert "counts ships" in found.text and "[[v/Lighthouse.md]]" in found.text
    none = ask("wiki_query", query="ships", tags=["sea", "nonsense"])
    assert none.data["status"] == "no_match" and "tag 'nonsense'" in none.data["hint"]
    newest = ask("wiki_query", tags=["sea"], limit=2).data
    assert len(newest["pages"]) == 2 and newest["total"] == 3
    rest = ask("wiki_query", tags=["sea"], limit=2, cursor=newest["nextCursor"]).data
    assert len(rest["pages"]) == 1 and rest["nextCursor"] is None


def test_memory_bridge_by_tool_and_date(ask: Ask) -> None:
    def found(**arguments: str) -> list[str]:
        return paths(ask("memory_bridge", **arguments).data["pages"])

    assert found(tool_name="claude") == ["Night Watch.md", "Harbour.md"]
    assert found(date_range="2026-03-10..") == ["Night Watch.md", "Lighthouse.md"]
    assert found(date_range="..2026-03-10") == ["Harbour.md"]
    assert found(date_range="2026-03-20") == ["Lighthouse.md"]
    assert found(query="ships")[0] == "Harbour.md"
    assert "claude, codex" in ask("memory_bridge", tool_name="nobody").text
    for wrong in ("yesterday", "2026-02-30..", "2026-03-01..2026-01-01"):
        assert ask("memory_bridge", date_range=wrong).data["error"]["code"] == "invalid_range"


def test_memory_bridge_tells_what_was_asked(ask: Ask) -> None:
    answer = ask("memory_bridge", tool="claude", dates="2026-01-01:2026-12-31", query="ships")
    assert answer.data["tool_name"] == "claude" and answer.data["query"] == "ships"
    assert answer.data["date_range"] == "2026-01-01:2026-12-31"
    assert answer.text.startswith("2 pages by 'claude' of '2026-01-01:2026-12-31' about 'ships'")
    first, second = answer.data["pages"]
    assert first["updated_at"] == "2026-03-01" and second["updated_at"] == "2026-03-25"
    assert first["relevance_score"] == 1.0 > second["relevance_score"]
    assert "relevance_score" not in ask("memory_bridge", tool="claude").data["pages"][0]


def test_a_page_may_be_by_several_tools(build: Callable[..., Built]) -> None:
    mount = build({"a.md": "---\ntool: [claude, Codex]\n---\n# A\n\ntext\n",
                   "b.md": "---\ntool: gemini\n---\n# B\n\ntext\n"}).mount()  # fmt: skip
    tools = {spec.name: spec for spec in PROFILES["all"]}
    for tool in ("claude", "codex"):
        found = tools["memory_bridge"].call(Context(mount), {"tool_name": tool})
        assert paths(found.data["pages"]) == ["a.md"]
        chunks = tools["find_chunks"].call(
            Context(mount), {"query": "text", "filters": {"tool": tool}}
        )
        assert {r["page"] for r in chunks.data["results"]} == {"v/a.md"}
    assert found.data["tools"] == ["Codex", "claude", "gemini"]


def test_wiki_query_takes_any_of_several_tags(ask: Ask) -> None:
    every = ask("wiki_query", tags=["people", "ports"]).data
    some = ask("wiki_query", tags=["people", "ports"], match="any").data
    assert every["status"] == "no_match"
    assert set(paths(some["pages"])) == {"Harbour.md", "Night Watch.md"}


def test_the_recipes_taxonomy_is_enforced(build: Callable[..., Built], ask: Ask) -> None:
    assert ask("tag_taxonomy", enforce=True).data["error"]["code"] == "no_taxonomy"
    mount = build(PAGES, extra='[tags]\ntaxonomy = "v/law.md"\n').mount()
    tools = {spec.name: spec for spec in PROFILES["all"]}
    for sent in (True, "true"):
        offenders = tools["tag_taxonomy"].call(Context(mount), {"enforce": sent}).data["tags"]
        assert {entry["tag"] for entry in offenders} == {"Sea", "port"}


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        ({"concepts": "harbour"}, 1), ({"concepts": ["harbour"]}, 1),
        ({"concepts": ["harbour", "tide table", "lamp"], "threshold": 0.5}, 2),
        ({"concepts": ["harbour", "tide table", "lamp"], "threshold": "0.34"}, 2),
        ({"concepts": ["harbour", "tide table", "lamp"], "threshold": 1}, 1),
        ({"concepts": ["harbour", "tide table"], "threshold": 8}, 2),
    ],
)  # fmt: skip
def test_a_threshold_is_a_count_or_a_share(
    ask: Ask, arguments: dict[str, Any], needed: int
) -> None:
    answer = ask("wiki_synthesize", **arguments)
    assert f" hold {needed} or more of: " in answer.text
    assert all(len(p["concepts"]) >= needed for p in answer.data["passages"])


def test_daily_update_counts_from_the_packs_own_day(ask: Ask) -> None:
    week = ask("daily_update").data
    assert week["since"] == "2026-03-18"
    assert {entry["path"]: entry["change"] for entry in week["pages"]} == {
        "v/Night Watch.md": "changed", "v/Lighthouse.md": "new",
    }  # fmt: skip
    assert week["newTags"] == ["Sea", "port"]
    assert {entry["path"]: entry["orphan"] for entry in week["pages"]}["v/Night Watch.md"] is True
    assert len(ask("daily_update", since="2025-01-01").data["pages"]) == 4
    assert ask("daily_update", since="soon").data["error"]["code"] == "invalid_date"


def test_wiki_lint_by_place_and_level(ask: Ask) -> None:
    broken = ask("wiki_lint", path="v/Lighthouse.md", level="warning").data["findings"]
    assert [finding["rule"] for finding in broken] == ["broken-link"]
    assert "Lighthuose" in ask("wiki_lint").text
    assert ask("wiki_lint", path="v/law.md", level="warning").data["status"] == "no_match"
    severities = {f["severity"] for f in ask("wiki_lint", level="warning").data["findings"]}
    assert severities <= {"error", "warning"}


def test_cross_linker_finds_names_without_links(ask: Ask) -> None:
    answer = ask("cross_linker", path="v/Harbour.md", dry_run=True)
    mentions = [s for s in answer.data["suggestions"] if s["kind"] == "mention"]
    assert [(m["target"], m["text"]) for m in mentions] == [("v/Night Watch.md", "Night Watch")]
    assert "+The [[Night Watch]] counts ships." in answer.text


def test_cross_linker_leaves_code_alone_and_mends_links(ask: Ask) -> None:
    suggestions = ask("cross_linker", path="v/Lighthouse.md").data["suggestions"]
    broken = [(s["text"], s["target"]) for s in suggestions if s["kind"] == "broken"]
    assert broken == [("Lighthuose", "v/Lighthouse.md")]
    mentioned = {s["target"] for s in suggestions if s["kind"] == "mention"}
    assert mentioned == {"v/Night Watch.md", "v/Harbour.md"}


def test_cross_linker_knows_aliases_and_unspaced_scripts(ask: Ask) -> None:
    chinese = ask("cross_linker", path="v/港口.md").data["suggestions"]
    assert ("mention", "v/潮汐.md", "潮汐") in {
        (s["kind"], s["target"], s["text"]) for s in chinese
    }
    watch = ask("cross_linker", path="v/Night Watch.md").data["suggestions"]
    assert "v/Tide Table.md" in {s["target"] for s in watch if s["kind"] == "mention"}
    assert ask("cross_linker", path="v/none.md").data["status"] == "no_match"


def test_tag_taxonomy_finds_twins_and_offenders(ask: Ask) -> None:
    tags = {entry["tag"]: entry for entry in ask("tag_taxonomy").data["tags"]}
    assert tags["sea"]["same"] == ["Sea"] and tags["ports"]["same"] == ["port"]
    assert tags["sea/tides"]["parent"] == "sea"
    offenders = ask("tag_taxonomy", enforce="v/law.md").data["tags"]
    assert {entry["tag"]: entry["use"] for entry in offenders} == {"Sea": "sea", "port": "ports"}
    assert ask("tag_taxonomy", enforce="v/none.md").data["error"]["code"] == "no_taxonomy"


def test_wiki_synthesize_quotes_and_counts(ask: Ask) -> None:
    answer = ask("wiki_synthesize", concepts=["harbour", "night watch", "tide table"])
    assert {p["page"] for p in answer.data["passages"]} == {
        "v/Harbour.md", "v/Lighthouse.md", "v/Tide Table.md", "v/Night Watch.md",
    }  # fmt: skip
    pair = next(p for p in answer.data["together"] if p["concepts"] == ["harbour", "night watch"])
    assert pair["pages"] == 3 and pair["lift"] > 1
    assert answer.data["joinedBy"] == []
    assert "share a lamp" in answer.text and "v/Lighthouse.md:" in answer.text
