"""The HTTP application: the list of packs, their sites, and MCP."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from jinja2 import Environment, PackageLoader
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount as Prefix
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lorepack.server.mount import Mount
from lorepack.server.protocol import mcp_server
from lorepack.server.site import SiteFile, read_file
from lorepack.server.tools.profiles import DEFAULT_PROFILE

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]", "testserver")
_SECURITY = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


def create_app(
    mounts: Sequence[Mount],
    *,
    profile: str = DEFAULT_PROFILE,
    hosts: Sequence[str] = LOOPBACK_HOSTS,
) -> Starlette:
    """Return the application that serves ``mounts``.

    Args:
        hosts: names under which it may be asked; others are refused (DNS rebinding).
    """
    by_name = {mount.name: mount for mount in mounts}
    managers = {name: _manager(mount, profile, hosts) for name, mount in by_name.items()}

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for manager in managers.values():
                await stack.enter_async_context(manager.run())
            yield

    async def index(request: Request) -> Response:
        base = str(request.base_url).rstrip("/")
        page = _TEMPLATES.get_template("packs.html.j2").render(mounts=mounts, base=base)
        return HTMLResponse(page, headers=_SECURITY)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "packs": len(mounts)})

    async def site(request: Request) -> Response:
        mount = by_name.get(request.path_params["name"])
        if mount is None:
            return JSONResponse({"error": "no such pack"}, 404)
        return await _site_response(mount, request)

    async def site_root(request: Request) -> Response:
        return RedirectResponse(f"{request.url.path}/", 308)

    async def mcp_endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path"].rstrip("/").rsplit("/", 1)[-1]
        manager = managers.get(name)
        if manager is None or scope["path"].rstrip("/") != f"/mcp/{name}":
            await JSONResponse({"error": "no such pack"}, 404)(scope, receive, send)
        else:
            await manager.handle_request(scope, receive, send)

    return Starlette(
        routes=[
            Route("/", index),
            Route("/healthz", health),
            Route("/site/{name}", site_root),
            Route("/site/{name}/{path:path}", site),
            Prefix("/mcp", app=mcp_endpoint),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
        ],
        lifespan=lifespan,
    )


def _manager(mount: Mount, profile: str, hosts: Sequence[str]) -> StreamableHTTPSessionManager:
    def site_url(ctx: Any) -> str:
        request: Request | None = getattr(ctx, "request", None)
        return f"{request.base_url}site/{mount.name}/" if request is not None else ""

    settings = TransportSecuritySettings(
        allowed_hosts=[*hosts, *(f"{host}:*" for host in hosts)],
        allowed_origins=[f"{scheme}://{host}{port}" for scheme in ("http", "https")
                         for host in hosts for port in ("", ":*")],
    )  # fmt: skip
    return StreamableHTTPSessionManager(
        mcp_server(mount, profile, site_url),
        json_response=True,
        stateless=True,
        security_settings=settings,
        max_request_body_size=1 << 20,
    )


async def _site_response(mount: Mount, request: Request) -> Response:
    path = request.path_params["path"]
    found = await run_in_threadpool(read_file, mount, path)
    if found is None:
        return await _missing(mount, request)
    etag = f'"{hashlib.sha256(found.data).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers={**headers, **_SECURITY})
    return _file_response(found, 200, headers)


async def _missing(mount: Mount, request: Request) -> Response:
    """A folder asked for without its slash, or the site's own page for what is not there."""
    folder = f"{request.path_params['path']}/"
    if await run_in_threadpool(read_file, mount, folder):
        return RedirectResponse(f"{request.url.path}/", 308)
    page = await run_in_threadpool(read_file, mount, "404.html")
    return _file_response(page or SiteFile(b"not found", "text/plain"), 404, {})


def _file_response(file: SiteFile, status: int, headers: dict[str, str]) -> Response:
    response = Response(file.data, status, {**headers, **_SECURITY})
    response.headers["content-type"] = file.media_type
    return response


_TEMPLATES = Environment(loader=PackageLoader("lorepack.templates", ""), autoescape=True)
