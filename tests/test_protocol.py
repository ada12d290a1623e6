"""The rest of the protocol: templates, completion, notices, browsers' requests, addresses."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from starlette.testclient import TestClient

from lorepack_server.app import Settings, create_app
from lorepack_server.packs.library import Library
from tests.conftest import Built, serve

HOST = "http://127.0.0.1"


def talk(address: str, conversation: Callable[[Client], Any]) -> Any:
    async def connected() -> Any:
        async with Client(address) as client:
            return await conversation(client)

    return asyncio.run(connected())


def test_pages_sections_and_tags_are_read_by_template(demo_server: str) -> None:
    async def read(client: Client) -> list[str]:
        found = (await client.list_resource_templates()).resource_templates
        assert {template.uri_template for template in found} == {
            "lorepack://demo/{+page}", "lorepack://demo/{+page}#{section}",
            "lorepack://demo/?tag={tag}",
        }  # fmt: skip
        return [
            (await client.read_resource(f"lorepack://demo/{rest}")).contents[0].text  # type: ignore[union-attr]
            for rest in ("guide/concepts/Packs.md", "guide/concepts/Packs.md#why-one-file",
                         "?tag=lorepack")
        ]  # fmt: skip

    page, section, tag = talk(f"{demo_server}/mcp/demo", read)
    assert section.startswith("## Why one file") and section.strip() in page and section != page
    assert "(lorepack://demo/guide/concepts/Packs.md)" in tag


@pytest.mark.parametrize("rest", ["none.md", "guide/concepts/Packs.md#none", "?tag=none", ""])
def test_a_resource_that_is_not_there_is_refused(demo_server: str, rest: str) -> None:
    async def read(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"lorepack://demo/{rest}")
        return str(refused.value)

    assert "no such page in demo" in talk(f"{demo_server}/mcp/demo", read)


@pytest.mark.parametrize(
    ("argument", "typed", "page", "expected"),
    [
        ("page", "guide/con", "", "guide/concepts/Packs.md"),
        ("page", "start", "", "guide/Start here.md"),
        ("page", "nasıl", "", "guide/diller/Nasıl çalışır.md"),
        ("page", "guide/concepts/Packs.md#why", "", "guide/concepts/Packs.md#why-one-file"),
        ("section", "why", "guide/concepts/Packs.md", "why-one-file"),
        ("tag", "lore", "", "lorepack"),
    ],
)
def test_arguments_are_completed(
    demo_server: str, argument: str, typed: str, page: str, expected: str
) -> None:
    async def complete(client: Client) -> Any:
        reference = types.ResourceTemplateReference(uri="lorepack://demo/{+page}#{section}")
        known = {"page": page} if page else None
        return await client.complete(reference, {"name": argument, "value": typed}, known)

    assert expected in talk(f"{demo_server}/mcp/demo", complete).completion.values


def test_nothing_is_completed_where_nothing_fits(demo_server: str) -> None:
    async def complete(client: Client) -> Any:
        reference = types.ResourceTemplateReference(uri="lorepack://demo/{+page}")
        return [(await client.complete(reference, {"name": name, "value": "zzz"})).completion.values
                for name in ("page", "tag", "section", "colour")]  # fmt: skip

    assert talk(f"{demo_server}/mcp/demo", complete) == [[], [], [], []]


@pytest.fixture(scope="module")
def browser_client(demo_pack: Path) -> Iterator[TestClient]:
    library = Library([demo_pack])
    library.open()
    app = create_app(library, Settings(origins=["https://inspector.example"]))
    with TestClient(app, base_url=HOST) as client:
        yield client


ALLOWED = ["http://localhost:6274", "http://127.0.0.1:6274", "https://inspector.example"]
REFUSED = ["https://evil.example", "https://localhost.evil.example", "null",
           "https://inspector.example.evil.example", "http://127.0.0.1.evil.example:80"]  # fmt: skip


@pytest.mark.parametrize("origin", ALLOWED)
def test_a_page_that_may_ask_is_told_so(browser_client: TestClient, origin: str) -> None:
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST",
             "Access-Control-Request-Headers": "content-type,mcp-protocol-version"}  # fmt: skip
    preflight = browser_client.options("/mcp/demo", headers=asked)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == origin
    assert "mcp-protocol-version" in preflight.headers["access-control-allow-headers"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Origin": origin, "Accept": "application/json, text/event-stream"}
    answer = browser_client.post("/mcp/demo", json=body, headers=accept)
    assert answer.headers["access-control-allow-origin"] == origin
    assert answer.json()["result"]["tools"]


@pytest.mark.parametrize("origin", REFUSED)
def test_another_page_is_refused(browser_client: TestClient, origin: str) -> None:
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    assert (
        "access-control-allow-origin" not in browser_client.options("/mcp", headers=asked).headers
    )
    answer = browser_client.get("/api/packs", headers={"Origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/demo", "/mcp/demo/", "/mcp/demo/mcp"])
def test_addresses_end_as_people_write_them(browser_client: TestClient, path: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    answer = browser_client.post(path, json=body, headers=accept, follow_redirects=False)
    names = [tool["name"] for tool in answer.json()["result"]["tools"]]
    assert "find_chunks" in names and ("list_packs" in names) == (path.strip("/") == "mcp")


def test_an_unknown_pack_is_refused_with_the_known(browser_client: TestClient) -> None:
    answer = browser_client.post("/mcp/dmeo", json={})
    assert answer.status_code == 404 and "demo" in answer.json()["error"]["message"]


def test_a_stream_is_only_for_who_asks_for_one(browser_client: TestClient) -> None:
    assert browser_client.get("/mcp/demo").status_code == 405


def test_a_citation_leads_to_its_section(browser_client: TestClient) -> None:
    asked = "/site/demo@1.0.0/~/guide/concepts/Packs.md:8-10"
    answer = browser_client.get(asked, follow_redirects=False)
    assert answer.status_code == 302
    assert answer.headers["location"] == "/site/demo@1.0.0/guide/concepts/packs/#why-one-file"
    page = browser_client.get(asked)
    assert page.status_code == 200 and 'id="why-one-file"' in page.text
    for rest in ("none.md", "", "../../etc/passwd", "guide/concepts/Packs.md/x"):
        assert browser_client.get(f"/site/demo/~/{rest}").status_code == 404


def swapped(build: Callable[..., Built], folder: Path, version: str) -> None:
    """Put a pack of a version in the place of the one before."""
    built = build({"a.md": f"version {version}"}, version=version).path
    staged = folder / ".new"
    shutil.copy(built, staged)
    staged.replace(folder / "test.lorepack")


def test_a_swap_is_told_to_who_listens(build: Callable[..., Built], tmp_path: Path) -> None:
    """Over the stream of the versions before 2026, as the TypeScript SDK opens it."""
    folder = tmp_path / "served"
    folder.mkdir()
    swapped(build, folder, "1.0.0")
    with serve(folder) as address:
        accept = {"Accept": "text/event-stream"}
        with httpx.stream("GET", f"{address}/mcp/test", headers=accept, timeout=30) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = stream.iter_lines()
            assert next(lines) == ": open"
            swapped(build, folder, "2.0.0")
            told = []
            for line in lines:
                if line.startswith("data: "):
                    told.append(json.loads(line.removeprefix("data: "))["method"])
                if len(told) == 3:
                    break
        assert told == [f"notifications/{kind}/list_changed" for kind in (
            "tools", "resources", "prompts")]  # fmt: skip


def test_a_swap_is_told_to_who_subscribed(build: Callable[..., Built], tmp_path: Path) -> None:
    """By ``subscriptions/listen``, which took the stream's place."""
    folder = tmp_path / "served"
    folder.mkdir()
    swapped(build, folder, "1.0.0")

    async def listen(address: str) -> list[str]:
        heard: list[str] = []
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
                "params": {"_meta": meta, "notifications": {
                    "toolsListChanged": True, "resourcesListChanged": True}}}  # fmt: skip
        headers = {"Accept": "application/json, text/event-stream",
                   "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}  # fmt: skip
        async with httpx.AsyncClient(timeout=30) as http:
            url = f"{address}/mcp/test"
            async with http.stream("POST", url, json=body, headers=headers) as stream:
                assert stream.status_code == 200, await stream.aread()
                async for line in stream.aiter_lines():
                    if not line.startswith("data: "):
                        continue
                    heard.append(json.loads(line.removeprefix("data: ")).get("method", ""))
                    if len(heard) == 1:
                        await anyio.to_thread.run_sync(swapped, build, folder, "2.0.0")
                    if len(heard) == 3:
                        break
        return heard

    with serve(folder) as address:
        acknowledged, *told = asyncio.run(listen(address))
    assert "acknowledged" in acknowledged
    assert set(told) == {"notifications/tools/list_changed", "notifications/resources/list_changed"}
