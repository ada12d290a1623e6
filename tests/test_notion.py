"""Notion's exports: names without ids, links that still lead, databases with a page a row."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from tests.conftest import Built, Files, write_files

ID = "{:032x}".format
HOME, DB, ROW, TWIN, SUB = (ID(0xA1B2C3D4 << 96 | n) for n in range(1, 6))
BuildNotion = Callable[[Path | Files], Built]


@pytest.fixture
def build_notion(tmp_path: Path) -> BuildNotion:
    def build(files: Path | Files, kind: str = "notion") -> Built:
        source = files if isinstance(files, Path) else write_files(tmp_path / "export", files)
        recipe = tmp_path / "r.toml"
        recipe.write_text(
            f'[pack]\nname="p"\nversion="1"\n[[source]]\nname="n"\nkind="{kind}"\npath="{source}"\n'
            '[embed]\nmodel="none"\n'
        )
        return Built(*build_pack(read_recipe(recipe), tmp_path / "out"))

    return build


def pages(built: Built) -> dict[str, dict[str, str]]:
    rows = built.mount().connection().execute("SELECT * FROM pages ORDER BY path")
    return {row["path"].removeprefix("n/"): dict(row) for row in rows}


def edges(built: Built) -> set[tuple[str, str]]:
    rows = (
        built.mount()
        .connection()
        .execute(
            "SELECT s.name, d.name FROM edges e JOIN nodes s ON s.id = e.src "
            "JOIN nodes d ON d.id = e.dst WHERE e.kind IN ('link', 'embed', 'unresolved')"
        )
    )
    return {(a.removeprefix("n/"), b.removeprefix("n/")) for a, b in rows}


EXPORT: Files = {
    f"Home {HOME}.md": (
        "# Home\n\n"
        f"[Tasks](Home%20{HOME}/Tasks%20{DB}.csv) and [Row](Home%20{HOME}/Tasks%20{DB}/C#%20(a&b)%20{ROW}.md)\n"
        f"and [web](https://www.notion.so/Sub-{SUB}) and ![pic](Home%20{HOME}/Untitled.png)\n\n"
        "<aside>\n💡 Mind this.\n\n</aside>\n"
    ),
    f"Home {HOME}/Untitled.png": b"\x89PNG\r\n\x1a\n",
    f"Home {HOME}/Sub {SUB}.md": f"# Sub\n\nUp: [Home](../Home%20{HOME}.md)\n",
    f"Home {HOME}/Tasks {DB}.csv": "\ufeffName,Status\nC# (a&b),verified\n",
    f"Home {HOME}/Tasks {DB}_all.csv": (
        "\ufeffName,Status,Tags,Created time,Related\n"
        f'C# (a&b),verified,"One Two, b","March 5, 2024 3:07 PM",Sub (../Sub%20{SUB}.md)\n'
        "Untitled,,,,\n,,,,\nLost row,,,,\n"
    ),
    f"Home {HOME}/Tasks {DB}/C# (a&b) {ROW}.md": (
        "# C# (a&b)\n\nStatus: verified\nTags: One Two, b\nCreated time: March 5, 2024 3:07 PM\n\n"
        "Body: not a property.\n"
    ),
    f"Home {HOME}/Tasks {DB}/Untitled {TWIN}.md": "# Untitled\n",
    f"Home {HOME}/Tasks {DB}/Untitled {ROW[:-1]}f.md": "# Untitled\n",
}  # fmt: skip


def test_ids_go_and_links_still_lead(build_notion: BuildNotion) -> None:
    built = build_notion(EXPORT)
    found = pages(built)
    assert list(found) == [
        "Home.md", "Home/Sub.md", "Home/Tasks.md", "Home/Tasks/C# (a&b).md",
        "Home/Tasks/Untitled 00000004.md", "Home/Tasks/Untitled 0000000f.md",
    ]  # fmt: skip
    assert {
        ("Home.md", "Home/Tasks.md"), ("Home.md", "Home/Tasks/C# (a&b).md"),
        ("Home.md", "Home/Sub.md"), ("Home.md", "Home/Untitled.png"), ("Home/Sub.md", "Home.md"),
        ("Home/Tasks.md", "Home/Tasks/C# (a&b).md"), ("Home/Tasks.md", "Home/Sub.md"),
    } <= edges(built)  # fmt: skip
    assert not built.summary.unresolved
    for page in found.values():
        for id in (HOME, DB, ROW, SUB):
            assert id not in page["path"] + page["markdown"]
    assert "> [!note]\n> 💡 Mind this." in found["Home.md"]["markdown"]


def test_properties_become_frontmatter(build_notion: BuildNotion) -> None:
    row = pages(build_notion(EXPORT))["Home/Tasks/C# (a&b).md"]
    assert json.loads(row["tags"]) == ["One-Two", "b"]
    assert (row["title"], row["lifecycle"], row["created"]) == (
        "C# (a&b)",
        "verified",
        "2024-03-05T15:07",
    )
    assert row["markdown"].strip() == "# C# (a&b)\n\nBody: not a property."


def test_a_database_is_one_table_without_its_twin(build_notion: BuildNotion) -> None:
    built = build_notion(EXPORT)
    table = pages(built)["Home/Tasks.md"]["markdown"]
    assert table.count("| Name | Status | Tags | Created time | Related |") == 1
    assert "Lost row" in table and "| [C# (a&b)](" in table.replace("\\", "")
    assert [f.message for f in built.findings if f.rule == "lost-row"] == [
        "the row 'Lost row' has no page in the export"
    ]


def test_a_zip_in_a_zip_is_the_same_as_its_folder(
    tmp_path: Path, build_notion: BuildNotion
) -> None:
    def pack(files: Files) -> bytes:
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as file:
            for name, content in files.items():
                file.writestr(name, content)
        return data.getvalue()

    plain = pages(build_notion(EXPORT))
    (tmp_path / "export.zip").write_bytes(pack({"Export-1-Part-1.zip": pack(EXPORT)}))
    for kind in ("notion", "archive"):
        zipped = pages(build_notion(tmp_path / "export.zip", kind))  # type: ignore[call-arg]
        # The lone page's folder is no folder around the export.
        assert {p: v["markdown"] for p, v in zipped.items()} == {
            p: v["markdown"] for p, v in plain.items()
        }


def test_an_html_export_reads_the_same(build_notion: BuildNotion) -> None:
    def page(title: str, body: str, properties: str = "") -> str:
        return (
            f'<html><head><title>{title}</title></head><body><article class="page sans"><header>'
            f'<h1 class="page-title">{title}</h1>{properties}</header>'
            f'<div class="page-body">{body}</div></article></body></html>'
        )

    row = (
        '<table class="properties"><tbody><tr><th>Tags</th><td><span>One Two</span></td></tr>'
        "</tbody></table>"
    )
    built = build_notion({
        "index.html": "<html><body>all pages</body></html>",
        f"Home {HOME}.html": page("Home", f'<p>See <a href="Home%20{HOME}/Sub%20{SUB}.html">Sub</a></p>'
                                  '<div class="comment-thread">a comment</div>'),
        f"Home {HOME}/Sub {SUB}.html": page("Sub", "<h2>Part</h2><ul><li>x</li></ul>", row),
    })  # fmt: skip
    found = pages(built)
    assert list(found) == ["Home.md", "Home/Sub.md"]
    assert edges(built) == {("Home.md", "Home/Sub.md")}
    assert json.loads(found["Home/Sub.md"]["tags"]) == ["One-Two"]
    assert "## Part" in found["Home/Sub.md"]["markdown"]
    assert "a comment" not in found["Home.md"]["markdown"]


def test_real_exports_lose_no_page(corpora: Path, build_notion: BuildNotion) -> None:
    built = build_notion(corpora / "notion" / "zh-sample")
    found = pages(built)
    assert len(found) == 20
    assert not any(len(part) == 32 for path in found for part in path.replace(".", " ").split())
    table = found["notion-sample-dump/Notion Clipper DB.md"]
    assert table["markdown"].count("](Notion%20Clipper%20DB/") >= 17
    assert found["notion-sample-dump/Notion Clipper DB/AIGC Weekly #12 GPT-4要来了？ AIGC周刊.md"]
    # The sample lacks its pictures; of pages, every link leads.
    assert all(f.message.split(") leads")[0].endswith((".png", ".gif", ".jpg", ".jpeg", ".webp"))
               for f in built.findings if f.rule == "broken-link")  # fmt: skip
    demo = build_notion(corpora / "notion" / "export-demo")
    assert len(pages(demo)) == 6


def test_a_table_that_is_none_and_deep_html_are_no_end(build_notion: BuildNotion) -> None:
    built = build_notion({
        f"Bad {DB}.csv": 'a,b\n"' + "x" * (17 * 2**20), f"Deep {SUB}.html": "<div>" * 3000 + "deep text",
        f"Good {HOME}.md": "# Good\n",
    })  # fmt: skip
    assert (sorted(pages(built)), built.rules()) == (["Deep.md", "Good.md"], ["bad-csv"])
    assert "deep text" in pages(built)["Deep.md"]["markdown"]
