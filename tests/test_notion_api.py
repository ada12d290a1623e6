"""Notion's API, spoken by a local server: pages, blocks, databases, pagination, throttling."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from lorepack.errors import LorepackError
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from tests.conftest import Built

HOME, SUB, DB, ROW, OTHER = (f"{n:08x}-0000-4000-8000-{n:012x}" for n in range(1, 6))
TOKEN = "secret-t0ken"


def text(value: str, **marks: Any) -> list[dict[str, Any]]:
    href = marks.pop("href", None)
    return [{"type": "text", "plain_text": value, "annotations": marks, "href": href}]


def block(
    kind: str, id: str = "", children: list[Any] | None = None, **content: Any
) -> dict[str, Any]:
    own = id or f"{next(NUMBERS):08x}-0000-4000-8000-000000000000"
    made = {"id": own, "type": kind, "has_children": bool(children), kind: content}
    if children:
        BLOCKS[own] = children
    return made


BLOCKS: dict[str, list[dict[str, Any]]] = {}
NUMBERS = count(0x1000)
BLOCKS[HOME] = [
    block("heading_1", rich_text=text("Start")),
    block("paragraph", rich_text=[*text("bold", bold=True), *text(" and "), *text("code", code=True)]),
    block("bulleted_list_item", "",
          [block("paragraph", rich_text=text("inner"))], rich_text=text("outer")),
    block("numbered_list_item", rich_text=text("one")),
    block("numbered_list_item", rich_text=text("two")),
    block("to_do", rich_text=text("done"), checked=True),
    block("callout", rich_text=text("Mind it."), icon={"emoji": "💡"}),
    block("code", rich_text=text("x = 1"), language="python"),
    block("equation", expression="a^2"),
    block("table", "", [block("table_row", cells=[text("a"), text("b")]),
                        block("table_row", cells=[text("1"), text("2|3")])], table_width=2),
    block("image", type="file", caption=text("pic"), file={"url": "https://f.example/p.png?X-Signature=KEY"}),
    block("bookmark", url="https://example.org/x"),
    block("paragraph", rich_text=text("Sub again", href="/" + SUB.replace("-", ""))),
    *(block("paragraph", rich_text=text(f"filler {n}")) for n in range(150)),
    block("child_page", SUB, title="Sub"),
    block("child_database", DB, title="Tasks"),
]  # fmt: skip
BLOCKS[SUB] = [block("paragraph", rich_text=text("In the sub page."))]
BLOCKS[ROW] = [block("paragraph", rich_text=text("Row body."))]
BLOCKS[OTHER] = []


def title(value: str) -> dict[str, Any]:
    return {"type": "title", "title": text(value)}


PAGES = {
    HOME: {"title": title("Home")}, SUB: {"title": title("Sub")},
    ROW: {"Name": title("First"), "Tags": {"type": "multi_select", "multi_select": [{"name": "x"}]},
          "Done": {"type": "checkbox", "checkbox": True},
          "When": {"type": "date", "date": {"start": "2026-01-02", "end": None}}},
    OTHER: {"Name": title("Second"), "Tags": {"type": "multi_select", "multi_select": []},
            "Done": {"type": "checkbox", "checkbox": False}, "When": {"type": "date", "date": None}},
}  # fmt: skip
SCHEMA = {name: {"type": value["type"]} for name, value in PAGES[ROW].items()}


@pytest.fixture
def notion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The paths that were asked; every tenth question is told to come again."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: dict[str, Any]) -> None:
            asked.append(self.path)
            parts = urlsplit(self.path)
            kind, id, *what = parts.path.removeprefix("/v1/").split("/")
            full = next(
                (
                    known
                    for known in (*PAGES, DB, *BLOCKS)
                    if known.replace("-", "") == id.replace("-", "")
                ),
                "",
            )
            status, data = 200, {}
            cursor = body.get("start_cursor") or parse_qs(parts.query).get("start_cursor", [""])[0]
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                status = 401
            elif len(asked) % 10 == 0:
                status = 429
            elif kind == "pages" and full in PAGES:
                data = {"id": full, "properties": PAGES[full]}
            elif kind == "databases" and full == DB and not what:
                data = {"id": DB, "title": text("Tasks"), "properties": SCHEMA}
            elif kind == "databases" and full == DB:
                rows = [{"id": id, "properties": PAGES[id]} for id in (ROW, OTHER)]
                data = screen(rows, int(cursor or 0), 1)
            elif kind == "blocks" and full in BLOCKS:
                data = screen(BLOCKS[full], int(cursor or 0), 100)
            else:
                status = 404
            self.send_response(status)
            if status == 429:
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(json.dumps(data).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("NOTION_API_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("NOTION_TOKEN", TOKEN)
    yield asked
    server.shutdown()
    server.server_close()


def screen(items: list[Any], start: int, size: int) -> dict[str, Any]:
    end = start + size
    return {"results": items[start:end], "has_more": end < len(items), "next_cursor": str(end)}


def build(tmp_path: Path, path: str) -> Built:
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        f'[pack]\nname="p"\nversion="1"\n[[source]]\nname="n"\nkind="notion"\npath="{path}"\n'
        '[embed]\nmodel="none"\n'
    )
    return Built(*build_pack(read_recipe(recipe), tmp_path / "out", site=False))


def test_pages_come_as_from_an_export(tmp_path: Path, notion: list[str]) -> None:
    built = build(tmp_path, f"https://www.notion.so/Home-{HOME.replace('-', '')}?pvs=4")
    rows = (
        built.mount().connection().execute("SELECT path, markdown, tags FROM pages ORDER BY path")
    )
    pages = {row["path"].removeprefix("n/"): row for row in rows}
    assert list(pages) == ["Home.md", "Home/Sub.md", "Home/Tasks.md", "Home/Tasks/First.md",
                           "Home/Tasks/Second.md"]  # fmt: skip
    home = pages["Home.md"]["markdown"]
    for shown in (
        "# Home\n", "# Start\n", "**bold** and `code`", "- outer\n    inner", "1. one\n2. two",
        "- [x] done", "> [!note]\n> 💡 Mind it.", "```python\nx = 1\n```", "$$\na^2\n$$",
        "| a | b |\n|---|---|\n| 1 | 2\\|3 |", "![pic](https://f.example/p.png)",
        "https://example.org/x", "filler 149", "[Sub](Home/Sub.md)", "[Sub again](Home/Sub.md)",
        "[Tasks](Home/Tasks.md)",
    ):  # fmt: skip
        assert shown in home, shown
    assert "KEY" not in home
    assert (
        "| [First](Tasks/First.md) | Yes | x | 2026-01-02 |" in pages["Home/Tasks.md"]["markdown"]
    )
    assert json.loads(pages["Home/Tasks/First.md"]["tags"]) == ["x"]
    assert built.rules() == []
    assert any("start_cursor=100" in path for path in notion)
    assert TOKEN.encode() not in built.path.read_bytes()


def test_a_database_may_be_the_root(tmp_path: Path, notion: list[str]) -> None:
    built = build(tmp_path, f"notion:{DB}")
    assert built.summary.pages == 3


@pytest.mark.parametrize(("path", "token", "message"), [
    (f"notion:{'f' * 32}", TOKEN, "Notion has no pages/f+ for this token: share the page"),
    (f"notion:{HOME}", "wrong-w0rd", "Notion answers 401"),
    (f"notion:{HOME}", "", "NOTION_TOKEN is not set"),
    ("notion:home", TOKEN, "names no page of Notion"),
])  # fmt: skip
def test_what_cannot_be_read_is_one_clear_error(
    tmp_path: Path, notion: list[str], monkeypatch: pytest.MonkeyPatch, path: str, token: str,
    message: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("NOTION_TOKEN", token)
    with pytest.raises(LorepackError, match=message) as refused:
        build(tmp_path, path)
    assert "w0rd" not in str(refused.value) and TOKEN not in str(refused.value)
