"""An agent's view: the MCP SDK's own client against real servers."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from lorepack_server.tools.tokens import count_tokens
from tests.conftest import LOREPACK

Talk = Callable[[Client], Awaitable[Any]]


@pytest.fixture(params=["stdio", "http"])
def talk(request: pytest.FixtureRequest, demo_pack: Path) -> Callable[[Talk], Any]:
    """Run a conversation with the demo pack, over either transport."""
    if request.param == "stdio":
        target: Any = StdioServerParameters(
            command=str(LOREPACK), args=["mcp", str(demo_pack)], env=dict(os.environ)
        )
    else:
        target = f"{request.getfixturevalue('demo_server')}/mcp/demo"

    def run(conversation: Talk) -> Any:
        async def connected() -> Any:
            async with Client(target) as client:
                return await conversation(client)

        return asyncio.run(connected())

    return run


def call(name: str, **arguments: Any) -> Talk:
    return lambda client: client.call_tool(name, arguments)


def test_tools_are_few_small_and_read_only(talk: Callable[[Talk], Any]) -> None:
    tools = talk(lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == [
        "find_chunks", "get_page", "find_neighbors", "list_project_dependencies", "resolve_repo",
        "wiki_status",
    ]  # fmt: skip
    assert all(tool.annotations.read_only_hint for tool in tools)
    dumped = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    assert count_tokens(json.dumps(dumped)) < 1000


def test_an_answer_is_whole_in_its_text(talk: Callable[[Talk], Any]) -> None:
    """Clients that show their model structured content alone would show nothing else."""
    tools = talk(lambda client: client.list_tools()).tools
    assert all(tool.output_schema is None for tool in tools)
    for name, arguments in {
        "find_chunks": {"query": "why is a pack one file?", "limit": 3},
        "get_page": {"page": "Packs"}, "find_neighbors": {"page": "Packs"}, "wiki_status": {},
    }.items():  # fmt: skip
        answer = talk(call(name, **arguments))
        assert answer.structured_content is None and len(answer.content) == 1
        assert answer.content[0].text.count("guide") and not answer.is_error
        assert answer.meta["lorepack"]["version"] == "1.0.0"


def test_find_chunks_answers_with_citations(talk: Callable[[Talk], Any]) -> None:
    text = talk(call("find_chunks", query="why is a pack one file?", limit=3)).content[0].text
    head, best = text.split("\n\n")[:2]
    assert head.startswith("demo 1.0.0") and head.rpartition(" ")[2].endswith(("/~/", "//demo/"))
    assert best.splitlines()[:3] == [
        "## Packs > Why one file", "guide/concepts/Packs.md:8-10", "~~~~document",
    ]  # fmt: skip
    assert "opened offline for ever" in text


def test_get_page_whole_section_and_list(talk: Callable[[Talk], Any]) -> None:
    page = talk(call("get_page", page="guide/concepts/Packs.md")).content[0].text
    assert "## What it holds" in page
    section = talk(call("get_page", page="Packs", subsection="Why one file")).content[0].text
    assert "#why-one-file" in section and "What it holds" not in section
    listed = talk(call("get_page", listPages=True)).content[0].text.splitlines()
    assert listed[0] == "13 pages of demo 1.0.0" and len(listed) == 14


def test_an_unknown_page_gets_near_names(talk: Callable[[Talk], Any]) -> None:
    answer = talk(call("get_page", page="guide/concepts/Pakcs.md"))
    assert not answer.is_error
    assert "no_match" in answer.content[0].text
    assert "Near: guide/concepts/Packs.md" in answer.content[0].text


def test_find_neighbors_walks_both_ways(talk: Callable[[Talk], Any]) -> None:
    near = talk(call("find_neighbors", page="guide/concepts/Packs.md", depth=2, limit=100))
    lines = near.content[0].text.splitlines()
    assert any(line.startswith("← wikilink page guide/Start here.md") for line in lines)
    assert any(line.startswith("← embed page guide/guides/Markdown tour.md") for line in lines)
    assert any(line.startswith("→ tag tag lorepack/format") for line in lines)
    only = talk(call("find_neighbors", source="#guide", kinds=["tag"])).content[0].text
    assert {line.split()[1] for line in only.splitlines()[1:]} == {"tag"}


def test_wiki_status_tells_what_is_served(talk: Callable[[Talk], Any]) -> None:
    text = talk(call("wiki_status")).content[0].text
    assert text.startswith("Lorepack demo (demo 1.0.0): ") and "13 pages" in text
    assert "Languages: en 11, tr 1, zh 1" in text and "Search: lexical and dense" in text


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("find_chunks", {"query": "x", "bogus": 1}, "'bogus'"),
        ("find_chunks", {}, "query is missing"),
        ("find_chunks", {"query": "x", "limit": "many"}, "limit is not a whole number; it takes 1"),
        ("nothing", {}, "there is no tool 'nothing'"),
    ],
)
def test_wrong_arguments_are_named(
    talk: Callable[[Talk], Any], name: str, arguments: dict[str, Any], says: str
) -> None:
    answer = talk(call(name, **arguments))
    assert answer.is_error and says in answer.content[0].text


def test_pages_are_resources(talk: Callable[[Talk], Any]) -> None:
    async def read(client: Client) -> Any:
        listed = (await client.list_resources()).resources
        first = next(r for r in listed if r.name == "guide/concepts/Packs.md")
        return await client.read_resource(first.uri)

    assert "immutable" in talk(read).contents[0].text


def test_stdout_is_json_rpc_and_nothing_else(demo_pack: Path) -> None:
    messages = [
        {"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                            "clientInfo": {"name": "t", "version": "1"}}},
        {"method": "tools/call", "params": {"name": "find_chunks", "arguments": {"query": "pack"}}},
        {"method": "tools/call", "params": {"name": "nothing", "arguments": {}}},
        {"method": "no/such/method", "params": {}},
    ]  # fmt: skip
    lines = [json.dumps({"jsonrpc": "2.0", "id": i, **m}) for i, m in enumerate(messages)]
    lines.insert(1, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    lines.insert(2, "this is no json")
    process = subprocess.Popen(
        [str(LOREPACK), "mcp", str(demo_pack)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin and process.stdout
    process.stdin.write("\n".join(lines) + "\n")
    process.stdin.flush()
    answered = set()
    while answered != {0, 1, 2, 3}:
        message = json.loads(process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        answered.add(message.get("id"))
        answered.discard(None)
    rest, _ = process.communicate(timeout=10)
    assert rest == ""
    assert process.returncode == 0


def test_skills_are_prompts(talk: Callable[[Talk], Any]) -> None:
    async def ask(client: Client) -> Any:
        listed = (await client.list_prompts()).prompts
        filled = await client.get_prompt("wiki-research", {"task": "compare packs and wikis"})
        return listed, filled, await client.get_prompt("wiki-setup")

    listed, filled, plain = talk(ask)
    assert len(listed) == 11 and all(prompt.description for prompt in listed)
    text = filled.messages[0].content.text
    assert "# Answer from Lorepack demo" in text and text.endswith(
        "## Task\ncompare packs and wikis\n"
    )
    assert "## Task" not in plain.messages[0].content.text


def test_an_unknown_prompt_is_refused_by_name(talk: Callable[[Talk], Any]) -> None:
    async def ask(client: Client) -> str:
        with pytest.raises(MCPError) as wrong:
            await client.get_prompt("wiki-none")
        return str(wrong.value)

    assert "no prompt 'wiki-none'" in talk(ask)
