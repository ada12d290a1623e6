"""Places, servers and releases from which nothing is fetched, and how that is said."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lorepack.fetch import delta, pull_pack, transfer
from lorepack.fetch.places import find_place
from lorepack.paths import packs_folder
from tests.conftest import told
from tests.shelf import Shelf

SHA = "ab" * 32


def answer(shelf: Shelf, path: str, data: Any, headers: Mapping[str, str] | None = None) -> None:
    shelf.answers[path] = (200, dict(headers or {}), json.dumps(data).encode())


def test_places_are_three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(pull_pack, "x", tmp_path) == (
        "'x' is no place of a pack: give https://…, owner/repo@tag or oci://host/name"
    )
    (tmp_path / "file").write_text("x")
    monkeypatch.setattr("lorepack.fetch.places.fetch_text", lambda *_: "")
    assert re.fullmatch(rf"{tmp_path}/file/x cannot be written \(.*\): check it",
                        told(pull_pack, "https://h.example/p", tmp_path / "file" / "x"))  # fmt: skip
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert packs_folder() == tmp_path / "lorepack" / "packs"


def test_sums_are_found_beside_a_file(shelf: Shelf) -> None:
    url = f"{shelf.address}/p/a.lorepack"
    assert find_place(url).sha256 == ""
    shelf.files["/p/SHA256SUMS"] = (
        f"{'CD' * 32} *b.lorepack\n{SHA.upper()}\ta.lorepack \nnonsense\n".encode()
    )
    place = find_place(url)
    assert (place.url, place.sha256, place.deltas) == (url, SHA, ())
    assert place.signature == f"{url}.minisig"
    assert find_place(f"{shelf.address}/p/c.lorepack").sha256 == ""
    good = {"file": "d", "bytes": "7", "from": SHA}
    entry = {"sha256": SHA, "deltas": [good, {"file": "e"}, 3, {**good, "from": "x"},
                                       {**good, "file": "f", "bytes": 2}]}  # fmt: skip
    answer(shelf, "/p/manifest.json", {"packs": [{"sha256": "x"}, 3, entry]})
    assert [(d.url, d.bytes, d.old) for d in find_place(url).deltas] == [
        (f"{shelf.address}/p/f", 2, SHA), (f"{shelf.address}/p/d", 7, SHA),
    ]  # fmt: skip
    unusual: tuple[Any, ...] = ([], {"packs": 3}, {"packs": [{"sha256": SHA, "deltas": {}}]})
    for odd in unusual:
        answer(shelf, "/p/manifest.json", odd)
        assert list(find_place(url).deltas) == []
    shelf.answers["/p/manifest.json"] = shelf.answers["/p/SHA256SUMS"] = (500, {}, b"")
    assert find_place(url).sha256 == ""


def test_a_delta_is_not_fetched_less_safely_than_its_index() -> None:
    one = {"file": "http://h.example/d", "bytes": 1, "from": SHA}
    assert not delta.listed_deltas({"deltas": [one]}, "https://h.example/")
    assert delta.listed_deltas({"deltas": [one]}, "http://h.example/")[0].url == one["file"]


def test_releases(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_API_URL", f"{shelf.address}/")
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    assert told(find_place, "o/r") == "there is no o/r: check name and tag"
    where = "/repos/o/r/releases"
    one = {"name": "a.lorepack", "browser_download_url": f"{shelf.address}/dl/a.lorepack"}
    for assets, names in ([], "none"), (None, "none"), ([{"name": "x"}, 3], "none"), (
        [one, {"name": "b.lorepack"}], "a.lorepack, b.lorepack"
    ):  # fmt: skip
        answer(shelf, f"{where}/latest", {"assets": assets})
        assert told(find_place, "o/r") == (
            f"o/r latest: a release must have one pack; this has {names}: give the address of one"
        )
    answer(shelf, f"{where}/tags/v1", {"assets": []})
    assert told(find_place, "o/r@v1").startswith("o/r v1: a release must")
    answer(shelf, f"{where}/tags/v1", {"assets": [{**one, "digest": f"sha256:{SHA}"}]})
    assert (find_place("o/r@v1").url, find_place("o/r@v1").sha256) == (
        one["browser_download_url"],
        SHA,
    )
    shelf.files["/dl/SHA256SUMS"] = f"{'cd' * 32}  a.lorepack".encode()
    for digest in (None, f"md5:{SHA}"):
        answer(shelf, f"{where}/tags/v1", {"assets": [{**one, "digest": digest}]})
        assert find_place("o/r@v1").sha256 == "cd" * 32
    shelf.answers[f"{where}/tags/v1"] = (200, {}, b"no JSON")
    assert told(find_place, "o/r@v1") == "there is no o/r: check name and tag"


def test_artifacts(shelf: Shelf) -> None:
    host = shelf.address.removeprefix("http://")
    where = f"oci://{host}/packs/t:latest"
    layer = {"digest": f"sha256:{SHA}",
             "annotations": {"org.opencontainers.image.title": "a.lorepack"}}  # fmt: skip
    odd = [{"digest": "x"}, {"annotations": 3}, {"annotations": {"title": "a.lorepack"}}, 3]
    for layers, count in ((odd, 0), (None, 0), ([*odd, layer, layer], 2)):
        answer(shelf, "/v2/packs/t/manifests/latest", {"layers": layers})
        assert told(find_place, where) == f"{where} holds {count} packs: give another tag"
    for digest in ("", f"md5:{SHA}", "sha256:xyz", f"sha256:{SHA}0"):
        answer(shelf, "/v2/packs/t/manifests/latest", {"layers": [{**layer, "digest": digest}]})
        assert told(find_place, where) == f"{where} has no SHA-256: publish it anew"
    answer(shelf, "/v2/packs/t/manifests/latest", {"layers": [*odd, layer]})
    place = find_place(where.removesuffix(":latest"))
    assert place.url == f"{shelf.address}/v2/packs/t/blobs/sha256:{SHA}"
    assert (place.sha256, place.headers) == (SHA, {})
    assert told(find_place, f"oci://{host}/packs/none:1") == (
        f"there is no {host}/packs/none:1: check name and tag"
    )
    assert re.fullmatch(r"http://127.0.0.1:9/v2/x/manifests/1 cannot be asked \(.+\): check the.*",
                        told(find_place, "oci://127.0.0.1:9/x:1"))  # fmt: skip


@pytest.mark.parametrize(
    ("ask", "given", "header"),
    [
        ('Bearer realm="{}/token",service="s"', {"token": "t"}, {"Authorization": "Bearer t"}),
        ('Bearer realm="{}/token"', {"access_token": "u"}, {"Authorization": "Bearer u"}),
        ('Bearer realm="{}/token"', {}, {}), ('Bearer realm="{}/token"', ["x"], {}),
        ('Basic realm="{}/token"', {"token": "t"}, {}), ('Bearer realm="file:///x"', {}, {}),
        ('Bearer service="s"', {"token": "t"}, {}), ("", {}, {}),
    ],
)  # fmt: skip
def test_tokens_of_registries(
    shelf: Shelf, ask: str, given: Any, header: Mapping[str, str]
) -> None:
    from lorepack.fetch.places import _token

    challenge = {"WWW-Authenticate": ask.format(shelf.address)}
    shelf.answers["/m"] = shelf.answers["/m in"] = (401, challenge, b"")
    answer(shelf, "/token", given)
    assert _token(f"{shelf.address}/m") == header
    shelf.answers["/m"] = (200, challenge, b"")
    assert _token(f"{shelf.address}/m") == {}


def test_small_texts(shelf: Shelf) -> None:
    url = f"{shelf.address}/t"
    assert transfer.fetch_text(url) == ""
    shelf.files["/t"] = b"a\xffb"
    assert transfer.fetch_text(url) == "a�b" and transfer.fetch_text(url, None, 3) == "a�b"
    assert told(transfer.fetch_text, url, None, 2) == (
        f"{url} is longer than 2 bytes: check the address"
    )
    for status in (400, 403, 500):
        shelf.answers["/t"] = (status, {}, b"")
        assert told(transfer.fetch_text, url) == f"{url} answers {status}: check the address"
    assert re.fullmatch(r"http://127.0.0.1:9/ cannot be fetched \(.+\): check the address",
                        told(transfer.fetch_text, "http://127.0.0.1:9/"))  # fmt: skip


def test_fetches_that_end(shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, target = f"{shelf.address}/f", tmp_path / "f"
    assert told(transfer.fetch, url, target) == f"{url} answers 404: check the address"
    shelf.files["/f"] = b"x" * 100
    seen: list[tuple[int, int]] = []
    transfer.fetch(url, target, None, lambda had, total: seen.append((had, total)))
    assert seen[-1] == (100, 100) and target.read_bytes() == b"x" * 100
    assert re.fullmatch(rf"{tmp_path}/none/f cannot be written \(.+\): make room",
                        told(transfer.fetch, url, tmp_path / "none" / "f"))  # fmt: skip
    assert "cannot be fetched (" in told(transfer.fetch, "gopher://x/", target)
    shelf.status = [503] * 6
    assert told(transfer.fetch, url, target) == (
        f"{url} broke off 6 times (status 503); 100 bytes are kept: "
        "try again: it goes on from there"
    )
    # What is there is longer than what the server has: it is begun anew.
    notes = transfer.notes_file(target)
    target.write_bytes(b"y" * 200)
    shelf.answers["/f"] = (416, {}, b"")
    assert "what was there is longer than what there is" in told(transfer.fetch, url, target)
    assert not target.exists()
    del shelf.answers["/f"]
    monkeypatch.setattr(transfer, "MAX_BYTES", 99)
    target.unlink(missing_ok=True)
    assert told(transfer.fetch, url, target) == f"{url} has 100 bytes: more than 99 are refused"
    monkeypatch.setattr(transfer, "MAX_BYTES", 100)
    transfer.fetch(url, target)
    for note in (
        "",
        "[]",
        "{}",
        json.dumps({"etag": 'W/"x"', "url": url}),
        '{"etag": "", "url": 1}',
    ):
        notes.write_text(note)
        assert transfer._resumable(target, notes, url) == (0, "")
    notes.write_text(json.dumps({"etag": '"e"', "url": url}))
    assert transfer._resumable(target, notes, url) == (100, '"e"')
    assert transfer._resumable(target, notes, f"{url}2") == (0, "")
    assert transfer._resumable(tmp_path / "none", notes, url) == (0, "")
