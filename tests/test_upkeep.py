"""Tags, concepts, memory, hot page and status: what the build finds, and where it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lorepack.cli import cli
from lorepack.errors import LorepackError
from lorepack.pack.taxonomy import read_taxonomy
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from lorepack_server.tools.answer import Context, ToolAnswer
from lorepack_server.tools.profiles import PROFILES
from tests.conftest import Built, write_files, write_recipe

Build = Callable[..., Built]
TOOLS = {spec.name: spec for spec in PROFILES["all"]}
DEFAULT_MODEL = "multilingual-e5-small"


def ask(built: Built, name: str, **arguments: Any) -> ToolAnswer:
    return TOOLS[name].call(Context(built.mount()), {"maxTokens": 100_000, **arguments})


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(cli, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def page(tags: str, text: str = "x") -> str:
    return f"---\ntags: [{tags}]\n---\n{text}\n"


# Tags


TAGGED = {
    "a.md": page("harbour, note, sea/tides, machine-learning"), "b.md": page("harbour, notes"),
    "c.md": page("Harbour, note, MachineLearning"), "d.md": page("news, new, machine_learning"),
    "e.md": "Text\n\nwith #Harbour inline\n",
}  # fmt: skip


def tags_of(built: Built) -> dict[str, Mapping[str, Any]]:
    return {entry["tag"]: entry for entry in ask(built, "tag_taxonomy").data["tags"]}


def test_tags_that_differ_in_form_only(build: Build) -> None:
    built = build(TAGGED)
    tags = tags_of(built)
    assert [(t, tags[t]["use"]) for t in ("Harbour", "notes", "new", "news")] == [
        ("Harbour", "harbour"), ("notes", "note"), ("new", ""), ("news", ""),
    ]  # fmt: skip
    assert tags["harbour"]["pages"] == 2 and tags["sea/tides"]["parent"] == "sea"
    assert dict(zip(tags["note"]["same"], tags["note"]["why"], strict=True)) == {"notes": "plural"}
    assert set(tags["machine-learning"]["why"]) == {"hyphen"}
    variants = {(f.path, f.line): f for f in built.findings if f.rule == "tag-variant"}
    assert variants["v/e.md", 3].message == "#Harbour differs from #harbour only in case"
    assert variants["v/e.md", 3].fix == "write #harbour"


def test_tags_that_are_translations(build: Build) -> None:
    english = [
        "harbour",
        "history",
        "music",
        "health",
        "lighthouse",
        "film",
        "cooking",
        "travel",
        "security",
        "river",
    ]
    chinese = ["港口", "历史", "音乐", "天气", "编程", "电影", "烹饪", "旅行", "笔记", "数学"]
    pages = {f"en{n}.md": page(tag, f"All about the {tag}.") for n, tag in enumerate(english)}
    pages |= {
        f"zh{n}.md": page(tag, f"这里讲的是{tag}。").replace("---\ntags", "---\nlang: zh\ntags")
        for n, tag in enumerate(chinese)
    }
    tags = tags_of(build(pages, model=DEFAULT_MODEL))
    pairs = {(tag, other) for tag, entry in tags.items() for other in entry["same"]}
    right = [("history", "历史"), ("music", "音乐"), ("film", "电影"),
             ("cooking", "烹饪"), ("travel", "旅行")]  # fmt: skip
    assert set(right) <= pairs and {(other, tag) for tag, other in right} <= pairs
    assert not {tag for tag, _ in pairs} & {"health", "天气", "编程", "数学", "security"}
    assert all(not entry["use"] for entry in tags.values())


LAW = """# Tags

- #harbour (also: port, docks): where ships land
- note
- sea — all of it
  - tides: and their tables
