"""Answers as agents read them: of a size that survives, going on where they were cut."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorepack_server.packs.mount import Mount
from lorepack_server.tools.answer import Context, ToolAnswer
from lorepack_server.tools.budget import Budget, budget_of, cut, fill, json_characters
from lorepack_server.tools.profiles import PROFILES
from lorepack_server.tools.tokens import count_tokens
from tests.conftest import Built

TOOLS = {spec.name: spec for spec in PROFILES["all"]}
MOST = 7_500
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("find_chunks", {"query": "how do plugins work"}),
    ("find_chunks", {"query": "link", "limit": 50, "explain": True}),
    ("find_chunks", {"query": "sourdough bread at altitude"}),
    ("get_page", {"page": "Basic formatting syntax"}),
    ("get_page", {"listPages": True}),
    ("find_neighbors", {"page": "Basic formatting syntax", "depth": 3, "limit": 100}),
    ("list_project_dependencies", {}), ("resolve_repo", {"name": "x"}), ("wiki_status", {}),
    ("wiki_query", {"query": "sync", "limit": 50}), ("wiki_query", {"limit": 50}),
    ("memory_bridge", {}), ("wiki_lint", {"limit": 500}), ("cross_linker", {"limit": 500}),
    ("tag_taxonomy", {}), ("wiki_synthesize", {"concepts": ["sync", "vault"]}),
    ("wiki_synthesize", {}), ("daily_update", {"since": "2000-01-01"}), ("pack_diff", {}),
]  # fmt: skip


@pytest.fixture(scope="module")
def help_mount(help_pack: Built) -> Mount:
    return help_pack.mount()


def ask(mount: Mount, name: str, /, **arguments: Any) -> ToolAnswer:
    return TOOLS[name].call(Context(mount), arguments)


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_at_the_defaults_no_client_cuts_an_answer(
    help_mount: Mount, name: str, arguments: dict[str, Any]
) -> None:
    assert {call for call, _ in CALLS} == set(TOOLS)
    answer = ask(help_mount, name, **arguments)
    assert not answer.is_error
    assert json_characters(answer.text) <= MOST, answer.text[-300:]


@pytest.mark.parametrize("tokens", [100, 300, 1000, 5000])
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_a_size_that_is_asked_for_is_kept(
    help_mount: Mount, name: str, arguments: dict[str, Any], tokens: int
) -> None:
    if "maxTokens" not in TOOLS[name].input_schema["properties"]:
        return
    answer = ask(help_mount, name, **arguments, maxTokens=tokens)
    # One line of a list, or a citation with the beginning of a passage, is always given.
    assert count_tokens(answer.text) <= max(tokens, 260), answer.text


def test_whole_answers_say_nothing_of_more(help_mount: Mount) -> None:
    for name, arguments in (("find_chunks", {"query": "callouts", "limit": 2}),
                            ("get_page", {"page": "Aliases"}),
                            ("find_neighbors", {"page": "Aliases", "maxTokens": 20_000,
                                                "limit": 100})):  # fmt: skip
        answer = ask(help_mount, name, **arguments)
        assert "call again" not in answer.text and answer.data["nextCursor"] is None


def test_a_long_page_goes_on_until_its_end(help_mount: Mount) -> None:
    page, text, calls = "v/Editing and formatting/Basic formatting syntax.md", "", 0
    sql = "SELECT markdown, body_line FROM pages WHERE path = ?"
    row = help_mount.connection().execute(sql, (page,)).fetchone()
    cursor: str | None = "0"
    while cursor is not None:
        answer = ask(help_mount, "get_page", page=page, cursor=cursor, maxTokens=800)
        assert count_tokens(answer.text) <= 800
        match = re.search(r"^(~{4,})document\n(.*)\n\1", answer.text, re.DOTALL | re.MULTILINE)
        assert match
        begin = len(text)
        text, cursor, calls = text + match[2], answer.data["nextCursor"], calls + 1
        assert answer.data["lines"][0] == row["body_line"] + row["markdown"][:begin].count("\n")
        if cursor is not None:
            assert f'call again with cursor "{cursor}"' in answer.text.splitlines()[-1]
            assert "Sections, to be had by subsection (characters): " in answer.text
    assert text == row["markdown"] and calls > 3


def test_the_sections_of_a_cut_page_can_be_asked_for(help_mount: Mount) -> None:
    page = "v/Editing and formatting/Basic formatting syntax.md"
    answer = ask(help_mount, "get_page", page=page, maxTokens=3000)
    line = next(line for line in answer.text.splitlines() if line.startswith("Sections"))
    named = re.findall(r"([^;:]+) \((\d+)\)", line.partition("characters): ")[2])
    assert len(named) > 5
    for heading, size in named:
        section = ask(help_mount, "get_page", page=page, subsection=heading.strip(),
                      maxTokens=50_000)  # fmt: skip
        assert section.data["status"] in ("ok", "several"), heading
        if section.data["status"] == "ok":
            inside = section.text.partition("document\n")[2].rpartition("\n~")[0]
            assert abs(len(inside) - int(size)) < 5, heading


def test_lists_and_hits_go_on_where_they_ended(help_mount: Mount) -> None:
    for name, key, arguments in (
        ("find_chunks", "results", {"query": "sync", "limit": 12}),
        ("find_neighbors", "neighbors", {"page": "Aliases", "depth": 2, "limit": 40}),
        ("wiki_query", "pages", {"query": "sync", "limit": 12}),
        ("get_page", "pages", {"listPages": True}),
    ):
        whole = ask(help_mount, name, **arguments, maxTokens=90_000).data[key]
        found: list[Mapping[str, Any]] = []
        cursor: str | None = "0"
        while cursor is not None and len(found) < len(whole):
            part = ask(help_mount, name, **arguments, maxTokens=700, cursor=cursor)
            found += part.data[key]
            cursor = part.data["nextCursor"]
        assert found[: len(whole)] == list(whole), name


def test_the_best_passage_comes_first_and_is_cut_last(help_mount: Mount) -> None:
    query = "embed an image with a given size"
    best = ask(help_mount, "find_chunks", query=query, maxTokens=90_000).data["results"]
    small = ask(help_mount, "find_chunks", query=query, maxTokens=250)
    assert [r["page"] for r in small.data["results"]] == [r["page"] for r in best][:1]
    more = small.text.splitlines()[-1]
    assert more.startswith("7 more found: call again with cursor") and best[1]["title"] in more


def test_scores_only_when_asked_for(help_mount: Mount) -> None:
    plain = ask(help_mount, "find_chunks", query="aliases", limit=3)
    told = ask(help_mount, "find_chunks", query="aliases", limit=3, explain=True)
    assert "rrf" not in plain.text
    assert len(re.findall(r"^rrf \d\.\d+; bm25 rank", told.text, re.MULTILINE)) == 3


def test_what_is_around_passages_is_small(help_mount: Mount) -> None:
    """A heading path and a citation a hit, and nothing else."""
    answer = ask(help_mount, "find_chunks", query="install community plugins", maxTokens=90_000)
    outside = re.sub(r"^~~~~document\n.*?\n~~~~$", "", answer.text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in outside.splitlines() if line]
    assert len(lines) == 1 + 2 * len(answer.data["results"])
    assert all(line.startswith("## ") for line in lines[1::2])
    assert all(re.search(r"\.md:\d+(-\d+)?$", line) for line in lines[2::2])


SECTION = "\n\n".join(
    f"Paragraph {n} about the harbour and its lamp, number {n}. " + "It shines at night. " * 12
    for n in range(24)
)


def test_touching_passages_come_as_one(build: Callable[..., Built]) -> None:
    """In the document's order, with what overlaps once."""
    files = {"lamp.md": f"# Lamp\n\n## Light\n\n{SECTION}\n\n## Other\n\nNothing.\n"}
    mount = build(files).mount()
    chunks = mount.connection().execute("SELECT text FROM chunks WHERE anchor = 'light'").fetchall()
    assert len(chunks) >= 3
    answer = ask(mount, "find_chunks", query="harbour lamp night", maxTokens=90_000)
    passages = [r for r in answer.data["results"] if r["anchor"] == "light"]
    assert len(passages) == 1
    text = passages[0]["text"]
    numbers = [int(n) for n in re.findall(r"^(?:## Light\n\n)?Paragraph (\d+)", text, re.MULTILINE)]
    assert numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 4
    source = (mount.path.parents[1] / "vault" / "lamp.md").read_text().splitlines()
    first, last = passages[0]["lines"]
    assert text == "\n".join(source[first - 1 : last]).rstrip()


