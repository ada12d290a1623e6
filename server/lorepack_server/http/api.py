"""The read-only HTTP API for scripts: the tools as GET requests, described by OpenAPI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lorepack_server.calls import Busy, Calls
from lorepack_server.http.guard import refuse
from lorepack_server.http.site import SECURITY
from lorepack_server.packs.library import Library
from lorepack_server.packs.mount import Mount
from lorepack_server.retrieve.query import FILTERS
from lorepack_server.tools import find_chunks, find_neighbors, get_page
from lorepack_server.tools.answer import Context, ToolSpec
from lorepack_server.tools.arguments import exact_schema
from lorepack_server.tools.profiles import PROFILES

_SHORT: Mapping[str, ToolSpec] = {
    "search": find_chunks.SPEC,
    "page": get_page.SPEC,
    "neighbors": find_neighbors.SPEC,
}
ROUTES: Mapping[str, ToolSpec] = {**_SHORT, **{spec.name: spec for spec in PROFILES["all"]}}
"""The tools by the last part of their address; the three that are asked most have short ones."""
_STATUS = {"invalid_arguments": 400, "invalid_date": 400, "invalid_range": 400, "no_taxonomy": 400,
           "timeout": 504, "internal": 500}  # fmt: skip


async def api_response(
    request: Request, library: Library, calls: Calls, context: Callable[[Mount, Request], Context]
) -> Response:
    """Answer ``/api/<pack>/<what>``: the tool's answer as data, with its text as ``text``."""
    reference, what = request.path_params["name"], request.path_params["what"]
    mount, spec = library.shelf.find(reference), ROUTES.get(what)
    if mount is None or spec is None:
        return refuse(404, "not_found", "no such pack" if spec else "no such call")
    arguments = _arguments(spec, request)
    try:
        answer = await calls.run({spec.name: spec}, spec.name, arguments, context(mount, request))
    except Busy:
        return refuse(503, "busy", "too many calls at once", {"Retry-After": "1"})
    status = 200
    if answer.is_error:
        status = _STATUS.get(answer.data["error"]["code"], 500)
    headers = {**SECURITY, "Cache-Control": "no-cache"}
    return JSONResponse({**answer.data, "text": answer.text}, status, headers)


def _arguments(spec: ToolSpec, request: Request) -> dict[str, Any]:
    """Return a query string as a tool's arguments: a name that comes again makes a list."""
    filtered = "filters" in spec.arguments.model_fields
    arguments: dict[str, Any] = {}
    for name in request.query_params:
        values = request.query_params.getlist(name)
        value = values[0] if len(values) == 1 else values
        if filtered and name in FILTERS:
            arguments.setdefault("filters", {})[name] = value
        else:
            arguments[name] = value
    return arguments


def openapi() -> dict[str, Any]:
    """Return the OpenAPI 3.1 description, made from the tools' schemas."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Lorepack",
            "version": version("lorepack"),
            "description": "Read-only answers from packs. A pack is `name` or `name@version`.",
        },
        "paths": {
            f"/api/{{pack}}/{what}": {"get": _operation(what, spec)}
            for what, spec in ROUTES.items()
        }
        | {"/api/packs": {"get": _PACKS}},
        "components": {"schemas": {"Error": _ERROR}},
    }


_ERROR = {
    "type": "object",
    "required": ["success", "error"],
    "properties": {
        "success": {"const": False},
        "error": {
            "type": "object",
            "required": ["code", "message", "details"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "details": {"type": "object"},
            },
        },
    },
}


_TEXT = {"type": "string"}
_ANSWER = {
    "type": "object",
    "required": ["pack", "version", "status", "text"],
    "properties": dict.fromkeys(("pack", "version", "digest", "status", "text"), _TEXT),
}
_PACKS = {
    "operationId": "list_packs",
    "summary": "List the packs that can be asked.",
    "responses": {
        "200": {
            "description": "The packs",
            "content": {"application/json": {"schema": {
                "type": "object", "required": ["packs"],
                "properties": {"packs": {"type": "array", "items": {"type": "object"}}},
            }}},
        },
    },
}  # fmt: skip


def _operation(what: str, spec: ToolSpec) -> dict[str, Any]:
    error = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    pack = {"name": "pack", "in": "path", "required": True, "schema": _TEXT}
    return {
        "operationId": what,
        "summary": spec.description.replace("{pack}", "a pack"),
        "parameters": [pack, *_parameters(spec)],
        "responses": {
            "200": {
                "description": "The answer",
                "content": {"application/json": {"schema": _ANSWER}},
            },
            **{
                str(status): {"description": meaning, **error}
                for status, meaning in (
                    (400, "A wrong parameter"), (401, "No token"), (403, "Asked by another site"),
                    (404, "No such pack"), (405, "Only GET and HEAD"), (413, "Too much was sent"),
                    (414, "Too long"), (500, "A fault of the server"), (503, "Come again"),
                    (504, "It took too long"),
                )
            },
        },
    }  # fmt: skip


def _parameters(spec: ToolSpec) -> list[dict[str, Any]]:
    parameters = []
    schema = exact_schema(spec.arguments)
    for name, inner in schema["properties"].items():
        if name == "filters":
            parameters += [{"name": key, "in": "query", "schema": _TEXT} for key in FILTERS]
        else:
            required = name in schema.get("required", ())
            entry = {"name": name, "in": "query", "schema": inner}
            parameters.append(entry | ({"required": True} if required else {}))
    return parameters
