"""Chunks: heading sections, small enough, complete, with anchors that hold."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from lorepack_builder.chunk import chunk_pages
from lorepack_builder.chunk.tokens import estimated_offsets
from lorepack_builder.convert.anchors import unique_anchors
from lorepack_builder.model import Page
from tests.vaults import Vault, open_vault, read_vault

LONG = "A sentence of some words stands here. " * 12


def covered(page: Page, max_tokens: int = 256) -> set[int]:
    chunks = chunk_pages([page], estimated_offsets, max_tokens)[0]
    return {line for c in chunks for line in range(c.first_line, c.last_line + 1)}


def texts(vault: Vault, max_tokens: int = 256) -> list[str]:
    return [chunk.text for chunk in vault.chunks("a.md", max_tokens)]


def test_every_level_has_its_section(tmp_path: Path) -> None:
    vault = open_vault(tmp_path, {"a.md": f"Intro. {LONG}\n# A\n{LONG}\n## B\n{LONG}\n# C\n{LONG}"})
    chunks = vault.chunks("a.md")
    assert [chunk.headings for chunk in chunks] == [(), ("A",), ("A", "B"), ("C",)]
    assert [chunk.anchor for chunk in chunks] == ["", "a", "b", "c"]


def test_tiny_sections_join_their_parent_and_keep_their_anchor(tmp_path: Path) -> None:
    vault = open_vault(
        tmp_path, {"a.md": f"# A\n{LONG}\n## B\ntiny\n## C\nalso tiny\n## D\n{LONG}"}
    )
    first, second = vault.chunks("a.md")
    assert (first.anchors, second.anchors) == (("a", "b", "c"), ("d",))
    assert "also tiny" in first.text


def test_a_bare_heading_goes_with_the_section_below(tmp_path: Path) -> None:
    vault = open_vault(tmp_path, {"a.md": f"# A\n\n## B\n\n{LONG}"})
    (chunk,) = vault.chunks("a.md")
    assert (chunk.anchor, chunk.anchors, chunk.headings) == ("b", ("a", "b"), ("A", "B"))


def test_long_sections_split_at_blocks_with_overlap(tmp_path: Path) -> None:
    paragraphs = [f"Paragraph {i}. {LONG}" for i in range(6)]
    vault = open_vault(tmp_path, {"a.md": "# A\n\n" + "\n\n".join(paragraphs)})
    chunks = vault.chunks("a.md")
    assert len(chunks) > 2
    assert all(chunk.tokens <= 256 and chunk.headings == ("A",) for chunk in chunks)
    for before, after in pairwise(chunks):
        overlap = after.text.split("\n")[0]
        assert overlap and overlap in before.text
        assert after.first_line <= before.last_line + 1


WHOLE = {
    "fence": "```py\n" + "x = 1\n" * 30 + "```",
    "table": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 12,
    "list": "".join(f"- item {i} of some words\n" for i in range(25)),
    "quote": "> [!note] Title\n" + "> a line of the quote\n>\n" * 20,
    "list item": "- one item\n  with more\n\n  " + "words " * 60,
    "formula": "$$\n" + "x + y\n" * 20 + "$$",
}


@pytest.mark.parametrize("block", WHOLE.values(), ids=WHOLE)
def test_blocks_that_fit_are_not_cut(tmp_path: Path, block: str) -> None:
    vault = open_vault(tmp_path, {"a.md": f"# A\n\n{LONG}{LONG}\n\n{block}\n\n{LONG}{LONG}"})
    assert any(block.rstrip() in text for text in texts(vault))


def test_a_long_table_stays_a_table(tmp_path: Path) -> None:
    rows = "".join(f"| row {i} | {'value ' * 10}|\n" for i in range(60))
    vault = open_vault(tmp_path, {"a.md": f"# A\n\n| name | what |\n|---|---|\n{rows}"})
    chunks = vault.chunks("a.md")
    assert len(chunks) > 2
    for chunk in chunks[1:]:
        assert chunk.text.startswith("| name | what |\n|---|---|\n| row")
    assert all(text.count("| row") == len(set(text.split("\n"))) - 2 for text in texts(vault)[1:])


def test_a_key_stays_while_the_text_does(tmp_path: Path) -> None:
    body = f"# A\n{LONG}\n# B\n{LONG}one"
    before = open_vault(tmp_path / "1", {"a.md": body}).chunks("a.md")
    after = open_vault(tmp_path / "2", {"a.md": f"New intro.\n{body}\n# C\n{LONG}"}).chunks("a.md")
    assert {c.key for c in before} < {c.key for c in after}


def test_setext_headings_and_headings_in_quotes(tmp_path: Path) -> None:
    vault = open_vault(
        tmp_path, {"a.md": f"Title\n=====\n\n> # Quoted\n> x\n\n{LONG}\n\nPart\n----\n{LONG}"}
    )
    assert [chunk.anchor for chunk in vault.chunks("a.md")] == ["title", "part"]
    assert covered(vault["a.md"]) >= {1, 2, 4, 5, 7, 9}


ANCHORS = {
    "plain": (["Install it"], ["install-it"]),
    "cjk twice": (["安装", "安装"], ["安装", "安装-2"]),
    "signs": (["A / B", "A B"], ["a-b", "a-b-2"]),
    "turkish": (["Işık", "ışık"], ["işık", "ışık"]),
    "emoji": (["🐘", "🐘 herd"], ["s-a2d11b35", "herd"]),
    "no clash with a real one": (["x", "x", "x 2"], ["x", "x-3", "x-2"]),
    "code and link": (["`a.b()` and c"], ["ab-and-c"]),
}


@pytest.mark.parametrize(("texts", "anchors"), ANCHORS.values(), ids=ANCHORS)
def test_anchors(texts: list[str], anchors: list[str]) -> None:
    made = unique_anchors(texts, [2] * len(texts))
    if "🐘" in texts:
        assert made[0].startswith("s-") and made[1] == "herd"
    else:
        assert made == anchors


def test_a_later_duplicate_is_told_apart_by_its_parent() -> None:
    texts, levels = ["Linux", "Install", "Mac", "Install"], [2, 3, 2, 3]
    assert unique_anchors(texts, levels) == ["linux", "install", "mac", "mac-install"]
    more = unique_anchors([*texts, "Windows", "Install"], [*levels, 2, 3])
    assert more == ["linux", "install", "mac", "mac-install", "windows", "windows-install"]
    inserted = unique_anchors(["Linux", "New", *texts[1:]], [2, 3, *levels[1:]])
    assert [a for a in inserted if a != "new"] == ["linux", "install", "mac", "mac-install"]


@pytest.mark.parametrize(
    "vault", ["obsidian-help-en", "obsidian-help-zh", "obsidian-sandbox", "kepano", "zh-garden"]
)
def test_real_vaults_lose_no_line_and_no_anchor(corpora: Path, vault: str) -> None:
    opened = read_vault(corpora / "vaults" / vault)
    for item in opened.linked:
        page = item.page
        lines = page.body.split("\n")
        (chunks,) = chunk_pages([page], estimated_offsets, 256)
        seen = {line for c in chunks for line in range(c.first_line, c.last_line + 1)}
        missing = [
            i
            for i, text in enumerate(lines)
            if text.strip() and max(1, i + page.body_line) not in seen
        ]
        assert missing == [], page.path
        assert {a for c in chunks for a in c.anchors} == {
            h.anchor for h in page.headings if h.top_level
        }
        assert all(chunk.text.strip() and chunk.tokens <= 256 for chunk in chunks), page.path
        assert len({chunk.key for chunk in chunks}) == len(chunks)


@pytest.mark.parametrize("vault", ["obsidian-help-en", "obsidian-help-tr", "obsidian-sandbox"])
def test_every_anchor_is_an_id_of_the_rendered_page(corpora: Path, vault: str) -> None:
    from html import unescape

    opened = read_vault(corpora / "vaults" / vault)
    for item in opened.linked:
        path = item.page.path.removeprefix("v/")
        html = unescape(opened.html(path))
        wanted = {h.anchor for h in item.page.headings} | {name for name, _ in item.page.block_ids}
        assert [anchor for anchor in wanted if html.count(f'id="{anchor}"') != 1] == [], path
