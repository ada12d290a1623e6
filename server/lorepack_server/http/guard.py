"""What a request must pass before it is looked at: host, token, size, number."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import anyio
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lorepack.errors import LorepackError
from lorepack_server.http.site import SECURITY
from lorepack_server.metrics import Metrics

_PACK = re.compile(r"^/(?:mcp|site|api)/([a-z0-9-]+)(?:@[^/]*)?(?:/|$)")
_SHELF = ("/mcp", "/api/packs")
"""Paths that show, of all packs, those that the token opens."""
_OPENED = "lorepack.opened"
_AREA = re.compile(r"^/(mcp|site|api)(?:/|$)")
MOST_REQUESTS = 256
BODY_LIMIT = 1 << 20
URL_LIMIT = 8 << 10
_ROOM_SECONDS, _ROOM_LOOKS = 0.005, 10

Tokens = Mapping[str, Sequence[str]]
"""Bearer tokens by pack; those under '*' open all packs."""


def read_tokens(path: Path) -> Tokens:
    """Read a token file: JSON, a pack's name or ``*`` → a token or a list of tokens.

    Raises:
        LorepackError: it cannot be read, or holds anything else.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LorepackError(f"{path} cannot be read ({error})", "write JSON") from error
    entries = data.items() if isinstance(data, dict) else ()
    tokens = {name: [given] if isinstance(given, str) else given for name, given in entries}
    sound = all(
        isinstance(given, list)
        and given
        and all(isinstance(t, str) and len(t) >= 16 for t in given)
        for given in tokens.values()
    )
    if not tokens or not sound:
        raise LorepackError(
            f"{path} holds no tokens",
            'write {"PACK": "token of 16 characters or more"}; "*" stands for every pack',
        )
    return tokens


@dataclass
class Guard:
    """ASGI middleware: refuses what has no token, is too big, or is one too many.

    With tokens, a pack that has none of its own and no ``*`` is open to no one; ``/mcp`` and
    ``/api/packs`` show what a token opens, the page of packs and the metrics ask for one of ``*``.
    """

    app: ASGIApp
    metrics: Metrics
    hosts: Sequence[str]
    origins: Sequence[str] = ()
    tokens: Tokens | None = None
    most: int = MOST_REQUESTS
    _now: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        area = match.group(1) if (match := _AREA.match(path)) else "other"

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.metrics.requests.labels(area, str(message["status"])).inc()
            await send(message)

        for _ in range(_ROOM_LOOKS):
            # Connections that were just dropped to make room have yet to end.
            if self._now < self.most:
                break
            await anyio.sleep(_ROOM_SECONDS)
        refusal = self._refusal(scope, path)
        if refusal is not None:
            await refusal(scope, receive, counted)
            return
        self._now += 1
        try:
            await self.app(scope, receive, counted)
        finally:
            self._now -= 1

    def _refusal(self, scope: Scope, path: str) -> JSONResponse | None:
        headers = dict(scope["headers"])
        if self._now >= self.most:
            return refuse(503, "busy", "too many requests at once", {"Retry-After": "1"})
        if len(scope["raw_path"] or b"") + len(scope["query_string"]) > URL_LIMIT:
            return refuse(414, "too_long", "the address is too long")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > BODY_LIMIT:
            return refuse(413, "too_large", f"a body may have {BODY_LIMIT} bytes")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and not re.fullmatch(origin_pattern(self.hosts, self.origins), origin):
            return refuse(403, "origin", "this page may not ask here; --allow-origin allows it")
        if self.tokens is not None and not self._may_pass(scope, unquote(path), headers):
            return refuse(401, "unauthorized", "give a bearer token of this pack",
                          {"WWW-Authenticate": "Bearer"})  # fmt: skip
        return None

    def _may_pass(self, scope: Scope, path: str, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether the token opens what is asked; the packs that it opens are noted."""
        if path in ("/healthz", "/readyz"):
            return True
        assert self.tokens is not None  # noqa: S101
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        given = given.strip() if scheme.lower() == b"bearer" else b""
        # Every token is compared, each in constant time.
        opened = {
            name for name, tokens in self.tokens.items()
            if sum(hmac.compare_digest(given, token.encode()) for token in tokens)
        }  # fmt: skip
        scope[_OPENED] = None if "*" in opened else frozenset(opened)
        if path.rstrip("/") in _SHELF:
            return bool(opened)
        match = _PACK.match(path)
        return "*" in opened or bool(match and match.group(1) in opened)


def opened_packs(scope: Scope) -> frozenset[str] | None:
    """Return the names of the packs that a request's token opens; None for all."""
    opened: frozenset[str] | None = scope.get(_OPENED)
    return opened


def origin_pattern(hosts: Sequence[str], origins: Sequence[str]) -> str:
    """Return the expression of pages that may ask: those of ``hosts`` at any port, and these."""
    names = "|".join(re.escape(host) for host in hosts)
    others = "".join(f"|{re.escape(origin.rstrip('/'))}" for origin in origins)
    return rf"https?://(?:{names})(?::\d+)?{others}"


def refuse(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an error in the one form that HTTP answers share."""
    body = {"success": False, "error": {"code": code, "message": message, "details": {}}}
    return JSONResponse(body, status, {**SECURITY, **(headers or {})})
