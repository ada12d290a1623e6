"""The read-only HTTP API for scripts: the core tools as GET requests, described by OpenAPI."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lorepack.server.calls import Busy, Calls
from lorepack.server.guard import refuse
from lorepack.server.library import Library
from lorepack.server.mount import Mount
from lorepack.server.retrieve.query import FILTERS
from lorepack.server.site import SECURITY
from lorepack.server.tools import find_chunks, find_neighbors, get_page
from lorepack.server.tools.answer import Context, ToolSpec

ROUTES: Mapping[str, ToolSpec] = {
    "search": find_chunks.SPEC,
    "page": get_page.SPEC,
    "neighbors": find_neighbors.SPEC,
}
_STATUS = {"invalid_arguments": 400, "timeout": 504, "internal": 500}


async def api_response(
    request: Request, library: Library, calls: Calls, context: Callable[[Mount, Request], Context]
) -> Response:
    """Answer ``/api/<pack>/<what>``: the tool's structured answer, with its text as ``text``."""
    reference, what = request.path_params["name"], request.path_params["what"]
    mount, spec = library.shelf.find(reference), ROUTES.get(what)
    if mount is None or spec is None:
        return refuse(404, "not_found", "no such pack" if spec else "no such call")
    try:
        arguments = _arguments(spec, request)
    except ValueError as error:
        return refuse(400, "invalid_arguments", str(error))
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
    """Read a tool's arguments from the query string. Raises ValueError for a wrong one."""
    properties = spec.input_schema["properties"]
    arguments: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name in FILTERS and "filters" in properties:
            arguments.setdefault("filters", {})[name] = value
        elif name not in properties or name == "filters":
            known = ", ".join(parameter["name"] for parameter in _parameters(spec))
            raise ValueError(f"there is no parameter {name!r}; there are {known}")
        elif properties[name].get("type") == "array":
            arguments.setdefault(name, []).append(value)
        elif name in arguments:
            raise ValueError(f"{name} is given twice")
        else:
            arguments[name] = _value(name, value, properties[name].get("type", "string"))
    return arguments


def _value(name: str, text: str, kind: str) -> Any:
    if kind == "integer":
        if not text.isascii() or not text.removeprefix("-").isdigit():
            raise ValueError(f"{name} is no whole number")
        return int(text[:20])
    if kind == "boolean":
        if text not in ("true", "false"):
            raise ValueError(f"{name} is neither true nor false")
        return text == "true"
    return text


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
            f"/api/{{pack}}/{what}": {"get": _operation(spec)} for what, spec in ROUTES.items()
        },
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


def _operation(spec: ToolSpec) -> dict[str, Any]:
    schema = json.loads(json.dumps(spec.output_schema))
    schema["properties"]["text"] = {"type": "string"}
    schema["required"] = ["pack", "version", "status", "text"]
    error = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    pack = {"name": "pack", "in": "path", "required": True, "schema": {"type": "string"}}
    return {
        "operationId": spec.name,
        "summary": spec.description,
        "parameters": [pack, *_parameters(spec)],
        "responses": {
            "200": {
                "description": "The answer",
                "content": {"application/json": {"schema": schema}},
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
    for name, schema in spec.input_schema["properties"].items():
        if name == "filters":
            parameters += [
                {"name": key, "in": "query", "schema": {"type": "string"}} for key in FILTERS
            ]
        else:
            required = name in spec.input_schema["required"]
            entry = {"name": name, "in": "query", "schema": schema}
            parameters.append(entry | ({"required": True} if required else {}))
    return parameters
