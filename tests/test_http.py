"""The HTTP side: sites, addresses, metrics, tokens, limits; in process, with real packs."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lorepack.errors import LorepackError
from lorepack.versions import version_key
from lorepack_builder.render.urls import file_url
from lorepack_server.app import Settings, create_app
from lorepack_server.http.guard import read_tokens
from lorepack_server.packs.library import Library
from lorepack_server.packs.mount import mount_pack
from tests.conftest import Built

HOSTS = ("testserver",)


def client_for(*paths: Path, **settings: Any) -> TestClient:
    library = Library(paths)
    library.open()
    return TestClient(
        create_app(library, Settings(hosts=HOSTS, **settings)),
        headers={"accept-encoding": "identity"},
    )


@pytest.fixture
def http(demo_pack: Path) -> Iterator[TestClient]:
    with client_for(demo_pack) as client:
        yield client


def test_a_page_is_sent_as_it_is_stored(http: TestClient, demo_pack: Path) -> None:
    url = "/site/demo/guide/concepts/packs/"
    plain = http.get(url)
    assert plain.headers["content-type"] == "text/html; charset=utf-8"
    assert "content-encoding" not in plain.headers
    with http.stream("GET", url, headers={"accept-encoding": "gzip, deflate, br"}) as response:
        assert response.headers["content-encoding"] == "deflate"
        raw = b"".join(response.iter_raw())
    with sqlite3.connect(demo_pack) as pack:
        (stored,) = pack.execute(
            "SELECT data FROM sqlar WHERE name = 'guide/concepts/packs/index.html'"
        ).fetchone()
    assert raw == stored and zlib.decompress(raw) == plain.content


def test_what_is_known_is_not_sent_again(http: TestClient) -> None:
    first = http.get("/site/demo/")
    again = http.get("/site/demo/", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304 and again.content == b""
    packed = http.get("/site/demo/", headers={"accept-encoding": "deflate"})
    assert packed.headers["etag"] != first.headers["etag"]


def test_an_address_with_a_version_never_changes(http: TestClient) -> None:
    pinned = http.get("/site/demo@1.0.0/assets/search.js")
    assert "immutable" in pinned.headers["cache-control"]
    assert http.get("/site/demo/assets/search.js").headers["cache-control"] == "no-cache"
    assert http.get("/site/demo@2/").status_code == 404


@pytest.mark.parametrize(
    ("asked", "status", "where", "length"),
    [
        ("bytes=0-9", 206, "bytes 0-9/3000", 10),
        ("bytes=2990-", 206, "bytes 2990-2999/3000", 10),
        ("bytes=-5", 206, "bytes 2995-2999/3000", 5),
        ("bytes=2990-9999", 206, "bytes 2990-2999/3000", 10),
        ("bytes=3000-", 416, "bytes */3000", 0),
        ("bytes=0-1,5-6", 200, None, 3000),
        ("lines=1-2", 200, None, 3000),
        ("bytes=-", 200, None, 3000),
    ],
)
@pytest.mark.parametrize("kind", ["noise", "zeros"])
def test_a_part_of_an_attachment(
    build: Callable[..., Built], kind: str, asked: str, status: int, where: str | None, length: int
) -> None:
    data = random.Random(1).randbytes(3000) if kind == "noise" else bytes(3000)
    built = build({"a.md": "![[film.mp4]]", "film.mp4": data})
    with client_for(built.path) as client:
        response = client.get(f"/site/test/{file_url('v/film.mp4')}", headers={"range": asked})
    assert response.status_code == status and response.headers.get("content-range") == where
    assert len(response.content) == length
    if status == 206 and where:
        begin, end = map(int, re.findall(r"\d+", where)[:2])
        assert response.content == data[begin : end + 1]


@pytest.mark.parametrize(
    "url", ["/", "/healthz", "/readyz", "/metrics", "/site/demo/", "/api/openapi.json",
            "/api/demo/search?query=pack", "/packs.css"],
)  # fmt: skip
def test_head_is_get_without_a_body(http: TestClient, url: str) -> None:
    head, get = http.head(url), http.get(url)
    assert head.status_code == get.status_code == 200 and head.content == b""
    assert head.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in head.headers["content-security-policy"]


def test_what_is_not_there_is_told_by_the_site(http: TestClient) -> None:
    missing = http.get("/site/demo/guide/no/such/page/")
    assert missing.status_code == 404 and "Page not found" in missing.text
    for address in re.findall(r'(?:href|src)="(/[^"]*)"', missing.text):
        assert address.startswith("/site/demo/"), address
        assert http.get(address).status_code == 200, address
    assert http.get("/site/demo/guide/concepts/packs", follow_redirects=False).status_code == 308


def test_pages_have_no_inline_scripts(demo_pack: Path) -> None:
    with sqlite3.connect(demo_pack) as pack:
        rows = pack.execute("SELECT sz, data FROM sqlar WHERE name LIKE '%.html'").fetchall()
    for size, data in rows:
        html = (data if len(data) == size else zlib.decompress(data)).decode()
        assert re.findall(r"<script(?![^>]*(?:src|application/(?:ld\+)?json))", html) == []
        assert re.findall(r"<[^>]+\s(?:on\w+|style(?!=\"text-align:\w+\"))=", html) == []


def test_the_list_of_packs(http: TestClient) -> None:
    page = http.get("/").text
    assert "claude mcp add" in page and "http://testserver/mcp/demo" in page and "1.0.0" in page


@pytest.mark.parametrize("day", ["yesterday", "9" * 30])
def test_a_pack_with_an_impossible_date_is_not_mounted(
    build: Callable[..., Built], day: str
) -> None:
    path = build({"a.md": "text"}).path
    with sqlite3.connect(path) as pack:
        pack.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('day', ?)", (day,))
    with pytest.raises(LorepackError, match="is damaged"):
        mount_pack(path)


def test_metrics_count_requests_and_calls(http: TestClient) -> None:
    http.get("/site/demo/")
    http.get("/api/demo/search", params={"query": "what is a pack"})
    text = http.get("/metrics").text
    assert 'lorepack_http_requests_total{area="site",status="200"} 1.0' in text
    assert 'lorepack_tool_seconds_count{outcome="ok",tool="find_chunks"} 1.0' in text
    assert "lorepack_packs 1.0" in text and "lorepack_in_flight 0.0" in text


def test_the_api_answers_as_the_tools_do(http: TestClient) -> None:
    found = http.get("/api/demo/search", params={"query": "why one file", "limit": 2, "lang": "en"})
    assert found.json()["results"][0]["slug"] == "guide/concepts/Packs.md"
    assert len(found.json()["results"]) == 2 and "opened offline" in found.json()["text"]
    page = http.get("/api/demo@1.0.0/page", params={"page": "guide/concepts/Packs.md"})
    assert page.json()["title"] == "Packs"
    near = http.get("/api/demo/neighbors", params={"source": "#guide", "kinds": "tag"})
    assert {n["edge"] for n in near.json()["neighbors"]} == {"tag"}


@pytest.mark.parametrize(
    ("url", "status", "says"),
    [
        ("/api/demo/search", 400, "query is missing"),
        ("/api/demo/search?query=x&limit=a", 400, "limit is not a whole number"),
        ("/api/demo/search?query=x&query=y", 400, "query takes one value, not 2"),
        ("/api/demo/search?query=x&colour=red", 400, "there is no argument 'colour'"),
        ("/api/demo/nothing", 404, "no such call"),
        ("/api/other/search?query=x", 404, "no such pack"),
        ("/nothing", 404, "there is nothing here"),
        ("/api/demo/search?query=" + "x" * 9000, 414, "too long"),
    ],
)
def test_wrong_requests_are_told_so(http: TestClient, url: str, status: int, says: str) -> None:
    response = http.get(url)
    assert response.status_code == status and says in response.json()["error"]["message"]


def test_nothing_can_be_written(http: TestClient) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert http.request(method, "/site/demo/").status_code == 405
    assert http.post("/mcp/demo", content=b"x" * (2 << 20)).status_code == 413


def test_other_hosts_and_origins_are_refused(http: TestClient) -> None:
    assert http.get("/", headers={"host": "evil.example"}).status_code == 400
    assert (
        http.get("/api/demo/search?query=x", headers={"origin": "http://evil.example"}).status_code
        == 403
    )
    assert http.get("/", headers={"origin": "http://testserver"}).status_code == 200


OTHER = "other-pack-only-word"


@pytest.fixture
def two_packs(build: Callable[..., Built], demo_pack: Path, tmp_path: Path) -> Path:
    """A folder with two packs."""
    folder = tmp_path / "packs"
    folder.mkdir()
    build({"secret.md": f"# Secret\n\n{OTHER}\n"}).path.rename(folder / "test-1.0.0.lorepack")
    (folder / demo_pack.name).write_bytes(demo_pack.read_bytes())
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "/api/demo/page?page=v/secret.md",
        "/api/demo/page?page=../test/v/secret.md",
        "/api/demo/page?page=lorepack://test/v/secret.md",
        f"/api/demo/search?query={OTHER}",
        f"/api/demo/search?query={OTHER}&source=v",
        f"/api/demo/search?query={OTHER}&path=../test",
        "/api/demo/neighbors?source=v/secret.md",
        "/site/demo/../test/v/secret/",
        "/site/demo/..%2ftest/v/secret/",
        "/site/demo/%2e%2e/test/v/secret/",
        "/site/demo//site/test/v/secret/",
        "/site/demo/..\\test\\v\\secret\\",
        "/site/demo@1.0.0%2f..%2ftest/v/secret/",
    ],
)
def test_one_pack_does_not_lead_to_another(two_packs: Path, url: str) -> None:
    tokens = {"demo": ["d" * 16], "test": ["t" * 16]}
    with client_for(two_packs, tokens=tokens) as client:
        response = client.get(url, headers={"authorization": f"Bearer {'d' * 16}"})
        assert "# Secret" not in response.text and ">Secret<" not in response.text
        assert f"{OTHER}\n" not in response.text
        # With no tokens the other pack is open, but an address of this one does not reach it.
    with client_for(two_packs) as client:
        reached = client.get("/site/test/v/secret/").text
        assert OTHER in reached


def test_tokens_open_their_own_pack(two_packs: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps({"demo": "demo-demo-demo-demo", "*": ["all-all-all-all-all"]}))

    def status(url: str, token: str) -> int:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return client.get(url, headers=headers).status_code

    with client_for(two_packs, tokens=read_tokens(file)) as client:
        assert status("/site/demo/", "demo-demo-demo-demo") == 200
        assert status("/site/demo@1.0.0/", "demo-demo-demo-demo") == 200
        assert status("/site/test/", "demo-demo-demo-demo") == 401
        assert status("/site/test/", "all-all-all-all-all") == 200
        assert status("/site/demo/", "") == status("/", "") == status("/metrics", "wrong") == 401
        assert status("/healthz", "") == 200


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"demo": "short"}', '{"demo": []}', '{"demo": 5}']
)
def test_bad_token_files_are_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(text)
    with pytest.raises(LorepackError, match=r"tokens\.json"):
        read_tokens(file)


def test_newest_versions_come_first() -> None:
    ordered = ["1.0.0-rc1", "1.0.0", "1.2.0", "1.10.0", "2024.1", "v3000"]
    assert sorted(ordered, key=version_key) == [
        "1.0.0-rc1", "1.0.0", "1.2.0", "1.10.0", "2024.1", "v3000",
    ]  # fmt: skip
