"""Packs in stores: behind an index over HTTP, and in S3; mirrored, verified, swapped."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lorepack.errors import LorepackError
from lorepack.pack.delta import make_delta
from lorepack_server.packs.remote import sync
from tests.conftest import Built, serve
from tests.test_delta import PAGES

Build = Callable[..., Built]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class Store:
    """A folder behind a real HTTP server, with an index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        handler = partial(_Quiet, directory=str(folder))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/index.json"

    def hold(self, *packs: Path, **lies: str) -> None:
        entries = []
        for pack in packs:
            if pack.parent != self.folder:
                shutil.copy(pack, self.folder)
            digest = hashlib.sha256(pack.read_bytes()).hexdigest()
            entries.append({"file": pack.name, "sha256": digest, **lies})
        (self.folder / "index.json").write_text(json.dumps({"packs": entries}))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "store")
    yield store
    store.server.shutdown()
    store.server.server_close()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_index_is_mirrored_by_digest(store: Store, build: Build, tmp_path: Path) -> None:
    one, two = build({"a.md": "one"}).path, build({"a.md": "two"}, version="2.0.0").path
    store.hold(one, two)
    mirror = tmp_path / "mirror"
    served = sync(store.url, mirror)
    assert names(served) == [one.name, two.name]
    blobs = {path.name: path.stat().st_mtime_ns for path in (mirror / "by-digest").iterdir()}
    assert set(blobs) == {hashlib.sha256(p.read_bytes()).hexdigest() for p in (one, two)}
    sync(store.url, mirror)
    assert {p.name: p.stat().st_mtime_ns for p in (mirror / "by-digest").iterdir()} == blobs
    store.hold(two)
    sync(store.url, mirror)
    assert names(served) == [two.name] and len(names(mirror / "by-digest")) == 1


def test_what_is_not_what_it_says_is_not_served(store: Store, build: Build, tmp_path: Path) -> None:
    pack = build({"a.md": "one"}).path
    store.hold(pack, sha256="0" * 64)
    assert names(sync(store.url, tmp_path / "m")) == []
    damaged = bytearray(pack.read_bytes())
    damaged[damaged.index(b"# one") if b"# one" in damaged else len(damaged) // 2] ^= 1
    broken = store.folder / "broken-1.lorepack"
    broken.write_bytes(b"not a pack")
    store.hold(broken)
    assert names(sync(store.url, tmp_path / "m")) == []


@pytest.mark.parametrize(
    "file", ["../../x.lorepack", "a/.hidden.lorepack", "x.txt", "..%2fx.lorepack"]
)
def test_a_name_leads_nowhere_else(store: Store, build: Build, tmp_path: Path, file: str) -> None:
    store.hold(build({"a.md": "one"}).path, file=file)
    mirror = tmp_path / "m"
    with_name = sync(store.url, mirror)
    assert all(path.parent == with_name for path in mirror.rglob("*.lorepack"))
    assert not (tmp_path / "x.lorepack").exists()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"packs": 1}', '{"packs": [1]}', "<html>"])
def test_what_is_no_index_is_one_error_and_the_mirror_stays(
    store: Store, build: Build, tmp_path: Path, text: str
) -> None:
    pack = build({"a.md": "one"}).path
    store.hold(pack)
    served = sync(store.url, tmp_path / "m")
    (store.folder / "index.json").write_text(text)
    with pytest.raises(LorepackError, match="no index of packs"):
        sync(store.url, tmp_path / "m")
    assert names(served) == [pack.name]


def _packs(address: str) -> dict[str, Any]:
    ready = json.load(urllib.request.urlopen(f"{address}/readyz"))
    packs: dict[str, Any] = ready["packs"]
    return packs


def _wait(address: str, packs: dict[str, list[str]]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if _packs(address) == packs:
            return
        time.sleep(0.1)
    assert _packs(address) == packs


def test_a_server_follows_a_store(
    store: Store, build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "cache"))
    one = build({"a.md": "one"}).path
    store.hold(one)
    with serve(store.url, options=["--refresh", "0.3"]) as address:  # type: ignore[arg-type]
        assert _packs(address) == {"test": ["1.0.0"]}
        store.hold(one, build({"a.md": "two"}, version="2.0.0").path)
        _wait(address, {"test": ["2.0.0", "1.0.0"]})
        # A store that is away for a while takes nothing from the shelf.
        (store.folder / "index.json").unlink()
        time.sleep(1)
        assert _packs(address) == {"test": ["2.0.0", "1.0.0"]}
    # Nor does it keep a server from starting again.
    with serve(store.url) as address:  # type: ignore[arg-type]
        assert _packs(address) == {"test": ["2.0.0", "1.0.0"]}


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    moto = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    server = moto.ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="packs")
    yield client
    server.stop()


def test_a_bucket_is_served_and_followed(
    s3: Any, build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "cache"))
    one = build({"a.md": "one"}).path
    s3.upload_file(str(one), "packs", f"team/{one.name}")
    s3.put_object(Bucket="packs", Key="team/notes.txt", Body=b"x")
    s3.put_object(Bucket="packs", Key="team/below/other-1.lorepack", Body=b"x")
    with serve("s3://packs/team", options=["--refresh", "0.3"]) as address:  # type: ignore[arg-type]
        assert _packs(address) == {"test": ["1.0.0"]}
        two = build({"a.md": "two"}, version="2.0.0").path
        s3.upload_file(str(two), "packs", f"team/{two.name}")
        _wait(address, {"test": ["2.0.0", "1.0.0"]})
        s3.delete_object(Bucket="packs", Key=f"team/{one.name}")
        _wait(address, {"test": ["2.0.0"]})
        s3.put_object(Bucket="packs", Key="team/bad-1.lorepack", Body=b"no pack")
        time.sleep(1)
        assert _packs(address) == {"test": ["2.0.0"]}


@pytest.mark.parametrize("url", ["s3://nothing/here", "nosuch://x/y"])
def test_a_store_that_is_none_is_one_error(s3: Any, tmp_path: Path, url: str) -> None:
    with pytest.raises(LorepackError, match=r"cannot be (?:listed|opened)"):
        sync(url, tmp_path)


def test_a_mirror_fetches_what_changed(store: Store, build: Build, tmp_path: Path) -> None:
    old, new = build(PAGES).path, build({**PAGES, "0.md": "new"}, version="1.0.1").path
    store.hold(old)
    served = sync(store.url, tmp_path / "mirror")
    header = make_delta(old, new, store.folder / "d")
    # The pack itself is not there: only the delta can give it.
    (store.folder / old.name).unlink()
    delta = {"file": "d", "bytes": 1, "from": header.old}
    entry = {"file": new.name, "sha256": header.new, "deltas": [delta]}
    (store.folder / "index.json").write_text(json.dumps({"packs": [entry]}))
    sync(store.url, tmp_path / "mirror")
    assert (served / new.name).read_bytes() == new.read_bytes() and names(served) == [new.name]
