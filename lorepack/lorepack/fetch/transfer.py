"""Fetch a file over HTTP, and go on where a fetch broke off."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx2 as httpx

from lorepack.errors import LorepackError
from lorepack.util.hashing import file_sha256

Progress = Callable[[int, int], None]
"""Called with bytes had and bytes in all, 0 where nobody said."""

ATTEMPTS = 6
MAX_BYTES = 16 << 30
FIRST_WAIT_SECONDS = 0.2
_TIMEOUT = httpx.Timeout(30, connect=10)
_AGAIN = frozenset({408, 429, 500, 502, 503, 504})


class _BrokeOff(Exception):
    """The answer ended too early, or the server asks to come again."""


def fetch(
    url: str, target: Path, headers: Mapping[str, str] | None = None,
    progress: Progress = lambda *_: None,
) -> str:  # fmt: skip
    """Fetch ``url`` into ``target``; return its hex SHA-256.

    What is in ``target`` is gone on with if the server still has the same (by its ETag, kept in
    the file of `notes_file`).

    Raises:
        LorepackError: the server refuses, answers wrongly, or breaks off again and again.
    """
    wait, problem = FIRST_WAIT_SECONDS, ""
    with _client(url, headers) as client:
        for attempt in range(ATTEMPTS):
            try:
                _fetch_once(client, url, target, progress)
                return file_sha256(target)
            except (httpx.UnsupportedProtocol, httpx.TooManyRedirects, httpx.InvalidURL) as error:
                raise LorepackError(f"{url} cannot be fetched ({error})", "check it") from error
            except (_BrokeOff, httpx.HTTPError) as error:
                problem = str(error) or type(error).__name__
            except OSError as error:
                raise LorepackError(f"{target} cannot be written ({error})", "make room") from error
            if attempt + 1 < ATTEMPTS:
                time.sleep(wait)
                wait *= 2
    had = target.stat().st_size if target.exists() else 0
    raise LorepackError(
        f"{url} broke off {ATTEMPTS} times ({problem}); {had} bytes are kept",
        "try again: it goes on from there",
    )


def notes_file(target: Path) -> Path:
    """Return where it is kept what a file that is not whole yet is of."""
    return target.with_name(f"{target.name}.json")


def fetch_text(url: str, headers: Mapping[str, str] | None = None, limit: int = 1 << 20) -> str:
    """Return a small text; '' where there is none (404).

    Raises:
        LorepackError: the server cannot be asked, refuses, or answers with more than ``limit``.
    """
    try:
        with _client(url, headers) as client, client.stream("GET", url) as answer:
            if answer.status_code == 404:
                return ""
            _refuse(answer, url)
            data = b""
            for part in answer.iter_bytes():
                data += part
                if len(data) > limit:
                    raise LorepackError(f"{url} is longer than {limit} bytes", "check the address")
            return data.decode("utf-8", "replace")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise LorepackError(f"{url} cannot be fetched ({error})", "check the address") from error


def _client(url: str, headers: Mapping[str, str] | None) -> httpx.Client:
    """Return a client that a redirection does not lead from HTTPS to anything else."""
    secure = url.startswith("https:")

    def keep_secure(request: httpx.Request) -> None:
        if request.url.scheme != "https" and (secure or request.url.scheme != "http"):
            raise httpx.UnsupportedProtocol(f"{request.url.scheme} is not followed")

    return httpx.Client(
        headers={"User-Agent": "lorepack", "Accept-Encoding": "identity", **(headers or {})},
        timeout=_TIMEOUT, follow_redirects=True, max_redirects=5,
        event_hooks={"request": [keep_secure]},
    )  # fmt: skip


def _fetch_once(client: httpx.Client, url: str, target: Path, progress: Progress) -> None:
    notes = notes_file(target)
    had, etag = _resumable(target, notes, url)
    headers = {"Range": f"bytes={had}-", "If-Range": etag} if had else {}
    with client.stream("GET", url, headers=headers) as answer:
        if answer.status_code in _AGAIN:
            raise _BrokeOff(f"status {answer.status_code}")
        if answer.status_code == 416:
            target.unlink(missing_ok=True)
            raise _BrokeOff("what was there is longer than what there is")
        _refuse(answer, url)
        if answer.status_code != 206:
            had = 0
        total = had + int(answer.headers.get("Content-Length") or 0)
        if total > MAX_BYTES:
            raise LorepackError(f"{url} has {total} bytes", f"more than {MAX_BYTES} are refused")
        notes.write_text(json.dumps({"url": url, "etag": answer.headers.get("ETag", "")}))
        with target.open("ab" if had else "wb") as file:
            for part in answer.iter_bytes():
                file.write(part)
                had += len(part)
                if had > MAX_BYTES:
                    raise LorepackError(f"{url} does not end", f"more than {MAX_BYTES} are refused")
                progress(had, total)
        if answer.headers.get("Content-Length") and had < total:
            raise _BrokeOff(f"{had} of {total} bytes came")


def _resumable(target: Path, notes: Path, url: str) -> tuple[int, str]:
    """Return how many bytes are there of what the ETag names; 0 if one cannot tell."""
    try:
        known = json.loads(notes.read_text())
        etag = str(known["etag"])
        strong = etag and not etag.startswith("W/") and known["url"] == url
        return (target.stat().st_size, etag) if strong else (0, "")
    except (OSError, ValueError, KeyError, TypeError):
        return 0, ""


def _refuse(answer: httpx.Response, url: str) -> None:
    if answer.status_code >= 400:
        raise LorepackError(f"{url} answers {answer.status_code}", "check the address")
