"""Call a tool through a Python framework's own MCP client, and print what its model would get.

python python_clients.py FRAMEWORK SERVER-JSON MODEL-URL TOOL ARGUMENTS-JSON

SERVER is an address, or a list: a command and its arguments. Where the framework runs a whole
agent, MODEL-URL stands in for the model's API and records what it gets by itself.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any


async def fastmcp(server: Any, model: str, tool: str, arguments: dict[str, Any]) -> str:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    target = server if isinstance(server, str) else StdioTransport(server[0], server[1:])
    async with Client(target) as client:
        answer = await client.call_tool(tool, arguments)
        # What a program would take first, and only without it the texts.
        return str(answer.data) if answer.data is not None else answer.content[0].text


async def langchain(server: Any, model: str, tool: str, arguments: dict[str, Any]) -> str:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    if isinstance(server, str):
        connection: dict[str, Any] = {"transport": "streamable_http", "url": server}
    else:
        connection = {"transport": "stdio", "command": server[0], "args": server[1:]}
    tools = await MultiServerMCPClient({"lorepack": connection}).get_tools()
    found = next(one for one in tools if one.name == tool)
    call = {"name": tool, "args": arguments, "id": "1", "type": "tool_call"}
    content = (await found.ainvoke(call)).content
    return content if isinstance(content, str) else "\n".join(block["text"] for block in content)


async def openai_agents(server: Any, model: str, tool: str, arguments: dict[str, Any]) -> str:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    seconds = {"client_session_timeout_seconds": 30, "use_structured_content": True}
    if isinstance(server, str):
        connected: Any = MCPServerStreamableHttp({"url": server}, **seconds)
    else:
        connected = MCPServerStdio({"command": server[0], "args": server[1:]}, **seconds)
    client = AsyncOpenAI(base_url=f"{model}/v1", api_key="dummy")
    async with connected as mcp:
        chat = OpenAIChatCompletionsModel("stand-in", client)
        agent = Agent("test", instructions="Answer.", mcp_servers=[mcp], model=chat)
        await Runner.run(agent, "Why is a pack one file?")
    return ""


async def pydantic_ai(server: Any, model: str, tool: str, arguments: dict[str, Any]) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{model}/v1", api_key="dummy")
    entry = {"url": server} if isinstance(server, str) else {
        "command": server[0], "args": server[1:]
    }  # fmt: skip
    toolset = MCPToolset({"mcpServers": {"lorepack": entry}})
    agent = Agent(OpenAIChatModel("stand-in", provider=provider), toolsets=[toolset])
    await agent.run("Why is a pack one file?")
    return ""


def main() -> None:
    framework, server, model, tool, arguments = sys.argv[1:]
    run = globals()[framework]
    print(json.dumps(asyncio.run(run(json.loads(server), model, tool, json.loads(arguments)))))


if __name__ == "__main__":
    main()
