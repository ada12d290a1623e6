"""From a recipe to a pack: repeatable, cached, atomic, honest about what is odd."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lorepack.errors import LorepackError
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from tests.conftest import LOREPACK, ROOT, Built, write_files, write_recipe

VAULT = {
    "Home.md": "---\ntags: [a, b/c]\n---\n# Home\n\nSee [[Other#Part|that]] and ![[pic.png]].\n",
    "Other.md": "Intro.\n\n## Part\n\nText of the part.\n",
    "pic.png": b"\x89PNG\r\n\x1a\n",
}


def lorepack(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [str(LOREPACK), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("epoch", [None, "1700000000"])
def test_same_sources_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epoch: str | None
) -> None:
    """Without a date, not even the vectors come from the first build: each has its own cache."""
    if epoch:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    recipe = read_recipe(ROOT / "packs" / "demo.toml")
    made = []
    for name in ("one", "two"):
        if not epoch:
            monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / name / "cache"))
        summary, _ = build_pack(recipe, tmp_path / name)
        assert epoch or summary.embedded == summary.chunks
        made.append(Path(summary.pack).read_bytes())
    assert made[0] == made[1]


def test_place_and_order_of_files_do_not_matter(tmp_path: Path) -> None:
    made = []
    for order in (list(VAULT), list(reversed(VAULT))):
        folder = tmp_path / f"{order[0]}"
        folder.mkdir()
        write_files(folder / "vault", {name: VAULT[name] for name in order})
        recipe = folder / "recipe.toml"
        recipe.write_text(
            '[pack]\nname="t"\nversion="1"\n[[source]]\nname="v"\nkind="vault"\npath="vault"\n'
            '[embed]\nmodel="none"\n'
        )
        summary, _ = build_pack(read_recipe(recipe), folder)
        made.append(Path(summary.pack).read_bytes())
    assert made[0] == made[1]


def test_a_second_build_embeds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "cache"))
    vault = write_files(tmp_path / "vault", VAULT)
    recipe = read_recipe(write_recipe(tmp_path, vault, model="multilingual-e5-small"))
    first, _ = build_pack(recipe, tmp_path)
    second, _ = build_pack(recipe, tmp_path)
    (vault / "Other.md").write_text("Intro.\n\n## Part\n\nAnother text.\n")
    third, _ = build_pack(recipe, tmp_path)
    assert (first.embedded, second.embedded, third.embedded) == (first.chunks, 0, 1)


def test_the_summary_counts_everything(build: Callable[..., Built]) -> None:
    summary = build({**VAULT, "Lost.md": "[[Nowhere]]"}).summary
    assert (summary.pages, summary.chunks, summary.unresolved) == (3, 4, 1)
    assert list(summary.seconds) == [
        "acquire", "parse", "link", "lint", "chunk", "embed", "upkeep", "index", "render", "search",
        "seal",
    ]  # fmt: skip
    assert summary.findings == {"broken-link": 1, "orphan": 1}
    assert summary.bytes > 10_000


def test_help_vault_builds_without_a_skipped_page(help_pack: Built) -> None:
    assert (help_pack.summary.pages, help_pack.summary.left_out) == (173, 0)
    assert set(help_pack.rules()) == {
        "broken-link", "ambiguous-link", "missing-attachment", "orphan", "self-link",
        "duplicate-title", "long-summary", "tag-variant",
    }  # fmt: skip


def test_a_folder_source_names_pages_by_their_heading(tmp_path: Path) -> None:
    write_files(tmp_path / "docs", {"README.md": "# Welcome\n\nhi", "notes.txt": "plain"})
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        '[pack]\nname="t"\nversion="1"\n[[source]]\nname="d"\nkind="folder"\npath="docs"\n'
        '[embed]\nmodel="none"\n'
    )
    built = Built(*build_pack(read_recipe(recipe), tmp_path))
    titles = built.mount().connection().execute("SELECT title FROM pages ORDER BY path").fetchall()
    assert [row["title"] for row in titles] == ["Welcome", "notes"]


def test_strict_refuses_findings_and_keeps_the_old_pack(tmp_path: Path) -> None:
    vault = write_files(tmp_path / "vault", VAULT)
    recipe = read_recipe(write_recipe(tmp_path, vault))
    summary, _ = build_pack(recipe, tmp_path, strict=True)
    before = Path(summary.pack).read_bytes()
    (vault / "Bad.md").write_text("one\n[[Nowhere]]")
    with pytest.raises(LorepackError, match=r"v/Bad.md, line 2: \[\[Nowhere\]\] leads nowhere"):
        build_pack(recipe, tmp_path, strict=True)
    assert Path(summary.pack).read_bytes() == before


def test_a_crash_in_the_middle_leaves_the_old_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = write_files(tmp_path / "vault", VAULT)
    recipe = read_recipe(write_recipe(tmp_path, vault))
    summary, _ = build_pack(recipe, tmp_path / "out")
    before = Path(summary.pack).read_bytes()
    (vault / "Home.md").write_text("changed")

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lorepack_builder.make.write_site", crash)
    with pytest.raises(KeyboardInterrupt):
        build_pack(recipe, tmp_path / "out")
    assert [path.read_bytes() for path in (tmp_path / "out").iterdir()] == [before]


def test_json_output_is_only_json(tmp_path: Path) -> None:
    vault = write_files(tmp_path / "vault", {**VAULT, "Lost.md": "[[Nowhere]]"})
    done = lorepack("build", write_recipe(tmp_path, vault), "--out", tmp_path, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    assert data["reports"][0] == {
        "rule": "broken-link", "severity": "warning", "path": "v/Lost.md", "line": 1,
        "message": "[[Nowhere]] leads nowhere", "fix": "correct the link or write the page",
    }  # fmt: skip


def test_plain_output_has_a_line_a_stage_and_a_summary(tmp_path: Path) -> None:
    vault = write_files(tmp_path / "vault", VAULT)
    done = lorepack("build", write_recipe(tmp_path, vault), "--out", tmp_path)
    assert "lorepack: parse" in done.stderr
    assert "pages       2 (0 left out, 2 parsed)" in done.stdout


def test_a_terminal_gets_bars(tmp_path: Path) -> None:
    script = shutil.which("script")
    if script is None:
        pytest.skip("script is not installed")
    vault = write_files(tmp_path / "vault", VAULT)
    command = f"{LOREPACK} build {write_recipe(tmp_path, vault)} --out {tmp_path}"
    done = subprocess.run(
        [script, "-qec", command, "/dev/null"], capture_output=True, text=True, check=True
    )
    assert "━" in done.stdout and "render" in done.stdout


GOOD = '[pack]\nname = "a"\nversion = "1"\n[[source]]\nname = "s"\nkind = "vault"\npath = "."\n'
BAD_RECIPES = {
    "bad key": (GOOD + 'colour = "red"\n', "line 8: [[source]] has no key 'colour': use one of"),
    "bad toml": ("[pack\n", "is not valid TOML"),
    "no name": (GOOD.replace('name = "a"\n', ""), "line 1: [pack] has no name: add name"),
    "bad name": (GOOD.replace('"a"', '"A b"'), "line 2: [pack] name 'A b' is not a-z"),
    "bad type": (GOOD.replace('"1"', "1"), "line 3: [pack] version is not text"),
    "no source": (GOOD.split("[[", maxsplit=1)[0], "the recipe has no [[source]]: add one"),
    "missing source": (GOOD.replace('"."', '"gone"'), "gone is no folder: correct its path"),
    "unknown kind": (GOOD.replace("vault", "wiki"), "source kind 'wiki' is not known: use vault"),
    "unknown model": (GOOD + '[embed]\nmodel = "x"\n', "there is no model 'x': use one of"),
    "twice": (GOOD + GOOD.split("1\"\n")[1], "two sources are called 's': rename one"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD_RECIPES.values(), ids=BAD_RECIPES)
def test_a_bad_recipe_gets_one_sentence_and_exit_2(tmp_path: Path, text: str, message: str) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text(text)
    done = lorepack("build", recipe, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_missing_files_get_one_sentence_and_exit_2(tmp_path: Path) -> None:
    junk = tmp_path / "junk.lorepack"
    junk.write_text("junk")
    for command in (
        ["build", tmp_path / "none.toml"],
        ["verify", tmp_path / "none.lorepack"],
        ["verify", junk],
        ["search", junk, "question"],
        ["serve", junk],
        ["mcp", junk],
        ["serve", tmp_path / "empty"],
    ):
        done = lorepack(*command)
        assert done.returncode == 2, command
        assert done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith("lorepack: ")
        assert done.stdout == ""


def test_docs_follow_the_code() -> None:
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], check=False)
    assert done.returncode == 0
