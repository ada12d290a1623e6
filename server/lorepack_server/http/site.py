"""The rendered site, straight out of a pack's archive table, over HTTP."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from lorepack.pack.site import CONTENT_SECURITY, SiteFile, at_address, is_addressed
from lorepack_server.http.site_pieces import SMALL, Stored, find_stored, pieces, read_stored
from lorepack_server.packs.mount import Mount
from lorepack_server.retrieve.citations import BY_PATH
from lorepack_server.retrieve.page_names import page_sections, read_page_name, section_at

SECURITY = {
    "Content-Security-Policy": f"{CONTENT_SECURITY}; frame-ancestors 'self'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# A picture or text of a source, opened by itself, runs nothing and loads nothing.
_ATTACHMENT = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'; sandbox"
)
IMMUTABLE = "public, max-age=31536000, immutable"

_URL = "SELECT id, url FROM pages WHERE path = ?"
_FILE = "SELECT sz, data FROM sqlar WHERE name = ?"
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_TYPES = {
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".md": "text/markdown",
    ".pagefind": "application/octet-stream",
}


@dataclass(frozen=True)
class ServedFile(SiteFile):
    """A file of the site, and its Content-Type."""

    media_type: str


def read_file(mount: Mount, path: str) -> ServedFile | None:
    """Return the file at ``path``; a folder is its ``index.html``; None when there is none."""
    name = _name(path)
    row = mount.connection().execute(_FILE, (name,)).fetchone()
    if row is None:
        return None
    size, stored = row
    return ServedFile(size, stored, media_type(name))


async def site_response(mount: Mount, request: Request, path: str, *, pinned: bool) -> Response:
    """Answer a request for a file of the pack's site.

    Args:
        pinned: whether the address names the version, so that the answer never changes.
    """
    accepts = "deflate" in request.headers.get("accept-encoding", "")
    etag = f'"{mount.digest[:32]}{"-d" if accepts else ""}"'
    headers = {
        **SECURITY,
        "ETag": etag,
        "Cache-Control": IMMUTABLE if pinned else "no-cache",
        "Accept-Ranges": "bytes",
        "Vary": "Accept-Encoding",
    }
    # The digest is the whole pack's: with an equal one, whatever the address gave, it still gives.
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if is_addressed(path):
        return await run_in_threadpool(_addressed, mount, request, path, headers)
    if path.startswith("files/") and not path.endswith(".pdf"):
        headers["Content-Security-Policy"] = _ATTACHMENT
    if path.startswith(BY_PATH):
        return await run_in_threadpool(_by_path, mount, request.url.path, path)
    stored = await run_in_threadpool(find_stored, mount, _name(path))
    if stored is None:
        return await run_in_threadpool(_missing, mount, request.url.path, path)
    span = None
    if "range" in request.headers and request.headers.get("if-range", etag) == etag:
        span = _span(request.headers["range"], stored.size)
    kind = media_type(_name(path))
    if span is None and stored.deflated and accepts:
        raw = replace(stored, size=stored.packed)
        return await _sent(
            mount, raw, (0, raw.size), 200, {**headers, "Content-Encoding": "deflate"}, kind
        )
    if span is None:
        return await _sent(mount, stored, (0, stored.size), 200, headers, kind)
    begin, end = span
    if begin >= end:
        where = {"Content-Range": f"bytes */{stored.size}"}
        return Response(b"", 416, {**headers, **where}, kind)
    where = {"Content-Range": f"bytes {begin}-{end - 1}/{stored.size}"}
    return await _sent(mount, stored, span, 206, {**headers, **where}, kind)


def _span(asked: str, size: int) -> tuple[int, int] | None:
    """Return the one range asked for; None when the whole file is to be sent (RFC 9110, 14.2)."""
    match = _RANGE.fullmatch(asked)
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    begin = int(first) if first else max(0, size - int(last))
    return begin, min(int(last) + 1, size) if first and last else size


async def _sent(
    mount: Mount, stored: Stored, span: tuple[int, int], status: int, headers: Mapping[str, str],
    kind: str,
) -> Response:  # fmt: skip
    """Answer with a part of a file; a large one is never in memory as a whole."""
    if stored.size <= SMALL:
        data = await run_in_threadpool(read_stored, mount, stored)
        return Response(data[slice(*span)], status, headers, kind)
    length = {"Content-Length": str(span[1] - span[0])}
    return StreamingResponse(pieces(mount, stored, span), status, {**headers, **length}, kind)


def _by_path(mount: Mount, address: str, path: str) -> Response:
    """Lead from a page's path, as citations have it, to its address in the site."""
    pack, read = mount.connection(), read_page_name(path.removeprefix(BY_PATH))
    row = pack.execute(_URL, (read.text,)).fetchone()
    if row is None:
        return _missing(mount, address, path)
    section = section_at(page_sections(pack, row["id"]), read.line)
    anchor = f"#{quote(section.anchor)}" if section and read.line else ""
    url = f"{_root(address, path)}{quote(row['url'])}{anchor}"
    return RedirectResponse(url, 302, SECURITY)


def _missing(mount: Mount, address: str, path: str) -> Response:
    """A folder asked for without its slash, or the site's own page for what is not there."""
    if read_file(mount, f"{path}/"):
        return RedirectResponse(f"{address}/", 308, headers=SECURITY)
    page = read_file(mount, "404.html")
    if page is None:
        return Response("not found", 404, SECURITY, "text/plain; charset=utf-8")
    body = at_address("404.html", page.plain(), "", _root(address, path))
    return Response(body, 404, SECURITY, page.media_type)


def _addressed(mount: Mount, request: Request, path: str, headers: Mapping[str, str]) -> Response:
    """A file whose content depends on the address at which it is asked for."""
    found = read_file(mount, path)
    if found is None:
        return _missing(mount, request.url.path, path)
    origin = f"{request.url.scheme}://{request.url.netloc}"
    data = at_address(path, found.plain(), origin, _root(request.url.path, path))
    return Response(data, 200, {**headers, "Cache-Control": "no-store"}, found.media_type)


def _root(address: str, path: str) -> str:
    return address[: len(address) - len(path)]


def _name(path: str) -> str:
    return f"{path}index.html" if not path or path.endswith("/") else path


def media_type(name: str) -> str:
    """Return the Content-Type of a file by its name."""
    suffix = name[name.rfind(".") :].lower()
    kind = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    textual = kind.startswith("text/") or kind in ("application/json", "application/xml")
    return f"{kind}; charset=utf-8" if textual else kind
