"""Whatever names a page finds it: what the server hands out, and what people and models write."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorepack_server.packs.mount import Mount
from lorepack_server.retrieve.page_names import find_pages, find_sections, page_sections
from lorepack_server.tools.answer import Context, ToolAnswer
from lorepack_server.tools.profiles import PROFILES
from tests.conftest import Built

TOOLS = {spec.name: spec for spec in PROFILES["all"]}
FILES = {
    "Guide/Set up.md": "---\naliases: [Installation]\n---\n# Set up\n\nFirst.\n\n## On Linux\n\n"
    "Use apt.\n\n### Older ones\n\nUse dpkg.\n\n## table_actions(datasette, actor, *args)\n\n"
    "A hook.\n\n## Twice\n\none\n\n## Twice\n\ntwo\n",
    "Guide/Ürün listesi.md": "# Ürün listesi\n\nList.\n",
    "Other/Notes.md": "# Notes\n\nOther ones. [[Set up]]\n",
    "More/Notes.md": "# More notes\n\nText.\n",
    "C# guide.md": "# C# guide\n\nSharp.\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def mount(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mount]:
    from lorepack_builder.build import build_pack
    from lorepack_builder.recipe import read_recipe
    from tests.conftest import write_files, write_recipe

    folder = tmp_path_factory.mktemp("names")
    code = '[[source]]\nname = "code"\nkind = "repo"\npath = "code"\n'
    write_files(folder / "code", {
        "README.md": "# Code\n\nSee `Tank.fill`.\n",
        "plant/tank.py": "class Tank:\n    \"\"\"Holds water.\"\"\"\n\n    def fill(self):\n        return 1\n",
        "plant/pump.py": "class Pump:\n    def fill(self):\n        return 2\n",
    })  # fmt: skip
    recipe = write_recipe(folder, write_files(folder / "vault", FILES), extra=code)
    summary, _ = build_pack(read_recipe(recipe), folder / "out")
    from pathlib import Path

    from lorepack_server.packs.mount import mount_pack

    yield mount_pack(Path(summary.pack))


@pytest.fixture
def pack(mount: Mount) -> sqlite3.Connection:
    return mount.connection()


SET_UP = "v/Guide/Set up.md"


@pytest.mark.parametrize(
    "name",
    [
        "v/Guide/Set up.md", "v/guide/set UP.md", "v/Guide/Set up", "Guide/Set up.md", "Set up.md",
        "Set up", "set up", "Installation", "/v/Guide/Set up.md", "./v/Guide/Set up.md",
        "v\\Guide\\Set up.md", "v/Guide/Set%20up.md", "[[Set up]]", "[[Guide/Set up|here]]",
        "![[Set up]]", "[here](v/Guide/Set%20up.md)", "<v/Guide/Set up.md>", "`Set up`",
        '"Set up"', "lorepack://test/v/Guide/Set%20up.md", "lorepack://test@1.0.0/v/Guide/Set up.md",
        "http://127.0.0.1:8000/site/test/v/guide/set-up/",
        "https://docs.example/site/test@1.0.0/v/guide/set-up",
        "https://docs.example/site/test@1.0.0/v/guide/set-up/index.html",
        "http://127.0.0.1:8000/site/test@1.0.0/~/v/Guide/Set%20up.md",
        "https://github.com/o/n/blob/0123abc/docs/Guide/Set%20up.md#L3-L9",
        "v/Guide/Set up.md:6-8", "v/Guide/Set up.md:6", "v/Guide/Set up.md L6-8",
    ],
)  # fmt: skip
def test_a_page_is_found_by_any_of_its_names(pack: sqlite3.Connection, name: str) -> None:
    assert [place.path for place in find_pages(pack, name)] == [SET_UP]


@pytest.mark.parametrize(
    ("name", "section"),
    [
        ("v/Guide/Set up.md#on-linux", "On Linux"),
        ("lorepack://test/v/Guide/Set%20up.md#on-linux", "On Linux"),
        ("[[Set up#On Linux]]", "On Linux"),
        ("[[Set up#On Linux|there]]", "On Linux"),
        ("http://h/site/test@1.0.0/v/guide/set-up/#on-linux", "On Linux"),
        ("v/Guide/Set up.md:8-10", "On Linux"),
        ("v/Guide/Set up.md:14", "Older ones"),
    ],
)
def test_a_name_leads_to_a_section(mount: Mount, name: str, section: str) -> None:
    answer = TOOLS["get_page"].call(Context(mount), {"page": name})
    fence = answer.text.partition("document\n")[2]
    assert fence.lstrip("#").lstrip().startswith(section), answer.text


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Notes", ["v/More/Notes.md", "v/Other/Notes.md"]),
        ("notes.md", ["v/More/Notes.md", "v/Other/Notes.md"]),
        ("More/notes", ["v/More/Notes.md"]),
        ("C# guide", ["v/C# guide.md"]),
        ("ürün listesi", ["v/Guide/Ürün listesi.md"]),
        (quote("v/Guide/Ürün listesi.md"), ["v/Guide/Ürün listesi.md"]),
        ("Tank", ["code/plant/tank.py"]),
        ("plant.tank.Tank", ["code/plant/tank.py"]),
        ("Tank.fill()", ["code/plant/tank.py"]),
        ("Tank::fill", ["code/plant/tank.py"]),
        ("fill", ["code/plant/pump.py", "code/plant/tank.py"]),
        ("nothing of the kind", []),
        ("", []),
        ("#", []),
    ],
)
def test_one_is_taken_and_several_are_told(
    pack: sqlite3.Connection, name: str, found: list[str]
) -> None:
    assert sorted(place.path for place in find_pages(pack, name)) == found


@pytest.mark.parametrize(
    ("name", "headings"),
    [
        ("on-linux", ["On Linux"]), ("#on-linux", ["On Linux"]), ("On Linux", ["On Linux"]),
        ("## On Linux", ["On Linux"]), ("ON LINUX", ["On Linux"]), ("`On` *Linux*", ["On Linux"]),
        ("On L", ["On Linux"]), ("table_actions", ["table_actions(datasette, actor, *args)"]),
        ("table_actions()", ["table_actions(datasette, actor, *args)"]),
        ("Table_Actions(datasette)", ["table_actions(datasette, actor, *args)"]),
        ("Twice", ["Twice", "Twice"]), ("twi", ["Twice", "Twice"]), ("none", []), ("", []),
    ],
)  # fmt: skip
def test_a_section_is_found_by_any_of_its_names(
    pack: sqlite3.Connection, name: str, headings: list[str]
) -> None:
    (page_id,) = pack.execute("SELECT id FROM pages WHERE path = ?", (SET_UP,)).fetchone()
    found = find_sections(page_sections(pack, page_id), name)
    assert [section.text for section in found] == headings


def ask(mount: Mount, name: str, **arguments: object) -> ToolAnswer:
    return TOOLS[name].call(Context(mount), arguments)


def test_sections_of_one_name_are_all_told(mount: Mount) -> None:
    answer = ask(mount, "get_page", page="Set up", subsection="Twice")
    assert answer.data["status"] == "several" and len(answer.data["sections"]) == 2
    for anchor in answer.data["sections"]:
        assert ask(mount, "get_page", page="Set up", subsection=anchor).data["status"] == "ok"


def test_pages_of_one_name_are_all_told(mount: Mount) -> None:
    answer = ask(mount, "get_page", page="notes.md")
    assert answer.data["status"] == "several"
    assert all(f"- {page}" in answer.text for page in answer.data["pages"])
    for page in answer.data["pages"]:
        assert ask(mount, "get_page", page=page).data["page"] == page


def test_the_other_tools_take_the_same_names(mount: Mount) -> None:
    for name in ("[[Set up]]", "set up", "lorepack://test/v/Guide/Set%20up.md", SET_UP):
        assert ask(mount, "find_neighbors", page=name).data["source"]["node"] == SET_UP
        assert ask(mount, "cross_linker", page=name).data["page"] == SET_UP
        assert ask(mount, "wiki_lint", page=name).data["status"] in ("ok", "no_match")
    assert ask(mount, "find_neighbors", page="plant.tank.Tank").data["source"]["kind"] == "symbol"


def test_a_page_and_a_symbol_of_one_name_are_both_told(
    build: Callable[..., Built],
) -> None:
    extra = '[[source]]\nname = "code"\nkind = "repo"\npath = "vault"\n'
    files = {"Tank.md": "# Tank\n\nAbout tanks.\n", "code.py": "class Tank:\n    pass\n"}
    mount = build(files, extra=extra).mount()
    nodes = ask(mount, "find_neighbors", page="Tank").data
    assert nodes["status"] == "several"
    assert {node["kind"] for node in nodes["nodes"]} == {"page", "symbol"}


def test_a_link_to_a_section_is_told_once(build: Callable[..., Built]) -> None:
    mount = build({"a.md": "[[b#Part]] and [[b]]\n", "b.md": "# B\n\nx\n\n## Part\n\ny\n"}).mount()
    near = ask(mount, "find_neighbors", page="a").data["neighbors"]
    assert [(n["node"], n["kind"]) for n in near] == [("v/b.md", "page")]


def test_what_is_handed_out_is_taken_back(mount: Mount) -> None:
    """Every address, citation and node of an answer names the page that it came from."""
    site = Context(mount, "http://127.0.0.1:8000/site/test@1.0.0/")
    for context in (site, Context(mount)):
        found = TOOLS["find_chunks"].call(context, {"query": "linux apt dpkg hook", "limit": 8})
        base = found.text.split("\n", 1)[0].rpartition(" ")[2]
        for result in found.data["results"]:
            first, last = result["lines"]
            cited = (
                f"{result['page']}:{first}-{last}" if last > first else f"{result['page']}:{first}"
            )
            assert cited in found.text
            for name in (result["citationUrl"], result["page"], cited, base + cited):
                page = TOOLS["get_page"].call(context, {"page": name})
                assert page.data.get("page") == result["page"], (name, page.text)


@given(st.text(alphabet=st.sampled_from("aS #[]|:/\\%<>`.\"'é0_-()\n"), max_size=30))
@settings(max_examples=200, deadline=None)
def test_any_name_is_looked_up(mount: Mount, name: str) -> None:
    assert isinstance(find_pages(mount.connection(), name), list)
