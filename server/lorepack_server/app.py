"""The HTTP application: the list of packs, their sites, MCP and the API."""

from __future__ import annotations

import gc
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from jinja2 import Environment, PackageLoader
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount as Prefix
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from watchfiles import awatch

from lorepack.errors import LorepackError
from lorepack_server.calls import Calls
from lorepack_server.http.api import api_response, openapi
from lorepack_server.http.guard import (
    BODY_LIMIT,
    Guard,
    Tokens,
    opened_packs,
    origin_pattern,
    refuse,
)
from lorepack_server.http.site import SECURITY, site_response
from lorepack_server.limits import MAX_CALLS, TIMEOUT_SECONDS
from lorepack_server.mcp.endpoints import Endpoints
from lorepack_server.metrics import CONTENT_TYPE, Metrics
from lorepack_server.packs.library import Library
from lorepack_server.packs.mount import Mount
from lorepack_server.packs.remote import sync
from lorepack_server.process.heartbeat import beat
from lorepack_server.retrieve.encoders import warm_encoders
from lorepack_server.retrieve.rerank import Reranker
from lorepack_server.tools.answer import Context
from lorepack_server.tools.profiles import DEFAULT_PROFILE
from lorepack_server.tools.shelf import pack_row

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_METHODS = ["GET", "HEAD"]
_TEMPLATES = Environment(loader=PackageLoader("lorepack_templates", ""), autoescape=True)

_log = logging.getLogger("lorepack.server.web")


@dataclass(frozen=True)
class Settings:
    """How a server serves.

    Args:
        hosts: names under which it may be asked; others are refused (DNS rebinding).
        origins: addresses of pages (``https://host``) that may ask from a browser, beside those
            of ``hosts``.
        watch: whether packs that appear, change or go are followed.
        remotes: mirrors that are brought up to date, by the address of their store.
        refresh: seconds between two looks at the stores.
        warm: whether models are loaded at the start.
        heartbeat: seconds between two lines in the log about this process; 0 is none.
        timeout: seconds that a call may take.
        most_calls: calls answered or waiting at a time; one more is told to come again.
    """

    profile: str = DEFAULT_PROFILE
    hosts: Sequence[str] = LOOPBACK_HOSTS
    origins: Sequence[str] = ()
    tokens: Tokens | None = None
    reranker: Reranker | None = None
    watch: bool = False
    remotes: Mapping[str, Path] = field(default_factory=dict)
    refresh: float = 60.0
    warm: bool = False
    heartbeat: float = 0.0
    timeout: float = TIMEOUT_SECONDS
    most_calls: int = MAX_CALLS
    metrics: Metrics = field(default_factory=Metrics)


def create_app(library: Library, settings: Settings | None = None) -> Starlette:
    """Return the application that serves ``library``."""
    settings = settings or Settings()
    calls = Calls(settings.metrics, settings.timeout, settings.most_calls)
    state: dict[str, Endpoints] = {}

    def context(mount: Mount, request: Request | None) -> Context:
        site = f"{request.base_url}site/{mount.name}@{mount.version}/" if request else ""
        return Context(mount, site, settings.reranker)

    def visible(request: Request | None) -> Sequence[Mount]:
        opened = opened_packs(request.scope) if request else None
        newest = library.shelf.newest()
        return newest if opened is None else [m for m in newest if m.name in opened]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            state["mcp"] = Endpoints(
                settings.profile, settings.hosts, settings.origins, BODY_LIMIT, context, visible,
                calls.run, tasks,
            )  # fmt: skip
            tasks.start_soon(beat, calls, settings.heartbeat)
            if settings.warm:
                tasks.start_soon(_warm, library)
            if settings.remotes:
                tasks.start_soon(_follow, settings.remotes, settings.refresh)
            if settings.watch:
                tasks.start_soon(_watch, library, state["mcp"], tasks)
            yield
            state["mcp"].changes.close()
            tasks.cancel_scope.cancel()

    async def index(request: Request) -> Response:
        base = str(request.base_url).rstrip("/")
        page = _TEMPLATES.get_template("packs.html.j2")
        return HTMLResponse(page.render(mounts=library.shelf.newest(), base=base), headers=SECURITY)

    async def style(request: Request) -> Response:
        page = _TEMPLATES.get_template("packs.css").render()
        return Response(page, media_type="text/css", headers=SECURITY)

    async def site(request: Request) -> Response:
        reference = request.path_params["name"]
        mount = library.shelf.find(reference)
        if mount is None:
            return refuse(404, "not_found", "no such pack")
        path = request.path_params["path"]
        return await site_response(mount, request, path, pinned="@" in reference)

    async def site_root(request: Request) -> Response:
        return RedirectResponse(f"{request.url.path}/", 308, SECURITY)

    mcp = _Mcp(library, visible, lambda: state["mcp"])
    return Starlette(
        routes=[
            Route("/", index, methods=_METHODS),
            Route("/packs.css", style, methods=_METHODS),
            *_status_routes(library, calls, settings.metrics),
            *_api_routes(library, calls, context, visible),
            Route("/site/{name}", site_root, methods=_METHODS),
            Route("/site/{name}/{path:path}", site, methods=_METHODS),
            Route("/mcp", mcp),
            Prefix("/mcp", app=mcp),
        ],
        middleware=[
            Middleware(
                CORSMiddleware,
                allow_origin_regex=origin_pattern(settings.hosts, settings.origins),
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["*"],
                expose_headers=["Mcp-Session-Id", "WWW-Authenticate"],
                max_age=600,
            ),
            Middleware(
                TrustedHostMiddleware, allowed_hosts=list(settings.hosts), www_redirect=False
            ),
            Middleware(
                Guard,
                metrics=settings.metrics,
                hosts=settings.hosts,
                origins=settings.origins,
                tokens=settings.tokens,
            ),
        ],
        exception_handlers=_HANDLERS,
        lifespan=lifespan,
    )


