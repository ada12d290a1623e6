"""Large files of a site go out in pieces, and are the same as if they had not."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from lorepack_builder.render.urls import file_url
from lorepack_server.app import Settings, create_app
from lorepack_server.packs.library import Library
from tests.conftest import Built

PLAIN = "".join(f"line {number}\n" for number in range(100_000)).encode()
NOISE = random.Random(1).randbytes(700_001)
FILES = {"numbers.csv": PLAIN, "noise.bin": NOISE}


@pytest.fixture
def pack(build: Callable[..., Built]) -> Path:
    return build({"a.md": "# A\n\n[n](numbers.csv) [b](noise.bin)\n", **FILES}).path


@pytest.fixture
def client(pack: Path) -> Iterator[TestClient]:
    library = Library([pack])
    library.open()
    with TestClient(create_app(library, Settings(hosts=("testserver",)))) as client:
        yield client


def ask(client: TestClient, name: str, **headers: str) -> httpx.Response:
    given = {"accept-encoding": "identity", **{k.replace("_", "-"): v for k, v in headers.items()}}
    return client.get(f"/site/test/{file_url(f'v/{name}')}", headers=given)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("coding", ["identity", "deflate"])
def test_a_whole_file(client: TestClient, name: str, coding: str) -> None:
    answer = ask(client, name, accept_encoding=coding)
    assert answer.status_code == 200 and answer.content == FILES[name]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("asked", "begin", "end"),
    [("0-0", 0, 1), ("65535-65536", 65535, 65537), ("100-299999", 100, 300_000),
     ("600000-", 600_000, None), ("-5", -5, None), ("5-99999999", 5, None)],
)  # fmt: skip
def test_a_part(client: TestClient, name: str, asked: str, begin: int, end: int | None) -> None:
    answer = ask(client, name, range=f"bytes={asked}")
    expected = FILES[name][begin:end]
    assert answer.status_code == 206 and answer.content == expected
    assert answer.headers["content-length"] == str(len(expected))


@pytest.mark.parametrize("name", FILES)
def test_what_is_behind_the_end(client: TestClient, name: str) -> None:
    answer = ask(client, name, range="bytes=99999999-")
    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{len(FILES[name])}"


def test_a_range_that_is_none_gives_the_whole(client: TestClient) -> None:
    for odd in ("bytes=-", "bytes=1-2,4-5", "lines=1-2", f"bytes={'9' * 5000}-"):
        assert ask(client, "noise.bin", range=odd).content == NOISE


@pytest.mark.parametrize("size", [-1, 1 << 40, 100])
def test_a_size_that_cannot_be_is_damage(pack: Path, size: int) -> None:
    with sqlite3.connect(pack) as opened:
        opened.execute("UPDATE sqlar SET sz = ? WHERE name LIKE '%numbers-%'", (size,))
    library = Library([pack])
    library.open()
    app = create_app(library, Settings(hosts=("testserver",)))
    with TestClient(app, raise_server_exceptions=False) as client:
        answer = ask(client, "numbers.csv")
        assert answer.status_code == 500 and answer.json()["error"]["code"] == "damaged"
