"""Questions and their answers."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorepack_server.packs.mount import Mount, mount_pack
from lorepack_server.retrieve.search import find_chunks
from tests.conftest import LOREPACK, Built


@pytest.fixture(scope="module")
def help_mount(help_pack: Built) -> Mount:
    return help_pack.mount()


@pytest.fixture(scope="module")
def demo_mount(demo_pack: Path) -> Mount:
    return mount_pack(demo_pack)


def pages_found(mount: Mount, question: str) -> list[str]:
    answer = find_chunks(mount, question)
    assert answer.degraded == ""
    return list(dict.fromkeys(Path(result.path).stem for result in answer.results))


def test_a_plain_question_finds_its_page(help_mount: Mount) -> None:
    assert pages_found(help_mount, "how do I embed a file in a note")[0] == "Embed files"


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("Notlarımı Notion'dan nasıl içe aktarırım?", "Import from Notion"),
        ("Obsidian'ı telefonuma nasıl kurarım?", "Download and install Obsidian"),
        ("Hangi dosya biçimleri desteklenir?", "Accepted file formats"),
        ("怎样给笔记添加标签？", "Tags"),
        ("如何把笔记发布到自己的域名？", "Custom domains"),
        ("支持哪些文件格式？", "Accepted file formats"),
    ],
)
def test_a_question_in_another_language_finds_the_english_page(
    help_mount: Mount, question: str, page: str
) -> None:
    assert page in pages_found(help_mount, question)[:3]


def test_an_identifier_of_the_pack_comes_first(help_mount: Mount) -> None:
    """Every camelCase, snake_case or kebab identifier in code that one page alone has."""
    places: dict[str, set[str]] = defaultdict(set)
    pack = help_mount.connection()
    for path, markdown in pack.execute("SELECT path, markdown FROM pages"):
        for code in re.findall(r"`([^`\n]+)`", markdown):
            if re.fullmatch(r"[A-Za-z]+(?:[A-Z][a-z]+|[_-][a-z]+)+", code):
                places[code].add(path)
    unique = {code: min(paths) for code, paths in places.items() if len(paths) == 1}
    assert len(unique) > 40
    wrong = {
        code: found[0].path
        for code in unique
        if code.lower() not in (found := find_chunks(help_mount, code).results)[0].text.lower()
    }
    assert wrong == {}


def test_an_exact_title_comes_first(help_mount: Mount) -> None:
    rows = help_mount.connection().execute(
        "SELECT title, count(*) AS n FROM pages GROUP BY lower(title)"
    )
    titles = [row["title"] for row in rows if row["n"] == 1]
    wrong = [t for t in titles if Path(find_chunks(help_mount, t).results[0].path).stem != t]
    assert wrong == []


def test_a_result_carries_every_rank_and_score(demo_mount: Mount) -> None:
    answer = find_chunks(demo_mount, "why is a pack one file?", site_url="http://host/site/demo/")
    best = answer.results[0].as_dict()
    assert set(best) == {
        "text", "title", "page", "slug", "anchor", "headings", "citationUrl", "repo", "commitSha", "sourceUrl", "lines",
        "vectorRank", "vectorScore", "bm25Rank", "bm25Score", "bm25Weight", "rrfScore", "rerankScore",
    }  # fmt: skip
    assert best["slug"] == "guide/concepts/Packs.md"
    for result in answer.results:
        expected = 1 / (60 + result.vector_rank) if result.vector_rank else 0
        expected += result.bm25_weight / (60 + result.bm25_rank) if result.bm25_weight else 0
        assert result.rrf_score == pytest.approx(expected)
        assert result.citation_url.startswith("http://host/site/demo/guide/")


def test_words_count_by_how_much_of_the_question_a_chunk_holds(demo_mount: Mount) -> None:
    def weight(question: str) -> float:
        results = find_chunks(demo_mount, question).results
        return max(result.bm25_weight or 0 for result in results)

    foreign = weight("Bağlantılar koparsa sitede neler görünür Findings")
    assert weight("broken links become findings") > 3 * foreign > 0


def test_filters_apply_inside(demo_mount: Mount) -> None:
    turkish = find_chunks(demo_mount, "pack lang:tr").results
    assert {result.path for result in turkish} == {"guide/diller/Nasıl çalışır.md"}
    tagged = find_chunks(demo_mount, "pack", filters={"tag": "lorepack"}).results
    assert "guide/concepts/Packs.md" in {result.path for result in tagged}
    below = find_chunks(demo_mount, "pack", filters={"path": "guide/guides"}).results
    assert below and all(result.path.startswith("guide/guides/") for result in below)
    nothing = find_chunks(demo_mount, "pack", filters={"lang": "xx"})
    assert (nothing.status, nothing.hint) == (
        "no_match",
        "no page has lang 'xx'; valid: en, tr, zh",
    )


def test_a_quoted_phrase_must_occur(build: Callable[..., Built]) -> None:
    mount = build({"a.md": "red green blue", "b.md": "green red blue"}).mount()
    assert [r.path for r in find_chunks(mount, '"red green"').results] == ["v/a.md"]
    assert len(find_chunks(mount, "red green").results) == 2


def test_one_chinese_character_is_found_anywhere(build: Callable[..., Built]) -> None:
    mount = build({"a.md": "大熊猫很可爱", "b.md": "小狗"}).mount()
    for query in ("大", "猫", "很", "爱", "熊猫", "大熊猫"):
        assert [r.path for r in find_chunks(mount, query).results] == ["v/a.md"], query


def test_without_vectors_words_answer_degraded(build: Callable[..., Built]) -> None:
    answer = find_chunks(build({"a.md": "an apple"}).mount(), "apple")
    assert [result.path for result in answer.results] == ["v/a.md"]
    assert answer.degraded == "the pack was built without vectors"


def test_an_empty_pack_has_no_docs(build: Callable[..., Built]) -> None:
    assert find_chunks(build({}).mount(), "anything").status == "no_docs"


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_no_query_is_syntax(demo_mount: Mount, text: str) -> None:
    find_chunks(demo_mount, text)


@pytest.mark.parametrize(
    "text",
    ['"', '""', "NEAR(a b)", "a AND", "col:x", "*", "-x", "^a", "(", "😀" * 99, "x" * 10_240, ""],
)
def test_hostile_queries_are_words(demo_mount: Mount, text: str) -> None:
    assert find_chunks(demo_mount, text).status in ("ok", "no_match")


def test_search_command_prints_json(demo_pack: Path) -> None:
    command = [str(LOREPACK), "search", str(demo_pack), "what is a pack", "--json", "-k", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    data = json.loads(done.stdout)
    assert data["pack"] == "demo" and len(data["results"]) == 2
