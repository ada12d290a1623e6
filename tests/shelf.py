"""A server of files that misbehaves in the ways a test asks for."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


class Shelf:
    """A server of files, and the ways in which it misbehaves."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.breaks_after: int | None = None
        self.breaks = 0
        self.length: Callable[[int], int] = lambda true: true
        self.ranges = True
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[tuple[str, str]] = []
        self.status: list[int] = []
        self.address = ""


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    monkeypatch.setattr("lorepack.fetch.transfer.FIRST_WAIT_SECONDS", 0.001)
    shelf = Shelf()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            asked = self.headers.get("Range", "")
            shelf.asked.append((path, asked))
            if shelf.status and path in shelf.files:
                self.send(shelf.status.pop(0), {}, b"")
                return
            if path in shelf.answers:
                status, headers, body = shelf.answers[path]
                if status == 401 and self.headers.get("Authorization") == "Bearer let-me-in":
                    status, headers, body = shelf.answers[f"{path} in"]
                self.send(status, headers, body)
                return
            data = shelf.files.get(path)
            if data is None:
                self.send(404, {}, b"no")
                return
            etag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
            begin = 0
            if asked and shelf.ranges and self.headers.get("If-Range") == etag:
                begin = int(asked.removeprefix("bytes=").rstrip("-"))
            body = data[begin:]
            self.send_response(206 if begin else 200)
            self.send_header("ETag", etag)
            self.send_header("Content-Length", str(shelf.length(len(body))))
            self.end_headers()
            if shelf.breaks and shelf.breaks_after is not None:
                shelf.breaks -= 1
                body = body[: shelf.breaks_after]
                self.close_connection = True
            self.wfile.write(body)
            self.close_connection = True

        def send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shelf.address = f"http://127.0.0.1:{server.server_address[1]}"
    yield shelf
    server.shutdown()
    server.server_close()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