@pytest.mark.parametrize(
    "query",
    ["how to bake sourdough bread at altitude", "symptoms of vitamin D deficiency", "zzqx vvkw",
     "…", "!!!", "🚀"],
)  # fmt: skip
def test_nothing_found_is_said_first(help_mount: Mount, query: str) -> None:
    answer = ask(help_mount, "find_chunks", query=query)
    first, second = answer.text.splitlines()[:2]
    assert first.startswith("no_match: nothing close to the query was found (test 1.0.0")
    assert second == "The nearest passages, which probably do not answer:"
    assert answer.data["status"] == "no_match" and 0 < len(answer.data["results"]) <= 3
    assert answer.data["hint"]


@pytest.mark.parametrize(
    "query",
    ["how do I link to a heading in another note", "create a callout", "Canvas", "keyboard shortcuts",
     "notlarımı cihazlar arasında eşitle", "如何安装插件", "recover a deleted note",
     "publish a vault as a website", "templates with today's date"],
)  # fmt: skip
def test_what_is_there_is_not_called_missing(help_mount: Mount, query: str) -> None:
    assert ask(help_mount, "find_chunks", query=query).data["status"] == "ok"


def test_an_empty_answer_has_a_hint(help_mount: Mount) -> None:
    for arguments in ({"query": '"no such phrase at all"'}, {"query": "   "},
                      {"query": "x", "filters": {"lang": "xx"}},
                      {"query": "x", "filters": {"tag": "none"}}):  # fmt: skip
        answer = ask(help_mount, "find_chunks", **arguments)
        assert answer.data["results"] == [] and len(answer.data["hint"]) > 20
        assert answer.data["hint"] in answer.text.splitlines()[0]


@given(st.text(max_size=400), st.integers(1, 200))
@settings(max_examples=200, deadline=None)
def test_a_cut_fits_and_is_a_beginning(text: str, room: int) -> None:
    for budget in (Budget(room, json_characters), Budget(room, count_tokens)):
        part = cut(text, room, budget.measure)
        assert text.startswith(part) and budget.measure(part) <= room


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(0, 400))
@settings(max_examples=200, deadline=None)
def test_a_list_fills_its_room(blocks: list[str], tokens: int) -> None:
    budget = budget_of(tokens)
    text, count = fill(budget, "head", blocks, lambda n: f"{len(blocks) - n} more"
                       if n < len(blocks) else "")  # fmt: skip
    assert count >= min(1, len(blocks))
    assert count <= 1 or budget.measure(text) <= budget.limit + count
    assert text == "\n".join(p for p in ["head", *blocks[:count]] if p) + (
        f"\n{len(blocks) - count} more" if count < len(blocks) else "")  # fmt: skip
    json.dumps(text)
