"""Every kind of source at once, from real corpora, in one pack: nothing is lost without a word."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from lorepack_server.retrieve.search import find_chunks
from tests.conftest import Built

WIKIS = ("chartjs--Chart.js", "mermaid-js--mermaid", "microsoft--graphrag", "nlohmann--json",
         "sveltejs--svelte", "systemd--systemd")  # fmt: skip
DOCUMENTS = (".md", ".rst", ".txt", ".html", ".py", ".csv", ".js", ".ts")


@pytest.fixture(scope="module")
def everything(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("everything")
    vault = corpora / "vaults" / "obsidian-sandbox"
    with zipfile.ZipFile(folder / "vault.zip", "w") as archive:
        for file in sorted(vault.rglob("*")):
            archive.write(file, file.relative_to(vault.parent))
    sources = [
        ("flask", "repo", corpora / "repos" / "flask"),
        ("starlette", "repo", corpora / "repos" / "starlette"),
        *((f"wiki-{n}", "codewiki", corpora / "codewiki" / f"{name}-docs") for n, name in enumerate(WIKIS)),
        ("notion-demo", "notion", corpora / "notion" / "export-demo"),
        ("notion-zh", "notion", corpora / "notion" / "zh-sample"),
        ("sandbox", "archive", folder / "vault.zip"),
    ]  # fmt: skip
    recipe = folder / "r.toml"
    recipe.write_text(
        '[pack]\nname="all"\nversion="1"\n[embed]\nmodel="none"\n'
        + "".join(f'[[source]]\nname="{n}"\nkind="{k}"\npath="{p}"\n' for n, k, p in sources)
    )
    return Built(*build_pack(read_recipe(recipe), folder / "out", site=False))


def counts(built: Built) -> dict[str, int]:
    rows = (
        built.mount()
        .connection()
        .execute(
            "SELECT sources.name, count(*) FROM pages JOIN sources ON sources.id = source_id GROUP BY 1"
        )
    )
    return dict(rows.fetchall())


def test_no_page_is_lost_without_a_finding(everything: Built, corpora: Path) -> None:
    pages = counts(everything)
    told = [f.path.partition("/")[0] for f in everything.findings if f.rule == "left-out"]
    for name in ("flask", "starlette"):
        root = corpora / "repos" / name
        files = [
            file.relative_to(root) for file in root.rglob("*")
            if file.suffix in DOCUMENTS and file.is_file()
        ]  # fmt: skip
        shown = [file for file in files if not any(part.startswith(".") for part in file.parts)]
        assert pages[name] + told.count(name) == len(shown), name
    for number, name in enumerate(WIKIS):
        folder = corpora / "codewiki" / f"{name}-docs"
        assert pages[f"wiki-{number}"] == len(list(folder.rglob("*.md")))
    assert (pages["notion-demo"], pages["notion-zh"]) == (6, 20)
    vault = corpora / "vaults" / "obsidian-sandbox"
    assert pages["sandbox"] == len([*vault.rglob("*.md"), *vault.rglob("*.canvas")])


def test_what_is_asked_is_found_across_all_of_them(everything: Built) -> None:
    mount = everything.mount()
    for question, slug in {
        "stream_with_context": "flask/src/flask/helpers.py",
        "Flask.run": "flask/src/flask/app.py",
        "Route.matches": "starlette/starlette/routing.py",
    }.items():
        best = find_chunks(mount, question).results
        assert best[0].path == slug, question
    flask = find_chunks(mount, "SECRET_KEY", filters={"source": "flask"}).results
    assert any(result.anchor == "secret_key" for result in flask[:3])


def test_documentation_leads_to_the_code_it_names(everything: Built) -> None:
    rows = (
        everything.mount()
        .connection()
        .execute(
            "SELECT count(DISTINCT s.name) FROM edges e JOIN nodes s ON s.id = e.src "
            "JOIN nodes d ON d.id = e.dst WHERE e.kind = 'code_ref' AND d.kind = 'symbol' "
            "AND s.name LIKE 'flask/docs/%'"
        )
    )
    assert rows.fetchone()[0] > 30
