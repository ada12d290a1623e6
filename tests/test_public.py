"""The public API: what `import lorepack` gives, and the documentation's own examples."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lorepack
from tests.conftest import ROOT, write_files

NOTES = {
    "Lamps.md": "---\ntags: [sea]\naliases: [Lights]\n---\n# Lamps\n\nThe harbour lamp burns oil.\n",
    "Index.md": "# Index\n\nStart with [Lamps](Lamps.md), [none](none.md).\n",
}
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("public") / "notes", NOTES)


@pytest.fixture(scope="module")
def built(notes: Path) -> lorepack.BuildResult:
    return lorepack.build(notes, notes.parent / "out", model="none", site=False)


@pytest.fixture
def pack(built: lorepack.BuildResult) -> Iterator[lorepack.Pack]:
    with lorepack.open(built.pack) as opened:
        yield opened


def test_the_examples_of_the_documentation_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "notes", NOTES)
    monkeypatch.chdir(tmp_path)
    assert len(EXAMPLES) == 3
    for example in EXAMPLES:
        exec(compile(example, "docs/python.md", "exec"), {})  # noqa: S102
    assert (tmp_path / "out" / "notes-0.1.0.lorepack").is_file()


def test_importing_costs_nothing() -> None:
    code = "import sys, lorepack; print(len([n for n in sys.modules if n.startswith('lorepack_')]), 'numpy' in sys.modules, dir(lorepack))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("0 False")
    assert all(name in told.stdout for name in lorepack.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lorepack.nothing  # noqa: B018


def test_a_folder_is_built_without_a_recipe(built: lorepack.BuildResult) -> None:
    assert built.pack.name == "notes-0.0.0.lorepack" and built.summary.pages == 2
    assert [finding.rule for finding in built.findings if finding.severity != "info"] == [
        "broken-link"
    ]
    again = lorepack.build(built.pack.parents[1] / "notes", built.pack.parent, model="none",
                           site=False)  # fmt: skip
    assert again.summary.unchanged


@pytest.mark.parametrize(
    ("made", "kind"), [(".obsidian/app.json", "vault"), (".git/HEAD", "repo"), ("x.md", "folder")]
)
def test_what_a_folder_is_is_seen(tmp_path: Path, made: str, kind: str) -> None:
    from lorepack_builder.recipe.folder import kind_of, recipe_of_folder

    folder = write_files(tmp_path / 'Ünal\'s "Notes" 😀', {made: "{}"})
    assert kind_of(folder) == kind
    recipe = recipe_of_folder(folder, "none")
    assert recipe.name == "unal-s-notes" and recipe.sources[0].kind == kind
    assert recipe.title == folder.name


def test_a_pack_tells_what_it_is(pack: lorepack.Pack) -> None:
    assert (pack.name, pack.version, pack.title) == ("notes", "0.0.0", "notes")
    assert pack.meta["counts"]["pages"] == 2 and pack.meta["embedder"] is None
    assert [source.kind for source in pack.sources] == ["folder"]
    assert [page.path for page in pack.pages()] == ["notes/Index.md", "notes/Lamps.md"]
    assert [f.rule for f in pack.findings() if f.severity == "warning"] == ["broken-link"]
    assert not [check for check in pack.verify() if check.problem]
    assert repr(pack) == "<Pack notes 0.0.0>"


def test_pages_and_neighbours_are_found_by_name(pack: lorepack.Pack) -> None:
    for name in ("notes/Lamps.md", "lamps", "Lights", "[[Lamps]]"):
        assert pack.page(name).tags == ("sea",)
    near = pack.neighbors("Lamps")
    assert {(n.direction, n.node) for n in near} == {("in", "notes/Index.md"), ("out", "sea")}
    assert pack.neighbors("Lamps", query="start")[0].node == "notes/Index.md"
    for ask in (pack.page, pack.neighbors):
        with pytest.raises(lorepack.LorepackError, match="is called 'nothing'"):
            ask("nothing")


def test_a_search_says_how_it_went(pack: lorepack.Pack) -> None:
    found = pack.search("harbour lamp", limit=1, filters={"tag": "sea"})
    assert (found.status, len(found), found[0].path) == ("ok", 1, "notes/Lamps.md")
    assert found.degraded == "the pack was built without vectors"
    assert pack.search("sourdough altitude").status == "no_match"
    with pytest.raises(lorepack.LorepackError, match="there is no filter 'colour': use source"):
        pack.search("x", filters={"colour": "red"})


def test_threads_share_a_pack(pack: lorepack.Pack) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: pack.search(f"lamp {n}")[0].path, range(64)))
    assert set(found) == {"notes/Lamps.md"}


def test_a_closed_pack_answers_no_more(built: lorepack.BuildResult) -> None:
    with lorepack.open(str(built.pack)) as opened:
        pass
    with pytest.raises(Exception, match="closed"):
        list(opened.pages())


def test_versions_are_compared(notes: Path, built: lorepack.BuildResult) -> None:
    newer = lorepack.build(notes, notes.parent / "out", version="2.0.0", model="none", site=False)
    with lorepack.open(newer.pack) as new, lorepack.open(built.pack) as old:
        assert not new.diff(old).changes and not new.diff(built.pack).changes


def test_what_is_no_pack_is_damaged(notes: Path, tmp_path: Path) -> None:
    for wrong in (notes / "Lamps.md", tmp_path / "none.lorepack"):
        with pytest.raises(lorepack.LorepackError):
            lorepack.open(wrong)
