"""A page of another origin asks a server from a real browser, as the inspector does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

ASK = """async (url) => {
  const headers = {"content-type": "application/json", "mcp-protocol-version": "2025-06-18",
                   "accept": "application/json, text/event-stream"};
  const call = {jsonrpc: "2.0", id: 1, method: "tools/call",
                params: {name: "find_chunks", arguments: {query: "why is a pack one file?"}}};
  const answer = await fetch(url, {method: "POST", headers, body: JSON.stringify(call)});
  return (await answer.json()).result.content[0].text;
}"""


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another origin</title>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[int]:
    """The port of a web server that has nothing to do with Lorepack."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_page_on_this_machine_may_ask(
    browser: Any, elsewhere: int, demo_server: str, host: str
) -> None:
    page = browser.new_page()
    page.goto(f"http://{host}:{elsewhere}/")
    assert "opened offline for ever" in page.evaluate(ASK, f"{demo_server}/mcp/demo")
    page.close()


def test_a_page_of_another_host_may_not(browser: Any, elsewhere: int, demo_server: str) -> None:
    """Its name leads to this machine, as in an attack by rebinding."""
    context = browser.new_context()
    context.route("http://evil.example/**", lambda route: route.fulfill(
        body="<!doctype html>", content_type="text/html"))  # fmt: skip
    page = context.new_page()
    page.goto("http://evil.example/")
    with pytest.raises(Exception, match="Failed to fetch"):
        page.evaluate(ASK, f"{demo_server}/mcp/demo")
    context.close()