- see the docs
"""


def test_a_taxonomy_is_read_from_lists() -> None:
    tags = read_taxonomy(LAW)
    assert [tag.tag for tag in tags] == ["harbour", "note", "sea", "sea/tides"]
    assert (tags[0].about, list(tags[0].also)) == ("where ships land", ["port", "docks"])
    assert tags[2].about == "all of it" and tags[3].about == "and their tables"
    assert read_taxonomy("no list\n\n1. one\n") == []


@pytest.mark.parametrize("where", ["page", "file"])
def test_a_taxonomy_is_law(build: Build, tmp_path: Path, where: str) -> None:
    pages = {**TAGGED, "f.md": page("Docks, zebra")}
    if where == "page":
        pages["law.md"] = LAW
    else:
        (tmp_path / "law.md").write_text(LAW)
    name = "v/law.md" if where == "page" else "law.md"
    built = build(pages, extra=f'[tags]\ntaxonomy = "{name}"\n')
    tags = tags_of(built)
    assert (tags["sea/tides"]["allowed"], tags["sea/tides"]["about"]) == (True, "and their tables")
    assert {t: e["use"] for t, e in tags.items() if e["allowed"] is False} == {
        "Harbour": "harbour", "notes": "note", "Docks": "harbour", "zebra": "", "news": "",
        "new": "", "machine-learning": "", "MachineLearning": "", "machine_learning": "",
    }  # fmt: skip
    unlisted = {f.path for f in built.findings if f.rule == "tag-unlisted"}
    assert "v/f.md" in unlisted
    called = ask(built, "tag_taxonomy", enforce="v/law.md") if where == "page" else None
    if called:
        assert {e["tag"] for e in called.data["tags"]} == {
            t for t, e in tags.items() if e["allowed"] is False
        }


@pytest.mark.parametrize("name", ["v/none.md", "none.md", "v/empty.md"])
def test_a_taxonomy_that_is_none_is_an_error(build: Build, name: str) -> None:
    with pytest.raises(LorepackError, match="taxonomy"):
        build({"empty.md": "no list"}, extra=f'[tags]\ntaxonomy = "{name}"\n')


def test_tags_of_a_folder_are_counted_there(build: Build) -> None:
    built = build({"x/a.md": page("one, two"), "y/b.md": page("one")})
    inside = ask(built, "tag_taxonomy", path="v/x").data["tags"]
    assert [(e["tag"], e["pages"]) for e in inside] == [("one", 1), ("two", 1)]
    assert run("tags", built.path, "v/x").splitlines()[1:] == ["#one: 1 pages", "#two: 1 pages"]


# Concepts


def concept_vault(*, joined: str = "") -> dict[str, str]:
    pages = {f"day {n}.md": f"Rain.\n\nThe Tide Table and the Night Watch met {n} times.\n"
             for n in range(6)}  # fmt: skip
    noise = {f"noise {n}.md": f"Nothing here but the letter {n}, at length.\n" for n in range(60)}
    alone = {f"alone {n}.md": "A Lamp, and only a Lamp.\n" for n in range(6)}
    names = {"Tide Table.md": joined or "x", "Night Watch.md": "y", "Lamp.md": "z"}
    return {**pages, **noise, **alone, **names}


def test_concepts_that_stand_together_without_a_page(build: Build) -> None:
    built = build(concept_vault())
    (group,) = ask(built, "wiki_synthesize").data["groups"]
    assert sorted(group["concepts"]) == ["Night Watch", "Tide Table"]
    assert group["pages"] == 6 and group["lift"] > 5
    assert len({p["page"] for p in group["passages"]}) == 6
    assert all(p["citationUrl"] and p["lines"] == [1, 3] for p in group["passages"])
    assert "no page joins them" in run("synthesize", built.path)


@pytest.mark.parametrize("joined", ["link", "title"])
def test_joined_concepts_are_not_told(build: Build, joined: str) -> None:
    pages = concept_vault(joined="See [[Night Watch]]." if joined == "link" else "")
    if joined == "title":
        pages["The Night Watch and the Tide Table.md"] = "both"
    assert ask(build(pages), "wiki_synthesize").data["status"] == "no_match"


def test_groups_hold_more_than_two(build: Build) -> None:
    pages = concept_vault()
    for n in range(6):
        pages[f"day {n}.md"] = f"{n}: Tide Table, Night Watch, Beacon Hill."
    pages["Beacon Hill.md"] = "h"
    (group,) = ask(build(pages), "wiki_synthesize").data["groups"]
    assert sorted(group["concepts"]) == ["Beacon Hill", "Night Watch", "Tide Table"]


def test_every_sentence_of_a_synthesis_is_from_a_page(build: Build) -> None:
    pages = concept_vault()
    built = build(pages)
    text = run("synthesize", built.path, "tide table", "night watch")
    fenced = re.findall(r"~~~~document\n(.*?)\n~~~~", text, re.DOTALL)
    assert len(fenced) == 6
    assert all(any(quoted in page for page in pages.values()) for quoted in fenced)
    short = ask(built, "wiki_synthesize", concepts=["tide table", "night watch"], maxTokens=60)
    assert len(short.data["passages"]) == 1


# Memory


def by(tool: str, day: str, text: str, key: str = "tool") -> str:
    return f"---\n{key}: {tool}\ncreated: {day}\n---\n{text}\n"


MEMORY = {
    "one.md": by("claude", "2026-03-01", "# Locks\n\nUse one lock a table. See [[Deadlock]]."),
    "two.md": by("codex", "2026-03-20", "# Locks\n\nUse no lock, use a queue. See [[Queue]]."),
    "three.md": by("codex", "2026-05-01", "# Colours\n\nBlue is best."),
    "Deadlock.md": "x", "Queue.md": "y", "human.md": "# Locks\n\nA lock is a lock.",
}  # fmt: skip


def test_two_tools_are_compared_on_one_topic(build: Build) -> None:
    built = build(MEMORY)
    answer = ask(
        built, "memory_bridge", tool_name="claude", compare_with="Codex", query="lock table queue"
    )
    assert [(p["tool"], p["path"]) for p in answer.data["pages"]] == [
        ("claude", "v/one.md"), ("Codex", "v/two.md"),
    ]  # fmt: skip
    assert answer.data["onlyNames"] == {"claude": ["Deadlock"], "Codex": ["Queue"]}
    assert "one lock a table" in answer.text and "use a queue" in answer.text
    assert "A lock is a lock" not in answer.text
    late = ask(built, "memory_bridge", tool_name="claude", compare_with="codex", query="lock",
               date_range="2026-03-10..")  # fmt: skip
    assert {p["tool"] for p in late.data["pages"]} == {"codex"}
    wrong = ask(built, "memory_bridge", compare_with="codex", query="lock")
    assert wrong.data["error"]["code"] == "invalid_arguments"


def test_the_properties_that_name_a_tool_are_the_recipes(build: Build) -> None:
    pages = {
        "a.md": by("claude", "2026-01-01", "x", "written_with"),
        "b.md": by("codex", "2026-01-01", "x"),
    }
    usual = build(pages)
    assert ask(usual, "memory_bridge").data["tools"] == ["codex"]
    own = build(pages, extra='[memory]\ntool_keys = ["written_with"]\n', version="2")
    assert ask(own, "memory_bridge").data["tools"] == ["claude"]


def test_a_bad_range_is_one_line(build: Build) -> None:
    built = build(MEMORY)
    done = CliRunner().invoke(cli, ["memory", str(built.path), "--dates", "2026-05-01..2026-01-01"])
    assert (done.exit_code, done.output) == (2, "lorepack: dates: 2026-05-01 is after 2026-01-01\n")
    assert "v/three.md" in run("memory", built.path, "--tool", "codex", "--dates", "2026-04-01..")


# Hot page


BEFORE = {
    "Home.md": "---\nupdated: 2026-03-01\n---\n[[Kept]] [[Left]]", "Kept.md": "as it is",
    "Left.md": "---\nupdated: 2026-03-02\n---\n# Left\n\none\n\n## Part\n\ntwo\n", "Gone.md": "bye",
}  # fmt: skip
AFTER = {
    "Home.md": "---\nupdated: 2026-03-20\n---\n[[Kept]]", "Kept.md": "as it is",
    "Left.md": "---\nupdated: 2026-03-02\n---\n# Left\n\none\n\n## Part\n\nthree\n",
    "New.md": page("fresh", "hello").replace("---\ntags", "---\ncreated: 2026-03-18\ntags"),
}  # fmt: skip


@pytest.fixture
def two(build: Build, tmp_path: Path) -> Built:
    build(BEFORE)
    (tmp_path / "vault" / "Gone.md").unlink()
    return build(AFTER, version="1.1.0")


def test_what_truly_changed_is_told(two: Built) -> None:
    data = ask(two, "daily_update").data
    assert (data["day"], data["since"], data["previousVersion"]) == (
        "2026-03-20", "2026-03-13", "1.0.0",
    )  # fmt: skip
    assert {(c["kind"], c["path"]) for c in data["changes"]} == {
        ("changed", "v/Home.md"), ("changed", "v/Left.md"), ("added", "v/New.md"),
        ("removed", "v/Gone.md"),
    }  # fmt: skip
    left = next(c for c in data["changes"] if c["path"] == "v/Left.md")
    assert [s["heading"] for s in left["sections"]] == ["Part"]
    assert data["newOrphans"] == ["v/Left.md", "v/New.md"] and data["newTags"] == ["fresh"]
    # Dates alone tell of two pages.
    assert [(p["path"], p["change"]) for p in data["pages"]] == [
        ("v/Home.md", "changed"), ("v/New.md", "new"),
    ]  # fmt: skip


def test_hot_is_written_as_a_page(two: Built, tmp_path: Path) -> None:
    run("hot", two.path, "--write", tmp_path / "hot.md")
    text = (tmp_path / "hot.md").read_text()
    assert text.startswith("---\nupdated: 2026-03-20\n")
    for line in ("- 2026-03-18 new: [[New]]", "## Since version 1.0.0", "#fresh", "- [[Left]]"):
        assert line in text
    assert run("hot", two.path, "--since", "2026-03-19").startswith("1 pages are dated")


def test_without_dates_nothing_is_recent(build: Build) -> None:
    answer = ask(build({"a.md": "x"}), "daily_update")
    assert answer.data["pages"] == [] and answer.data["day"] == ""


# Status and queries


def test_status_counts_and_tells_what_waits(build: Build) -> None:
    pages = {
        "guides/a.md": "---\nlifecycle: draft\nupdated: 2026-05-01\ntool: codex\n---\nThe Harbour. [[Gone]]",
        "guides/b.md": "---\nlifecycle: verified\nupdated: 2025-01-01\n---\nb", "Harbour.md": "h",
    }  # fmt: skip
    built = build(pages)
    data = ask(built, "wiki_status").data
    assert data["categories"] == {"guides": 2}
    assert data["lifecycles"] == {"draft": 1, "verified": 1} and data["tools"] == {"codex": 1}
    assert (data["oldest"], data["newest"], data["day"]) == (
        "2025-01-01",
        "2026-05-01",
        "2026-05-01",
    )
    assert data["stalePages"] == 1 and data["severities"] == {"info": 1, "warning": 1}
    assert data["linksToAdd"] == 2 and data["model"] is None
    assert json.loads(run("status", built.path, "--json"))["stalePages"] == 1


def test_an_empty_answer_names_the_filter(build: Build) -> None:
    built = build(
        {"x/a.md": "---\ntags: [one]\nlifecycle: draft\n---\na", "y/b.md": page("two", "b")}
    )
    for arguments, hint in [
        ({"tags": ["one", "two"]}, "without tag"),
        ({"tags": ["one"], "category": "y"}, "no page passes all filters together"),
        ({"lifecycle": "verified"}, "valid: draft"), ({"category": "z"}, "valid: x, y"),
        ({"query": '"zebra crossing"', "tags": ["one"]}, "1 pages pass the filters"),
    ]:  # fmt: skip
        answer = ask(built, "wiki_query", **arguments)
        assert answer.data["status"] == "no_match" and hint in answer.data["hint"], arguments
        assert hint in answer.text


def test_upkeep_is_part_of_what_makes_a_pack(build: Build, tmp_path: Path) -> None:
    """Two builds of the same are the same bytes; another taxonomy file makes another pack."""
    (tmp_path / "law.md").write_text("- one\n")
    vault = write_files(tmp_path / "v", {**TAGGED, **concept_vault()})
    recipe = write_recipe(tmp_path, vault, extra='[tags]\ntaxonomy = "law.md"\n')
    first, _ = build_pack(read_recipe(recipe), tmp_path / "one")
    second, _ = build_pack(read_recipe(recipe), tmp_path / "two")
    assert Path(first.pack).read_bytes() == Path(second.pack).read_bytes()
    (tmp_path / "law.md").write_text("- two\n")
    third, _ = build_pack(read_recipe(recipe), tmp_path / "one")
    assert third.digest != first.digest and not third.unchanged