def _status_routes(library: Library, calls: Calls, counted: Metrics) -> list[Route]:
    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "inFlight": calls.in_flight}, headers=SECURITY)

    async def ready(request: Request) -> Response:
        packs = {name: [m.version for m in mounts] for name, mounts in library.shelf.packs.items()}
        return JSONResponse({"ready": bool(packs), "packs": packs}, 200 if packs else 503, SECURITY)

    async def metrics(request: Request) -> Response:
        counted.packs.set(sum(map(len, library.shelf.packs.values())))
        text = await anyio.to_thread.run_sync(counted.text)
        return Response(text, headers={**SECURITY, "content-type": CONTENT_TYPE})

    return [
        Route("/healthz", health, methods=_METHODS),
        Route("/readyz", ready, methods=_METHODS),
        Route("/metrics", metrics, methods=_METHODS),
    ]


def _api_routes(
    library: Library, calls: Calls, context: Callable[[Mount, Request | None], Context],
    visible: Callable[[Request | None], Sequence[Mount]],
) -> list[Route]:  # fmt: skip
    async def packs(request: Request) -> Response:
        rows = [pack_row(context(mount, request)) for mount in visible(request)]
        return JSONResponse({"packs": rows}, headers={**SECURITY, "Cache-Control": "no-cache"})

    async def api(request: Request) -> Response:
        return await api_response(request, library, calls, context)

    async def describe(request: Request) -> Response:
        return JSONResponse(openapi(), headers=SECURITY)

    return [
        Route("/api/openapi.json", describe, methods=_METHODS),
        Route("/api/packs", packs, methods=_METHODS),
        Route("/api/{name}/{what}", api, methods=_METHODS),
    ]


@dataclass(frozen=True)
class _Mcp:
    """Answers at and below ``/mcp``: a pack by its name, or, without one, the shelf.

    A route takes an object as it is, where it would call a function with a request.
    """

    library: Library
    visible: Callable[[Request | None], Sequence[Mount]]
    endpoints: Callable[[], Endpoints]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        reference = scope["path"].removeprefix("/mcp").strip("/").removesuffix("/mcp")
        mount = self.library.shelf.find(reference)
        if reference and mount is None:
            names = ", ".join(m.name for m in self.visible(Request(scope))[:5])
            known = f"; there are {names}" if names else ""
            refusal = refuse(404, "not_found", f"no such pack{known}")
            await refusal(scope, receive, send)
        elif scope["method"] == "GET":
            await self.endpoints().changes.response(Request(scope))(scope, receive, send)
        else:
            manager = await self.endpoints().manager(mount)
            await manager.handle_request(scope, receive, send)


async def _refused(request: Request, error: Any) -> Response:
    known = {404: ("not_found", "there is nothing here"), 405: ("method", "only GET and HEAD")}
    code, message = known.get(error.status_code, ("refused", str(error.detail)))
    return refuse(error.status_code, code, message, error.headers)


async def _damaged(request: Request, error: Exception) -> Response:
    _log.warning("a pack cannot be read: %s", error, extra={"path": request.url.path})
    return refuse(500, "damaged", "the pack cannot be read; `lorepack verify` says why")


_HANDLERS: Mapping[Any, Any] = {
    404: _refused, 405: _refused, sqlite3.DatabaseError: _damaged, LorepackError: _damaged,
    # Rows of other types than a pack has.
    TypeError: _damaged, ValueError: _damaged,
}  # fmt: skip


async def _warm(library: Library) -> None:
    await anyio.to_thread.run_sync(warm_encoders, library.shelf.newest())
    # What lives as long as the process need not be looked through again and again, which takes
    # longer than many a call.
    gc.collect()
    gc.freeze()


async def _follow(remotes: Mapping[str, Path], seconds: float) -> None:
    """Bring mirrors up to date now and then; one that fails stays as it is."""
    while True:
        await anyio.sleep(seconds)
        for url, folder in remotes.items():
            try:
                await anyio.to_thread.run_sync(sync, url, folder)
            except LorepackError as error:
                _log.warning("store not followed: %s", error)
            except Exception:
                _log.exception("following %s failed", url)


async def _watch(library: Library, endpoints: Endpoints, tasks: Any) -> None:
    """Follow the folders; look every few seconds too, as some file systems send no events."""
    folders = {path if path.is_dir() else path.parent for path in library.paths}
    async for _ in awatch(*folders, recursive=False, debounce=200, rust_timeout=3000,
                          yield_on_timeout=True):  # fmt: skip
        before = library.shelf
        try:
            gone = await anyio.to_thread.run_sync(library.refresh)
        except Exception:
            _log.exception("looking for packs failed")
            continue
        if library.shelf is not before:
            await endpoints.changes.publish()
        if gone:
            tasks.start_soon(endpoints.retire, gone)
