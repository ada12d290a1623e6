"""Links that pages could have: where a name is one, what is left alone, and the patch."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from lorepack.cli import cli
from lorepack.text.tokenize import fold
from lorepack_builder.link.outgoing import outgoing
from lorepack_builder.maintenance.boundaries import Company, is_word
from lorepack_builder.maintenance.inflect import is_form
from lorepack_builder.maintenance.links import suggest_links
from lorepack_builder.maintenance.mentions import mentions_of_pages
from lorepack_builder.maintenance.normalize import fold_in_place
from lorepack_builder.maintenance.similar import MIN_LIKENESS, near_pages
from tests.conftest import LOREPACK, Built
from tests.vaults import Vault, open_vault

Build = Callable[..., Built]


def said(folder: Path, text: str, **names: str) -> list[tuple[str, str]]:
    """The words and targets of mentions in ``text``, in a vault that has pages of these names."""
    pages = {f"{name}.md": body for name, body in names.items()}
    vault = open_vault(folder, {**pages, "Text.md": text})
    found = mentions_of_pages(vault.linked).by_page["v/Text.md"]
    body = vault["Text.md"].body
    return [(body[m.start : m.end], m.target.removeprefix("v/")) for m in found]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Night Watch counts.", ["Night Watch"]),
        ("the NIGHT WATCH, twice: night watch.", ["NIGHT WATCH", "night watch"]),
        ("Night Watchers, midnight watch, night-watch", []),
        ("Two night watches; a night  watch", ["night watches"]),
        ("(Night Watch) **Night Watch** “Night Watch”", ["Night Watch"] * 3),
        ("Night Watch's lamp", ["Night Watch"]),
        ("`Night Watch` and ``a ` Night Watch``", []),
        ("```\nNight Watch\n```\n\n- ```\n  Night Watch\n  ```\n", []),
        ("    Night Watch\n\nNight Watch", ["Night Watch"]),
        ("# Night Watch\n\nNight Watch\n===\n\n> ## Night Watch\n", []),
        ("[[Night Watch]] [Night Watch](x.md) [a Night Watch b][ref]\n\n[ref]: Night Watch", []),
        ("![[Night Watch]] ![Night Watch](a.png)", []),
        ("<b title='Night Watch'>x</b> $Night Watch$ https://x.org/Night Watch", []),
        ("#Night Watch", []),
        ("| Night Watch | x |\n|---|---|\n| night watch | y |\n", ["Night Watch", "night watch"]),
        ("Night\nWatch", []),
        ("path/Night Watch.md", []),
    ],
)
def test_a_mention_is_a_whole_name_in_running_text(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    assert [word for word, _ in said(tmp_path, text, **{"Night Watch": "x"})] == words


def test_longer_names_win_and_shared_names_are_none(tmp_path: Path) -> None:
    names = {"Watch": "x", "Night Watch": "x", "a/Lamp": "x", "b/Lamp": "x"}
    assert said(tmp_path, "A Night Watch, a Watch, a Lamp.", **names) == [
        ("Night Watch", "Night Watch.md"), ("Watch", "Watch.md"),
    ]  # fmt: skip


def test_aliases_and_words_that_link_elsewhere_are_names(tmp_path: Path) -> None:
    names = {
        "Guard": "---\naliases: [Wachdienst]\n---\nx",
        "One": "[[Guard|the lamp crew]]", "Two": "[[Guard|the lamp crew]] [[Guard|here]]",
    }  # fmt: skip
    text = "Der Wachdienst ist hier. Ask the lamp crew, here."
    assert [word for word, _ in said(tmp_path, text, **names)] == ["Wachdienst", "the lamp crew"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("İskele", "iskele, İSKELE'de, İskeleler ve iskeleye; iskelet değil", [
            "iskele", "İSKELE", "İskeleler", "iskeleye"]),
        ("Eklenti", "Eklentilerin ayarı. Eklendi, eklentisi.", ["Eklentilerin", "eklentisi"]),
        ("Araç çubuğu", "Araç çubuğunda ara, araç çubuğunu aç", ["Araç çubuğunda", "araç çubuğunu"]),
        ("Işık", "IŞIK ve ışığın rengi, ışıklar; Işıkçı", ["IŞIK", "ışığın", "ışıklar"]),
    ],
)  # fmt: skip
def test_turkish_words_are_known_with_their_endings(
    tmp_path: Path, name: str, text: str, words: list[str]
) -> None:
    front = "---\nlang: tr\n---\n"
    found = said(tmp_path, front + text, **{name: f"{front}x"})
    assert [word for word, _ in found] == words


def test_a_chinese_name_is_no_piece_of_another_word(tmp_path: Path) -> None:
    # 海港 and 口岸 are words here, so that 港口 in 海港口岸 is none.
    text = "海港很大。口岸也大。海港在北。口岸在南。海港口岸。港口有船，去港口。"
    found = said(tmp_path, f"---\nlang: zh\n---\n{text}", 港口="x", 潮汐="x")
    assert len(found) == 2 and {word for word, _ in found} == {"港口"}
    assert said(tmp_path / "b", "用Obsidian写笔记", Obsidian="x") == [("Obsidian", "Obsidian.md")]


def test_common_words_are_no_mentions(tmp_path: Path) -> None:
    pages = {f"n{n}": "This note is about a system." for n in range(40)}
    assert said(tmp_path, "A system and a rarity.", Note="x", System="x", Rarity="x", **pages) == [
        ("rarity", "Rarity.md")
    ]
    # A name that is linked wherever it is said is no common word.
    linked = {f"n{n}": "About a [[System]]." for n in range(40)}
    assert ("system", "System.md") in said(tmp_path / "b", "A system.", System="x", **linked)


def test_another_source_is_not_linked_to(tmp_path: Path, build: Build) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "Beacon.md").write_text("x")
    extra = f'[[source]]\nname = "w"\nkind = "vault"\npath = "{tmp_path / "other"}"\n'
    built = build({"A.md": "A Beacon."}, extra=extra)
    assert suggested(built, "A.md") == []


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_folding_keeps_every_place(text: str) -> None:
    folded = fold_in_place(text)
    assert len(folded) == len(text)
    for before, after in zip(text, folded, strict=True):
        assert after in (before, " ", fold(before))


@given(st.text(alphabet="ab港口é-_ '1", max_size=12), st.data())
@settings(max_examples=300, deadline=None)
def test_a_word_never_ends_within_another(text: str, data: st.DataObject) -> None:
    if not text.strip():
        return
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    if is_word(text, start, end, Company([text])):

        def joined(at: int) -> bool:
            spaced = "abé_1"
            return 0 < at < len(text) and text[at - 1] in spaced and text[at] in spaced

        assert not joined(start) and not joined(end)


def test_plurals_are_forms_and_other_words_are_not() -> None:
    assert all(is_form(a, b, "en") for a, b in [("plugin", "plugins"), ("categories", "category")])
    others = [("new", "news"), ("highlighted", "highlighter"), ("plan", "plane")]
    assert not any(is_form(a, b, "en") or is_form(b, a, "en") for a, b in others)


# Suggestions


def suggested(built: Built, page: str) -> list[dict[str, Any]]:
    from lorepack_server.tools.cross_linker import read_suggestions

    return [dict(s) for s in read_suggestions(built.mount().connection(), f"v/{page}")]


VAULT = {
    "Harbour.md": "---\ntags: [x]\n---\n# Harbour\n\nThe Night Watch and a lighthouse keep it.\n",
    "Night Watch.md": "They walk. [[Lighthuose]] [[Zzz qqq]]\n",
    "sub/Lighthouse.md": "---\naliases: [beacon]\n---\nA light over the Harbour.\n\n"
    "| Who | What |\n|---|---|\n| Night Watch | walks |\n",
    "a/Twin.md": "x", "b/Twin.md": "y", "Says.md": "About a/Twin. [[b/Twin]]\n",
}  # fmt: skip


def test_suggestions_say_what_to_write_and_where(build: Build) -> None:
    built = build(VAULT)
    by_text = {s["text"]: s for s in suggested(built, "Harbour.md")}
    assert (by_text["Night Watch"]["link"], by_text["Night Watch"]["line"]) == (
        "[[Night Watch]]",
        6,
    )
    assert by_text["lighthouse"]["link"] == "[[Lighthouse|lighthouse]]"
    (row,) = [s for s in suggested(built, "sub/Lighthouse.md") if s["text"] == "Night Watch"]
    assert row["link"] == "[[Night Watch]]"
    broken = {s["text"]: s for s in suggested(built, "Night Watch.md") if s["kind"] == "broken"}
    assert broken["Lighthuose"]["target"] == "v/sub/Lighthouse.md"
    assert broken["Lighthuose"]["link"] == "Lighthouse"
    assert (broken["Zzz qqq"]["target"], broken["Zzz qqq"]["start"]) == ("", None)


def test_a_link_in_a_table_keeps_the_table(build: Build) -> None:
    built = build(
        {"T.md": "| a | b |\n|---|---|\n| the night watch | x |\n", "Night Watch.md": "y"}
    )
    (one,) = suggested(built, "T.md")
    assert one["link"] == r"[[Night Watch\|night watch]]"


def test_documents_get_markdown_links(tmp_path: Path) -> None:
    from tests.vaults import read_vault, write_files

    write_files(
        tmp_path,
        {"docs/a.md": "# Install\n\nx\n", "b c.md": "# Use it\n\nAs Install says, Install.\n"},
    )
    docs = read_vault(tmp_path, kind="folder")
    found = suggest_links(docs.linked, docs.files, mentions_of_pages(docs.linked), {})
    (one,) = found["v/b c.md"]
    assert (one.text, one.link) == ("Install", "[Install](docs/a.md)")


def test_near_pages_are_those_without_a_link_either_way(tmp_path: Path) -> None:
    vault = open_vault(tmp_path, {"a.md": "[[b]]", "b.md": "x", "c.md": "x", "d.md": "x"})
    near = {
        "v/a.md": [("v/b.md", 0.9), ("v/c.md", 0.8), ("v/d.md", 0.3)],
        "v/b.md": [("v/a.md", 0.9)],
    }
    found = suggest_links(vault.linked, vault.files, mentions_of_pages(vault.linked), near)
    assert {path: [s.target for s in own] for path, own in found.items()} == {"v/a.md": ["v/c.md"]}


PATCHERS = {
    "git": ["git", "apply", "--unidiff-zero", "-p1", "-"],
    "patch": ["patch", "-p1", "--no-backup-if-mismatch"],
}


@pytest.mark.parametrize("tool", PATCHERS)
def test_the_patch_applies_to_the_files(tool: str, build: Build, tmp_path: Path) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    pages = {
        **VAULT, "With space.md": "---\nx: 1\n---\n\nThe Night Watch.\n%%hidden Harbour%%\nA Harbour.",
        "港口.md": "月亮引起潮汐，潮汐有力。\n", "潮汐.md": "水。\n",
    }  # fmt: skip
    built = build(pages)
    vault = tmp_path / "vault"
    patch = CliRunner().invoke(cli, ["links", str(built.path), "--patch"]).output
    subprocess.run(PATCHERS[tool], cwd=vault, input=patch, text=True, check=True)
    after = build({path.relative_to(vault).as_posix(): path.read_bytes()
                   for path in vault.rglob("*.md")}, version="2.0.0")  # fmt: skip
    left = [s for name in pages for s in suggested(after, name)]
    assert [s["text"] for s in left if s["start"] is not None] == []
    assert "The [[Night Watch]].\n" in (vault / "With space.md").read_text()
    assert "[[潮汐]]，潮汐" in (vault / "港口.md").read_text()
    assert "broken-link" not in after.rules() or after.rules().count("broken-link") == 1


def test_the_command_and_the_tool_answer_alike(build: Build) -> None:
    from lorepack_server.tools.answer import Context
    from lorepack_server.tools.cross_linker import SPEC

    built = build(VAULT)
    done = subprocess.run(
        [str(LOREPACK), "links", str(built.path), "v/Harbour.md"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer = SPEC.call(Context(built.mount()), {"path": "v/Harbour.md", "maxTokens": 100_000})
    assert done.stdout.rstrip("\n") == answer.text
    assert answer.data["dryRun"] is True and "+The [[Night Watch]] and" in answer.text
    everything = SPEC.call(Context(built.mount()), {"limit": 500}).data
    assert everything["total"] == sum(len(suggested(built, name)) for name in VAULT)


# Near pages


def clustered(pages: int, groups: int, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    lot = np.random.default_rng(seed)
    centres = lot.normal(size=(groups, 384))
    vectors = centres[lot.integers(0, groups, pages)] + lot.normal(size=(pages, 384)) * 0.8
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(("pages", "least"), [(40, 1.0), (3000, 0.98), (9000, 0.9)])
def test_near_pages_are_the_nearest(pages: int, least: float) -> None:
    vectors = clustered(pages, pages // 15 + 1, 1)
    near = near_pages(vectors, 5)
    found = wanted = 0
    for page in range(0, pages, max(1, pages // 200)):
        likeness = vectors @ vectors[page]
        likeness[page] = -1
        best = [int(n) for n in np.argsort(-likeness)[:5] if likeness[n] >= MIN_LIKENESS]
        wanted += len(best)
        found += len(set(best) & {number for number, _ in near[page]})
    assert wanted and found / wanted >= least


def test_no_page_is_near_itself_or_twice() -> None:
    same = np.repeat(clustered(3, 3, 2), 4, axis=0)
    for page, own in enumerate(near_pages(same, 5)):
        numbers = [number for number, _ in own]
        assert page not in numbers and len(set(numbers)) == len(numbers)
    assert near_pages(np.zeros((2, 384), np.float32), 5) == [[], []]


def test_removed_links_come_back(corpora: Path, tmp_path: Path) -> None:
    """The benchmark's claim in small: unlinked words of a real vault are proposed again."""
    vault = tmp_path / "v"
    shutil.copytree(corpora / "vaults" / "obsidian-help-en", vault)
    from tests.vaults import read_vault

    whole: Vault = read_vault(vault)
    page = next(i for i in whole.linked if i.page.path == "v/Plugins/Search.md")
    targets = set(outgoing(page))
    file = vault / "Plugins" / "Search.md"
    import re

    file.write_text(re.sub(r"(?<!!)\[\[([^\]|#]+)\]\]", r"\1", file.read_text()))
    left = read_vault(vault)
    suggestions = suggest_links(left.linked, left.files, mentions_of_pages(left.linked), {})
    again = {s.target for s in suggestions["v/Plugins/Search.md"]}
    gone = targets - set(outgoing(next(i for i in left.linked if i.page.path == page.page.path)))
    assert gone and len(gone & again) >= 0.6 * len(gone)
