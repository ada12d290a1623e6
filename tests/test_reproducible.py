"""The same input gives the same bytes, wherever, whenever and by whom it is built."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import LOREPACK, ROOT
from tests.gits import git


@dataclass(frozen=True)
class Place:
    """Where and how a build runs."""

    folder: str
    umask: int
    environment: Mapping[str, str]
    options: tuple[str, ...] = field(default=())


PLACES = {
    "plain": Place("a", 0o022, {"TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "0"}),
    "far away": Place(
        "another place/ü/long enough to differ", 0o077,
        {"TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8",
         "PYTHONHASHSEED": "12345", "LOREPACK_THREADS": "2"},
    ),
    "by fewer": Place("b", 0o002, {"TZ": "America/St_Johns", "PYTHONHASHSEED": "77",
                                   "OMP_NUM_THREADS": "1"}),
    "by workers": Place("c", 0o022, {"PYTHONHASHSEED": "3"}, ("--engine", "dask", "--workers", "2")),
}  # fmt: skip


def clone(folder: Path) -> Path:
    """A clean clone of what the demo pack is made of, with a commit of its own."""
    shutil.copytree(ROOT / "packs", folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def build(place: Place, top: Path) -> bytes:
    packs = clone(top / place.folder / "packs")
    for file in packs.rglob("*"):
        # Times of files are the clone's own.
        os.utime(file, (1_000_000_000 + len(place.folder), 1_000_000_000))
    environment = {
        **os.environ, **place.environment, "LOREPACK_CACHE": str(top / f"cache-{place.folder[0]}"),
    }  # fmt: skip
    subprocess.run(
        [str(LOREPACK), "build", "packs/demo.toml", "--out", "out", *place.options],
        cwd=packs.parent, env=environment, check=True, capture_output=True, umask=place.umask,
    )  # fmt: skip
    return (packs.parent / "out" / "demo-1.0.0.lorepack").read_bytes()


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return build(PLACES["plain"], tmp_path_factory.mktemp("plain"))


@pytest.mark.parametrize("name", [name for name in PLACES if name != "plain"])
def test_two_clean_clones_give_the_same_bytes(first: bytes, name: str, tmp_path: Path) -> None:
    assert build(PLACES[name], tmp_path) == first


def test_another_day_gives_another_pack(
    first: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the other tests cannot but fail when time gets in."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    assert build(PLACES["plain"], tmp_path) != first
