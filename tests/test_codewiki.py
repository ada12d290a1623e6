"""Wikis that programs write: CodeWiki's, Qoder's and DeepWiki's, tied to the code they are about."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from tests.conftest import Built, Files, write_files

SHA = "0123456789abcdef0123456789abcdef01234567"
BuildWiki = Callable[..., Built]


@pytest.fixture
def build_wiki(tmp_path: Path) -> BuildWiki:
    def build(files: Path | Files, code: Files | None = None, **keys: str) -> Built:
        source = files if isinstance(files, Path) else write_files(tmp_path / "o--box-docs", files)
        lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
        recipe = (
            f'[pack]\nname="p"\nversion="1"\n[[source]]\nname="w"\nkind="codewiki"\npath="{source}"\n'
            f'{lines}[embed]\nmodel="none"\n'
        )
        if code:
            from tests.gits import make_repo

            repo = make_repo(tmp_path / "box", code, web="https://github.com/o/box")
            recipe += f'[[source]]\nname="code"\nkind="repo"\npath="{repo}"\n'
        (tmp_path / "r.toml").write_text(recipe)
        return Built(*build_pack(read_recipe(tmp_path / "r.toml"), tmp_path / "out"))

    return build


def edges(built: Built, *kinds: str) -> list[tuple[str, ...]]:
    rows = (
        built.mount()
        .connection()
        .execute(
            "SELECT s.name, e.kind, d.kind, d.name, e.label FROM edges e JOIN nodes s ON s.id = e.src "
            "JOIN nodes d ON d.id = e.dst ORDER BY e.id"
        )
    )
    return [(r[0], r[2], r[3], r[4]) for r in rows if r[1] in kinds]


CODE: Files = {
    "src/lid.py": "class Lid:\n    def lift(self):\n        return 'a lid that was lifted up high'\n",
    "src/box.ts": "export function open(how: string): void {\n  return\n}\n",
}
OPEN_SOURCE: Files = {
    "overview.md": "# Box\n\n[Lids](docs/lids.md), [hinges](hinges & pins.md), [gone](gone.md)\n",
    "lids.md": "# Lids\n\nThe `Lid` class.\n",
    "hinges & pins.md": "# Hinges\n\ntext\n",
    "extra.md": "# Extra\n",
    "module_tree.json": json.dumps({
        "lids": {"path": "src", "components": ["src.lid.Lid", "src.lid.Gone"],
                 "children": {"hinges & pins": {"components": [], "children": {}}}},
        "lost": {"components": [], "children": {}},
    }),
    "metadata.json": json.dumps({"generation_info": {"repo_path": "./x/o--box", "commit_id": SHA}}),
}  # fmt: skip


def test_the_open_source_layout(build_wiki: BuildWiki) -> None:
    built = build_wiki(OPEN_SOURCE, CODE)
    assert edges(built, "link", "unresolved") == [
        ("w/lids.md", "page", "w/hinges & pins.md", ""),
        ("w/overview.md", "page", "w/lids.md", "Lids"),
        ("w/overview.md", "page", "w/hinges & pins.md", "hinges"),
        ("w/overview.md", "missing", "gone.md", "gone"),
        ("w/overview.md", "page", "w/lids.md", ""),
    ]
    assert edges(built, "code_ref") == [
        ("w/lids.md", "symbol", "code/src/lid.py::Lid", "src.lid.Lid"),
        ("w/lids.md", "symbol", "o/box::src.lid.Gone", "src.lid.Gone"),
        ("w/lids.md", "symbol", "code/src/lid.py::Lid", "Lid"),
    ]
    assert sorted(built.rules()) == ["broken-link", "lost-module", "no-module"]
    row = built.mount().connection().execute("SELECT web, revision FROM sources WHERE name = 'w'")
    assert tuple(row.fetchone()) == ("https://github.com/o/box", SHA)


def test_a_lone_wiki_names_the_code_it_does_not_hold(build_wiki: BuildWiki) -> None:
    built = build_wiki(OPEN_SOURCE, repo='"other/name"')
    assert edges(built, "code_ref")[0] == (
        "w/lids.md",
        "symbol",
        "other/name::src.lid.Lid",
        "src.lid.Lid",
    )


QODER: Files = {
    "en/content/Overview.md": (
        "# Overview\n\n<cite>\n**Referenced Files**\n- [lid.py](file://src/lid.py)\n"
        "- [box.ts](file://src/box.ts#L1-L3)\n</cite>\n\nText.\n"
    ),
    "en/content/Lids/Lids.md": "# Lids\n\n**Sources**\n- [gone.ts](file://src/gone.ts#L10-L40)\n",
    "en/meta/repowiki-metadata.json": json.dumps({
        "wiki_catalogs": [
            {"id": "1", "name": "Overview", "prompt": "SECRET PROMPT"},
            {"id": "2", "name": "Lids", "prompt": "SECRET PROMPT", "parent_id": "1"},
            {"id": "3", "name": "Never made", "prompt": "SECRET PROMPT"},
        ],
        "knowledge_relations": [{"source_id": "1", "target_id": "2", "relationship_type": "PARENT_CHILD"}],
        "wiki_repo": {"last_commit_id": SHA},
    }),
}  # fmt: skip


def test_qoders_repowiki(build_wiki: BuildWiki) -> None:
    built = build_wiki(QODER, CODE, repo='"o/box"')
    assert edges(built, "code_ref") == [
        ("w/en/content/Lids/Lids.md", "file", "o/box/src/gone.ts", "L10-L40"),
        ("w/en/content/Overview.md", "page", "code/src/lid.py", "src/lid.py"),
        ("w/en/content/Overview.md", "page", "code/src/box.ts", "L1-L3"),
    ]
    assert ("w/en/content/Overview.md", "page", "w/en/content/Lids/Lids.md", "") in edges(
        built, "link"
    )
    assert built.rules() == ["lost-page"]
    assert b"SECRET PROMPT" not in built.path.read_bytes()


DEEPWIKI: Files = {
    "1-overview.md": (
        "# Overview\n\n<details>\n<summary>Relevant source files</summary>\n\n"
        "- [src/lid.py](src/lid.py)\n- [src/gone.py](src/gone.py)\n\n</details>\n\n"
        "See [Lids](#9.1) and [Nothing](#9.9).\n\nSources: [src/lid.py:2-3](), [src/box.ts:1]()\n"
    ),
    "9.1-lids.md": (
        f"# Lids\n\n[at](https://github.com/o/box/blob/{SHA}/src/lid.py#L1-L3) "
        f"[other](https://github.com/x/y/blob/{SHA}/a.py)\n"
    ),
}


def test_deepwiki_exports(build_wiki: BuildWiki) -> None:
    built = build_wiki(DEEPWIKI, CODE, repo='"o/box"')
    refs = edges(built, "code_ref", "cross_repo_ref")
    assert refs == [
        ("w/1-overview.md", "page", "code/src/lid.py", "src/lid.py"),
        ("w/1-overview.md", "file", "o/box/src/gone.py", "src/gone.py"),
        ("w/1-overview.md", "page", "code/src/lid.py", "L2-L3"),
        ("w/1-overview.md", "page", "code/src/box.ts", "L1-L1"),
        ("w/9.1-lids.md", "page", "code/src/lid.py", "L1-L3"),
        ("w/9.1-lids.md", "repo", "x/y", ""),
        ("w/9.1-lids.md", "file", "x/y/a.py", "x/y:a.py"),
    ]
    assert ("w/1-overview.md", "page", "w/9.1-lids.md", "Lids") in edges(built, "link")
    html = next(d for n, d in site(built).items() if n.startswith("w/1-overview"))
    assert 'href="../../code-source/src/lid.py/#lid-lift"' in html


def site(built: Built) -> dict[str, str]:
    import zlib

    rows = (
        built.mount()
        .connection()
        .execute("SELECT name, sz, data FROM sqlar WHERE name LIKE '%html'")
    )
    return {n: (zlib.decompress(d) if len(d) < sz else d).decode() for n, sz, d in rows}


@pytest.mark.parametrize("name", ["chartjs--Chart.js", "mermaid-js--mermaid", "microsoft--graphrag",
                                  "nlohmann--json", "sveltejs--svelte", "systemd--systemd"])  # fmt: skip
def test_real_wikis_lose_no_page(corpora: Path, build_wiki: BuildWiki, name: str) -> None:
    folder = corpora / "codewiki" / f"{name}-docs"
    built = build_wiki(folder)
    assert built.summary.pages == len(list(folder.glob("*.md")))
    web, revision = (
        built.mount().connection().execute("SELECT web, revision FROM sources").fetchone()
    )
    assert web == "https://github.com/" + name.replace("--", "/")
    assert (
        revision
        == json.loads((folder / "metadata.json").read_text())["generation_info"]["commit_id"]
    )
    components = {
        id
        for entry in _modules(json.loads((folder / "module_tree.json").read_text()))
        for id in entry
    }
    known = {label for _, kind, _, label in edges(built, "code_ref") if kind == "symbol"}
    lost = {f.message for f in built.findings if f.rule == "lost-module"}
    assert components <= known or lost


def _modules(tree: dict[str, dict[str, object]]) -> list[list[str]]:
    found: list[list[str]] = []
    for module in tree.values():
        found.append(module.get("components") or [])  # type: ignore[arg-type]
        found += _modules(module.get("children") or {})  # type: ignore[arg-type]
    return found
