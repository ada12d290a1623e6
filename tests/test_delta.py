"""A new version as what changed: byte for byte the same, and never anything else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from lorepack.cli import cli
from lorepack.errors import LorepackError
from lorepack.fetch import pull_pack
from lorepack.pack.delta import apply_delta, make_delta, read_header
from lorepack.util.hashing import file_sha256
from tests.conftest import Built
from tests.shelf import Shelf, names

Build = Callable[..., Built]
PAGES = {f"{n}.md": f"# Page {n}\n\n" + f"word{n} " * 2000 for n in range(20)}


@pytest.fixture
def versions(build: Build) -> tuple[Path, Path]:
    old = build(PAGES).path
    return old, build({**PAGES, "0.md": "# Begun anew"}, version="1.0.1").path


@settings(deadline=None, max_examples=60)
@given(old=st.binary(max_size=3000), new=st.binary(max_size=3000), shared=st.binary(max_size=3000))
def test_any_two_files(
    tmp_path_factory: pytest.TempPathFactory, old: bytes, new: bytes, shared: bytes
) -> None:
    folder = tmp_path_factory.mktemp("delta")
    before, after = folder / "old", folder / "new"
    before.write_bytes(old + shared)
    after.write_bytes(shared + new)
    header = make_delta(before, after, folder / "delta")
    assert apply_delta(before, folder / "delta", folder / "made") == header.new
    assert (folder / "made").read_bytes() == after.read_bytes()
    make_delta(before, after, folder / "again")
    assert (folder / "again").read_bytes() == (folder / "delta").read_bytes()


def test_by_hand(versions: tuple[Path, Path], tmp_path: Path) -> None:
    old, new = versions
    made = CliRunner().invoke(cli, ["delta", "make", str(old), str(new), str(tmp_path / "d")])
    assert made.exit_code == 0, made.output
    assert (tmp_path / "d").stat().st_size < new.stat().st_size / 4
    done = CliRunner().invoke(
        cli, ["delta", "apply", str(old), str(tmp_path / "d"), str(tmp_path / "n")]
    )
    assert file_sha256(new) in done.output
    assert (tmp_path / "n").read_bytes() == new.read_bytes()


@pytest.mark.parametrize("damage", ["flip", "cut", "longer", "other", "no header", "huge", "claim"])
def test_what_is_no_delta_of_this_pack_makes_nothing(
    versions: tuple[Path, Path], tmp_path: Path, damage: str
) -> None:
    old, new = versions
    delta, target = tmp_path / "d", tmp_path / "made"
    make_delta(old, new, delta)
    data = bytearray(delta.read_bytes())
    head, _, frame = bytes(data).partition(b"\n")
    facts = json.loads(head)
    if damage == "flip":
        data[len(data) * 2 // 3] ^= 1
    elif damage == "cut":
        data = data[:-20]
    elif damage == "longer":
        data += frame
    elif damage == "other":
        old = new
    elif damage == "no header":
        data = bytearray(frame)
    elif damage == "huge":
        data = bytearray(json.dumps({**facts, "bytes": 1 << 60}).encode() + b"\n" + frame)
    else:
        data = bytearray(json.dumps({**facts, "bytes": 5}).encode() + b"\n" + frame)
    delta.write_bytes(data)
    before = names(tmp_path)
    with pytest.raises(LorepackError):
        apply_delta(old, delta, target)
    assert names(tmp_path) == before


def publish(shelf: Shelf, old: Path, new: Path, delta: Path) -> None:
    """Put on the shelf what `lorepack publish` lays out."""
    make_delta(old, new, delta)
    header = read_header(delta)
    entry = {"file": new.name, "sha256": header.new, "deltas": [
        {"file": "d", "bytes": delta.stat().st_size, "from": header.old}
    ]}  # fmt: skip
    shelf.files[f"/r/{new.name}"] = new.read_bytes()
    shelf.files["/r/d"] = delta.read_bytes()
    shelf.files["/r/SHA256SUMS"] = f"{header.new}  {new.name}\n".encode()
    shelf.files["/r/manifest.json"] = json.dumps({"packs": [entry]}).encode()


def test_pull_fetches_what_changed(
    shelf: Shelf, versions: tuple[Path, Path], tmp_path: Path
) -> None:
    old, new = versions
    publish(shelf, old, new, tmp_path / "d")
    data = tmp_path / "data"
    data.mkdir()
    (data / old.name).write_bytes(old.read_bytes())
    pulled = pull_pack(f"{shelf.address}/r/{new.name}", data)
    assert pulled.path.read_bytes() == new.read_bytes()
    assert names(data) == [old.name, new.name]
    assert f"/r/{new.name}" not in {path for path, _ in shelf.asked}


@pytest.mark.parametrize("fault", ["no old pack", "damaged delta", "no delta", "forged pack"])
def test_without_a_delta_that_fits_all_is_fetched(
    shelf: Shelf, versions: tuple[Path, Path], tmp_path: Path, fault: str
) -> None:
    old, new = versions
    publish(shelf, old, new, tmp_path / "d")
    data = tmp_path / "data"
    data.mkdir()
    if fault != "no old pack":
        (data / old.name).write_bytes(old.read_bytes())
    if fault == "damaged delta":
        shelf.files["/r/d"] = shelf.files["/r/d"][:-9]
    elif fault == "no delta":
        del shelf.files["/r/d"]
    elif fault == "forged pack":
        make_delta(old, old, tmp_path / "forged")
        shelf.files["/r/d"] = (tmp_path / "forged").read_bytes()
    assert pull_pack(f"{shelf.address}/r/{new.name}", data).path.read_bytes() == new.read_bytes()
    assert f"/r/{new.name}" in {path for path, _ in shelf.asked}
    assert not [name for name in names(data) if name.startswith(".")]
