"""Ask Notion's API (version 2022-06-28), page by page, and wait when told to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx

from lorepack.errors import LorepackError
from lorepack.util.untrusted import tables

_VERSION = "2022-06-28"
_TRIES = 5
_SECONDS = 30.0
_LONGEST_WAIT = 60.0
_MAX_SCREENS = 2_000


class Client:
    """An API at ``base``, and the token that opens it; no message holds the token."""

    def __init__(self, base: str, token: str) -> None:
        self._base = base
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {token}", "Notion-Version": _VERSION},
            timeout=_SECONDS,
            follow_redirects=False,
        )

    def get(self, path: str) -> dict[str, Any]:
        """Return one object.

        Raises:
            LorepackError: it cannot be had.
        """
        return self._ask("GET", path)

    def exists(self, path: str) -> bool:
        """Say whether there is such an object."""
        answer = self._send("GET", path, None)
        return answer.status_code == 200

    def children(self, id: str) -> Iterator[dict[str, Any]]:
        """Yield the blocks right below a block, in order."""
        yield from self._screens("GET", f"blocks/{id}/children")

    def query(self, id: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a database."""
        yield from self._screens("POST", f"databases/{id}/query")

    def _screens(self, method: str, path: str) -> Iterator[dict[str, Any]]:
        cursor = None
        for _ in range(_MAX_SCREENS):
            more: dict[str, Any] = {"start_cursor": cursor} if cursor else {}
            if method == "GET":
                query = "&".join(f"{k}={v}" for k, v in {"page_size": 100, **more}.items())
                screen = self._ask("GET", f"{path}?{query}")
            else:
                screen = self._ask("POST", path, {"page_size": 100, **more})
            yield from screen.get("results") or []
            cursor = screen.get("next_cursor") if screen.get("has_more") else None
            if not cursor:
                return

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self._send(method, path, body)
        if answer.status_code == 404:
            raise LorepackError(
                f"Notion has no {path.partition('?')[0]} for this token",
                "share the page with the integration",
            )
        if answer.status_code != 200:
            raise LorepackError(
                f"Notion answers {answer.status_code} for {path.partition('?')[0]}",
                "check the token",
            )
        try:
            value = answer.json()
        except ValueError as error:
            raise LorepackError(f"Notion's answer for {path} is no JSON", "try again") from error
        return tables(value)

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> httpx.Response:
        """Send a question; wait and send it again when there were too many, or it failed."""
        reason = ""
        for number in range(_TRIES):
            try:
                answer = self._http.request(method, f"{self._base}/v1/{path}", json=body)
            except httpx.HTTPError as error:
                reason = str(error)
                time.sleep(2**number / 2)
                continue
            if answer.status_code != 429 and answer.status_code < 500:
                return answer
            reason = f"it answers {answer.status_code}"
            told = answer.headers.get("retry-after", "")
            wait = float(told) if told.replace(".", "", 1).isdigit() else 2**number / 2
            time.sleep(min(wait, _LONGEST_WAIT))
        raise LorepackError(f"Notion cannot be asked ({reason})", "try again later")
