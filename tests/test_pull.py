"""Packs from elsewhere: a server that breaks off, lies and forges; releases; OCI; pruning."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lorepack.cli import cli
from lorepack.errors import LorepackError
from lorepack.fetch import pull_pack
from lorepack.fetch.prune import prune_packs
from lorepack.pack.signature import new_keys, sign_pack
from tests.conftest import Built
from tests.shelf import Shelf, names

Build = Callable[..., Built]


@pytest.fixture
def pack(build: Build) -> Path:
    return build({"a.md": "# A\n\n" + "text " * 5000}).path


def test_a_pack_is_fetched_verified_and_kept(shelf: Shelf, pack: Path, tmp_path: Path) -> None:
    shelf.files["/p/test.lorepack"] = pack.read_bytes()
    first = pull_pack(f"{shelf.address}/p/test.lorepack", tmp_path / "data")
    assert first.new and first.path.read_bytes() == pack.read_bytes()
    assert names(tmp_path / "data") == ["test-1.0.0.lorepack"]
    assert not pull_pack(f"{shelf.address}/p/test.lorepack", tmp_path / "data").new


def test_what_broke_off_is_gone_on_with(shelf: Shelf, pack: Path, tmp_path: Path) -> None:
    data = pack.read_bytes()
    shelf.files["/t.lorepack"] = data
    shelf.breaks_after, shelf.breaks = len(data) // 4, 3
    assert pull_pack(f"{shelf.address}/t.lorepack", tmp_path).path.read_bytes() == data
    ranges = [asked for path, asked in shelf.asked if path == "/t.lorepack"]
    assert ranges[0] == "" and ranges[1] == f"bytes={len(data) // 4}-" and len(ranges) == 4


def test_a_later_call_goes_on_too(shelf: Shelf, pack: Path, tmp_path: Path) -> None:
    data = pack.read_bytes()
    shelf.files["/t.lorepack"] = data
    shelf.breaks_after, shelf.breaks = 1000, 100
    with pytest.raises(LorepackError, match=r"broke off 6 times .*6000 bytes are kept"):
        pull_pack(f"{shelf.address}/t.lorepack", tmp_path)
    shelf.breaks = 0
    assert pull_pack(f"{shelf.address}/t.lorepack", tmp_path).path.read_bytes() == data
    assert shelf.asked[-1] == ("/t.lorepack", "bytes=6000-")


def test_another_file_at_the_address_is_begun_anew(
    shelf: Shelf, pack: Path, build: Build, tmp_path: Path
) -> None:
    shelf.files["/t.lorepack"] = pack.read_bytes()
    shelf.breaks_after, shelf.breaks = 1000, 100
    with pytest.raises(LorepackError):
        pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "data")
    shelf.breaks = 0
    shelf.files["/t.lorepack"] = build({"b.md": "other"}, version="2.0.0").path.read_bytes()
    assert pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "data").version == "2.0.0"


def test_a_server_without_ranges_sends_all_again(shelf: Shelf, pack: Path, tmp_path: Path) -> None:
    shelf.files["/t.lorepack"] = pack.read_bytes()
    shelf.breaks_after, shelf.breaks, shelf.ranges = 1000, 2, False
    assert pull_pack(f"{shelf.address}/t.lorepack", tmp_path).new


@pytest.mark.parametrize(
    "lie", [lambda n: n - 5000, lambda n: n + 5000, lambda n: 1], ids=["less", "more", "one"]
)
def test_a_lie_about_the_length_installs_nothing(
    shelf: Shelf, pack: Path, tmp_path: Path, lie: Callable[[int], int]
) -> None:
    shelf.files["/t.lorepack"] = pack.read_bytes()
    shelf.length = lie
    with pytest.raises(LorepackError):
        pull_pack(f"{shelf.address}/t.lorepack", tmp_path)
    assert not list(tmp_path.glob("*.lorepack"))


def test_a_busy_server_is_asked_again(shelf: Shelf, pack: Path, tmp_path: Path) -> None:
    shelf.files["/t.lorepack"] = pack.read_bytes()
    shelf.status = [503, 429]
    assert pull_pack(f"{shelf.address}/t.lorepack", tmp_path).new


def test_a_digest_that_differs_is_refused(shelf: Shelf, pack: Path, tmp_path: Path) -> None:
    shelf.files["/t.lorepack"] = pack.read_bytes()
    shelf.files["/SHA256SUMS"] = f"{'0' * 64}  t.lorepack\n{'1' * 64}  u.lorepack\n".encode()
    with pytest.raises(LorepackError, match="not 0000"):
        pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "a")
    assert names(tmp_path / "a") == []
    right = hashlib.sha256(pack.read_bytes()).hexdigest()
    assert pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "a", sha256=right.upper()).new
    shelf.files["/SHA256SUMS"] = f"{right} *t.lorepack\n".encode()
    assert pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "b").new


def test_a_damaged_pack_is_not_installed(shelf: Shelf, pack: Path, tmp_path: Path) -> None:
    data = bytearray(pack.read_bytes())
    data[data.index(b"text text")] ^= 1
    shelf.files["/t.lorepack"] = bytes(data)
    with pytest.raises(LorepackError, match="is damaged"):
        pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "data")
    shelf.files["/t.lorepack"] = b"<html>not here</html>"
    with pytest.raises(LorepackError, match="no Lorepack pack"):
        pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "data")
    assert names(tmp_path / "data") == []


def test_a_version_never_changes(shelf: Shelf, pack: Path, build: Build, tmp_path: Path) -> None:
    shelf.files["/t.lorepack"] = pack.read_bytes()
    kept = pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "data").path
    before = kept.read_bytes()
    shelf.files["/t.lorepack"] = build({"b.md": "forged"}).path.read_bytes()
    with pytest.raises(LorepackError, match="a version never changes"):
        pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "data")
    assert kept.read_bytes() == before


def test_a_signature_is_wanted_where_a_key_is_given(
    shelf: Shelf, pack: Path, tmp_path: Path
) -> None:
    public = str(new_keys(tmp_path / "key", None))
    shelf.files["/t.lorepack"] = pack.read_bytes()
    with pytest.raises(LorepackError, match="404"):
        pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "data", key=public)
    shelf.files["/t.lorepack.minisig"] = sign_pack(pack, tmp_path / "key", None).read_bytes()
    pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "data", key=public)
    assert names(tmp_path / "data") == ["test-1.0.0.lorepack", "test-1.0.0.lorepack.minisig"]
    other = str(new_keys(tmp_path / "other", None))
    with pytest.raises(LorepackError, match="not what was signed"):
        pull_pack(f"{shelf.address}/t.lorepack", tmp_path / "more", key=other)
    assert names(tmp_path / "more") == []


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/x", "loop"])
def test_a_redirection_leads_nowhere_else(shelf: Shelf, tmp_path: Path, to: str) -> None:
    target = f"{shelf.address}/r.lorepack" if to == "loop" else to
    shelf.answers["/r.lorepack"] = (302, {"Location": target}, b"")
    with pytest.raises(LorepackError, match="cannot be fetched"):
        pull_pack(f"{shelf.address}/r.lorepack", tmp_path)


# Releases and registries


def release(shelf: Shelf, pack: Path, **asset: Any) -> None:
    shelf.files["/dl/test-1.0.0.lorepack"] = pack.read_bytes()
    one = {"name": pack.name, "browser_download_url": f"{shelf.address}/dl/test-1.0.0.lorepack"}
    assets = [{**one, **asset}, {"name": "SHA256SUMS"}]
    body = json.dumps({"assets": assets}).encode()
    for which in ("latest", "tags/v1"):
        shelf.answers[f"/repos/o/r/releases/{which}"] = (200, {}, body)


@pytest.mark.parametrize("reference", ["o/r", "o/r@v1"])
def test_a_release_is_asked_for_its_pack(
    shelf: Shelf, pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", shelf.address)
    right = hashlib.sha256(pack.read_bytes()).hexdigest()
    release(shelf, pack, digest=f"sha256:{right}")
    assert pull_pack(reference, tmp_path / "a").version == "1.0.0"
    release(shelf, pack, digest=f"sha256:{'0' * 64}")
    with pytest.raises(LorepackError, match="not 0000"):
        pull_pack(reference, tmp_path / "b")
    with pytest.raises(LorepackError, match="there is no o/gone"):
        pull_pack("o/gone", tmp_path)


def test_an_oci_artifact_is_fetched_with_a_token(shelf: Shelf, pack: Path, tmp_path: Path) -> None:
    data = pack.read_bytes()
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    title = {"org.opencontainers.image.title": pack.name}
    manifest = json.dumps({"layers": [{"digest": digest, "annotations": title}]}).encode()
    ask = f'Bearer realm="{shelf.address}/token",service="s",scope="repository:packs/t:pull"'
    shelf.answers["/token"] = (200, {}, b'{"token": "let-me-in"}')
    for path, body in (
        (f"/v2/packs/t/blobs/{digest}", data),
        ("/v2/packs/t/manifests/1", manifest),
    ):
        shelf.answers[path] = (401, {"WWW-Authenticate": ask}, b"")
        shelf.answers[f"{path} in"] = (200, {}, body)
    reference = f"oci://{shelf.address.removeprefix('http://')}/packs/t:1"
    assert pull_pack(reference, tmp_path).path.read_bytes() == data
    shelf.answers[f"/v2/packs/t/blobs/{digest} in"] = (200, {}, data + b"x")
    with pytest.raises(LorepackError, match="has the SHA-256"):
        pull_pack(reference, tmp_path / "b")


@pytest.mark.parametrize(
    "reference", ["", "x", "a/b/c", "ftp://x/y", "oci://h", "/etc/passwd", "a b/c"]
)
def test_what_is_no_place_is_one_clear_error(tmp_path: Path, reference: str) -> None:
    with pytest.raises(LorepackError, match="no place of a pack"):
        pull_pack(reference, tmp_path)


# Pruning and the command


def test_old_versions_go_and_others_stay(build: Build, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for version in ("1.0.0", "1.2.0", "1.10.0", "1.10.0-rc1"):
        shutil.copy(build({"a.md": version}, version=version).path, folder)
    (folder / "strange.lorepack").write_text("not a pack")
    (folder / "test-1.0.0.lorepack.minisig").write_text("x")
    would = prune_packs(folder, 2, dry_run=True)
    assert [path.name for path in would] == ["test-1.0.0.lorepack", "test-1.2.0.lorepack"]
    assert len(names(folder)) == 6
    assert prune_packs(folder, 2) == would
    assert names(folder) == ["strange.lorepack", "test-1.10.0-rc1.lorepack", "test-1.10.0.lorepack"]


def test_the_commands(
    shelf: Shelf, pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    shelf.files["/t.lorepack"] = pack.read_bytes()
    done = CliRunner().invoke(cli, ["pull", f"{shelf.address}/t.lorepack", "--json"])
    facts = json.loads(done.stdout)
    assert Path(facts["path"]) == tmp_path / "xdg" / "lorepack" / "packs" / "test-1.0.0.lorepack"
    again = CliRunner().invoke(cli, ["pull", f"{shelf.address}/t.lorepack"])
    assert again.output.endswith("(was there already)\n")
    assert CliRunner().invoke(cli, ["prune", "--keep", "1"]).output == ""
