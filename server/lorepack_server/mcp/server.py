"""The MCP server of a pack, or of several behind one list of tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import anyio.to_thread
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.subscriptions import ListenHandler, SubscriptionBus
from mcp.shared.exceptions import MCPError

from lorepack_server.calls import Busy
from lorepack_server.mcp import resources
from lorepack_server.mcp.offer import Offer
from lorepack_server.mcp.roots import client_roots
from lorepack_server.packs.mount import Mount
from lorepack_server.skills import HERE, Skill, skills
from lorepack_server.tools.answer import Context, ToolAnswer, ToolSpec, error
from lorepack_server.tools.shelf import ShelfContext

Call = Callable[
    [Mapping[str, ToolSpec], str, Mapping[str, Any], Context | ShelfContext],
    Awaitable[ToolAnswer],
]
"""Runs a tool of these, by name, with arguments, in a context; raises `Busy` at its limit."""

_IDENTITY = ("pack", "version", "digest", "status")


@dataclass(frozen=True)
class Served:
    """What a request may see: the offer, the context of its tools, and the packs' own mounts."""

    offer: Offer
    context: Context | ShelfContext
    mounts: Sequence[Mount]


class _Server(Server[Any]):
    """Says in every answer to ``initialize`` whether changes of its lists are told."""

    tells_changes = False

    def get_capabilities(self, *given: Any, **named: Any) -> types.ServerCapabilities:
        """Return the capabilities, with those that changes of lists have."""
        told = self.tells_changes
        options = NotificationOptions(told, told, told)
        return super().get_capabilities(options, *given[1:], **named)


def mcp_server(
    first: Offer, served: Callable[[Any], Served], call: Call, bus: SubscriptionBus | None = None
) -> Server[Any]:
    """Return an MCP server.

    Args:
        first: its name and instructions, which are the same for all requests.
        served: makes, of a request, what it sees.
        call: runs one tool call.
        bus: where changes of the lists are published; without one they never change.
    """

    async def list_tools(ctx: ServerRequestContext[Any], params: Any) -> types.ListToolsResult:
        listed = served(ctx).offer.listed
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in listed])

    async def call_tool(
        ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        seen = served(ctx)
        context, spec = seen.context, seen.offer.tools.get(params.name)
        if context.shares_disk and spec and spec.reads_roots:
            roots = await client_roots(ctx.session, params)
            if isinstance(roots, types.InputRequiredResult):
                return roots
            context = context.with_roots(roots)
        try:
            answer = await call(seen.offer.tools, params.name, params.arguments or {}, context)
        except Busy:
            answer = error("busy", "too many calls at once; try again in a second")
        return _result(answer)

    async def list_resources(
        ctx: ServerRequestContext[Any], params: Any
    ) -> types.ListResourcesResult:
        cursor = params and params.cursor
        return await anyio.to_thread.run_sync(resources.listed, served(ctx).mounts, cursor)

    async def list_templates(
        ctx: ServerRequestContext[Any], params: Any
    ) -> types.ListResourceTemplatesResult:
        return resources.templates(served(ctx).mounts)

    async def read_resource(
        ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        mounts = served(ctx).mounts
        return await anyio.to_thread.run_sync(resources.read, mounts, str(params.uri))

    async def complete(
        ctx: ServerRequestContext[Any], params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        return await anyio.to_thread.run_sync(resources.complete, served(ctx).mounts, params)

    async def list_prompts(ctx: ServerRequestContext[Any], params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(s) for s in _skills(served(ctx))])

    async def get_prompt(
        ctx: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        return _filled_prompt(_skills(served(ctx)), params)

    server = _Server(
        first.name,
        version=version("lorepack"),
        instructions=first.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_subscriptions_listen=ListenHandler(bus) if bus else None,
    )
    server.tells_changes = bus is not None
    return server


def _result(answer: ToolAnswer) -> types.CallToolResult:
    """Everything is in the text: many clients show their model structured content alone."""
    identity = {key: answer.data[key] for key in _IDENTITY if key in answer.data}
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        is_error=answer.is_error,
        _meta={"lorepack": identity} if identity else None,
    )


def _skills(served: Served) -> list[Skill]:
    """Return the skills of the pack; those of several packs would be one another's doubles."""
    return skills(served.mounts[0], HERE) if len(served.mounts) == 1 else []


def _prompt(skill: Skill) -> types.Prompt:
    task = types.PromptArgument(name="task", description="what is to be done", required=False)
    return types.Prompt(name=skill.name, description=skill.description, arguments=[task])


def _filled_prompt(
    found: Sequence[Skill], params: types.GetPromptRequestParams
) -> types.GetPromptResult:
    skill = next((skill for skill in found if skill.name == params.name), None)
    if skill is None:
        names = ", ".join(skill.name for skill in found) or "none"
        raise MCPError(
            code=types.INVALID_PARAMS,
            message=f"there is no prompt {params.name[:100]!r}; there are {names}",
        )
    task = (params.arguments or {}).get("task", "").strip()
    text = f"{skill.body}\n## Task\n{task}\n" if task else skill.body
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=skill.description, messages=[message])
