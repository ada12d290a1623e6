"""Several packs behind one list of tools, over HTTP and stdio; and each for itself."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from tests.conftest import LOREPACK, serve, write_files, write_recipe

PACKS = {
    "harbour": {
        "Lamps.md": "# Lamps\n\nThe harbour lamp burns whale oil until dawn.\n",
        "Index.md": "# Index\n\nStart with [[Lamps]].\n",
    },
    "garden": {
        "Roses.md": "# Roses\n\nRoses want whale bone meal in spring.\n",
        "Index.md": "# Index\n\nStart with [[Roses]].\n",
    },
    "kitchen": {"Bread.md": "# Bread\n\nBread rises overnight in a cold room.\n"},
}
TITLES = {"harbour": 'The "Harbour"\n# Book', "garden": "Garden", "kitchen": "Kitchen"}
Talk = Callable[[Client], Awaitable[Any]]


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name, files in PACKS.items():
        folder = tmp_path_factory.mktemp(name)
        recipe = write_recipe(folder, write_files(folder / "vault", files))
        text = recipe.read_text().replace('name = "test"', f'name = "{name}"')
        recipe.write_text(text.replace('"Test pack"', json.dumps(TITLES[name])))
        summary, _ = build_pack(read_recipe(recipe), folder / "out")
        found[name] = Path(summary.pack)
    return found


@pytest.fixture(scope="module")
def address(packs: dict[str, Path]) -> Iterator[str]:
    with serve(*packs.values()) as address:
        yield address


@pytest.fixture(params=["stdio", "http"])
def talk(request: pytest.FixtureRequest, packs: dict[str, Path]) -> Callable[[Talk], Any]:
    """Run a conversation with all packs at once, over either transport."""
    if request.param == "stdio":
        arguments = ["mcp", *map(str, packs.values())]
        target: Any = StdioServerParameters(
            command=str(LOREPACK), args=arguments, env=dict(os.environ)
        )
    else:
        target = f"{request.getfixturevalue('address')}/mcp"

    def run(conversation: Talk) -> Any:
        async def connected() -> Any:
            async with Client(target) as client:
                return await conversation(client)

        return asyncio.run(connected())

    return run


def call(name: str, /, **arguments: Any) -> Talk:
    async def ask(client: Client) -> Any:
        answer = await client.call_tool(name, arguments)
        return answer.content[0].text  # type: ignore[union-attr]

    return ask


def test_several_packs_are_one_list_of_tools(talk: Callable[[Talk], Any]) -> None:
    tools = talk(lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == [
        "list_packs", "find_chunks", "get_page", "find_neighbors", "list_project_dependencies",
        "resolve_repo", "wiki_status",
    ]  # fmt: skip
    assert all("pack" in tool.input_schema["properties"] for tool in tools[1:])
    # A title is untrusted: nothing in it ends the quotation, or begins a line.
    assert '"The Harbour # Book"' in tools[1].description
    assert "\n" not in tools[1].description


def test_list_packs(talk: Callable[[Talk], Any]) -> None:
    lines = talk(call("list_packs")).splitlines()
    assert lines[0] == "3 packs"
    assert {line.partition(":")[0] for line in lines[1:]} == {f"{name} 1.0.0" for name in PACKS}


def test_hits_of_all_packs_say_whose_they_are(talk: Callable[[Talk], Any]) -> None:
    text = talk(call("find_chunks", query="whale"))
    assert "## harbour 1.0.0: Lamps" in text and "lorepack://harbour/v/Lamps.md:" in text
    assert "## garden 1.0.0: Roses" in text and "kitchen" not in text
    only = talk(call("find_chunks", query="whale", pack="garden"))
    assert "whale bone" in only and "whale oil" not in only
    two = talk(call("find_chunks", query="whale", pack=["garden", "kitchen@1.0.0"]))
    assert "whale bone" in two and "whale oil" not in two
    none = talk(call("find_chunks", query="sourdough starters at altitude"))
    assert none.startswith("no_match")


def test_a_page_is_found_in_whichever_pack_has_it(talk: Callable[[Talk], Any]) -> None:
    assert "rises overnight" in talk(call("get_page", page="Bread"))
    assert "whale oil" in talk(call("get_page", page="lorepack://harbour/v/Lamps.md"))
    both = talk(call("get_page", page="Index"))
    assert both.startswith("several") and "- harbour: v/Index.md" in both
    assert "Start with [[Roses]]" in talk(call("get_page", page="Index", pack="garden"))
    assert "no page" in talk(call("get_page", page="Nowhere"))


def test_the_other_tools_join_their_answers(talk: Callable[[Talk], Any]) -> None:
    status = talk(call("wiki_status"))
    assert all(f"# {name} 1.0.0" in status for name in PACKS)
    near = talk(call("find_neighbors", page="Lamps"))
    assert "v/Index.md" in near and "Roses" not in near
    for name in ("list_project_dependencies", "resolve_repo"):
        arguments = {"name": "v"} if name == "resolve_repo" else {}
        assert "Error" not in talk(call(name, **arguments))


def test_a_pack_that_is_not_there_is_named(talk: Callable[[Talk], Any]) -> None:
    text = talk(call("find_chunks", query="x", pack="gardn"))
    assert text.startswith("Error no_such_pack") and "garden" in text


def test_pages_of_all_packs_are_resources(talk: Callable[[Talk], Any]) -> None:
    async def read(client: Client) -> Any:
        found = (await client.list_resources()).resources
        bread = next(r for r in found if r.name == "v/Bread.md")
        return [str(r.uri) for r in found], await client.read_resource(bread.uri)

    uris, bread = talk(read)
    assert len(uris) == 5 and "lorepack://garden/v/Roses.md" in uris
    assert "rises overnight" in bread.contents[0].text


def test_two_packs_of_one_name_are_refused(packs: dict[str, Path]) -> None:
    from lorepack_server.cli.mcp import mcp
    from tests.conftest import told

    twice = [str(packs["garden"])] * 2
    assert "two packs are called garden" in told(mcp.main, twice, "mcp", None, False)


def test_all_packs_are_listed_for_programs(address: str) -> None:
    listed = httpx.get(f"{address}/api/packs").json()["packs"]
    assert {row["name"]: row["pages"] for row in listed} == {
        name: len(files) for name, files in PACKS.items()
    }
    assert listed[0].keys() >= {"version", "title", "contents", "chunks", "languages", "digest"}


@pytest.mark.parametrize("path", ["/mcp/garden", "/mcp/garden/", "/mcp/garden@1.0.0",
                                  "/mcp/garden/mcp", "/mcp/garden/mcp/"])  # fmt: skip
def test_an_address_shows_its_own_pack_only(address: str, path: str) -> None:
    async def ask() -> list[str]:
        async with Client(f"{address}{path}") as client:
            texts = [await call(name, **arguments)(client) for name, arguments in (
                ("find_chunks", {"query": "whale"}), ("get_page", {"page": "Lamps"}),
                ("get_page", {"page": "lorepack://harbour/v/Lamps.md"}),
            )]  # fmt: skip
            names = [r.name for r in (await client.list_resources()).resources]
            assert names == ["v/Index.md", "v/Roses.md"]
            refused = await client.call_tool("find_chunks", {"query": "x", "pack": "harbour"})
            assert refused.is_error
            return texts

    found, by_title, by_address = asyncio.run(ask())
    assert "whale bone" in found
    assert "whale oil" not in found + by_title + by_address


TOKENS = {"garden": "garden-token-0123456789", "*": "every-token-0123456789"}


def test_a_token_shows_the_packs_that_it_opens(packs: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps(TOKENS))

    async def seen(address: str, token: str) -> tuple[list[str], str, str]:
        headers = {"Authorization": f"Bearer {token}"}
        listed = httpx.get(f"{address}/api/packs", headers=headers).json()["packs"]
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        accept = {**headers, "Accept": "application/json, text/event-stream"}
        texts = []
        for name, arguments in (("find_chunks", {"query": "whale"}), ("list_packs", {})):
            body = {**message, "params": {"name": name, "arguments": arguments}}
            answer = httpx.post(f"{address}/mcp", json=body, headers=accept).json()
            texts.append(answer["result"]["content"][0]["text"])
        return [row["name"] for row in listed], texts[0], texts[1]

    with serve(*packs.values(), options=["--token-file", str(file)]) as address:
        names, found, listed = asyncio.run(seen(address, TOKENS["garden"]))
        assert names == ["garden"] and "whale oil" not in found and "harbour" not in listed
        names, found, listed = asyncio.run(seen(address, TOKENS["*"]))
        assert len(names) == 3 and "whale oil" in found and "harbour" in listed
        for path in ("/api/packs", "/mcp"):
            assert httpx.post(f"{address}{path}", json={}).status_code == 401
            wrong = {"Authorization": "Bearer wrong-token-0123456789"}
            assert httpx.get(f"{address}{path}", headers=wrong).status_code == 401
        own = {"Authorization": f"Bearer {TOKENS['garden']}"}
        assert httpx.get(f"{address}/site/harbour/", headers=own).status_code == 401
