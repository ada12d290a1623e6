"""Sources that change while they are built, disks that fill up, clocks that go back."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lorepack.errors import LorepackError
from lorepack.pack.open import open_pack
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from lorepack_builder.result import Summary
from tests.conftest import write_files, write_recipe
from tests.reliability.disks import clock_back, full_disk, moving_source, read_only

BEFORE = {
    "a.md": "# A\n\nbefore ![[p.png]]\n",
    "c.canvas": '{"nodes": [{"id": "1", "type": "text", "text": "before", "x": 0, "y": 0, '
    '"width": 9, "height": 9}]}',
    "p.png": b"before",
}


def build_while(
    folder: Path, stage: str, change: Callable[[Path], object]
) -> tuple[Callable[[], Summary], Path]:
    """Build a small vault that changes when a stage begins; return how to build it in peace."""
    vault = write_files(folder / "vault", BEFORE)
    recipe = read_recipe(write_recipe(folder, vault))

    def progress(name: str, done: int, total: int) -> None:
        if name == stage:
            change(vault)

    def again() -> Summary:
        return build_pack(recipe, folder / "out")[0]

    try:
        build_pack(recipe, folder / "out", progress=progress)
    except LorepackError as error:
        assert "build again" in error.remedy and not list((folder / "out").glob("*"))
    return again, vault


def told(summary: Summary) -> Mapping[str, str]:
    with open_pack(Path(summary.pack)) as pack:
        return dict(pack.execute("SELECT path, markdown FROM pages").fetchall())


@pytest.mark.parametrize("stage", ["parse", "link", "render", "seal"])
@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("how", ["written", "removed"])
def test_what_changed_meanwhile_is_taken_for_nothing_else_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, name: str, how: str
) -> None:
    """Once the file is as it was, the pack must be what it would be from empty caches."""
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "cache"))

    def change(vault: Path) -> None:
        if how == "removed":
            (vault / name).unlink(missing_ok=True)
        else:
            (vault / name).write_bytes((vault / name).read_bytes().replace(b"before", b"during"))

    again, vault = build_while(tmp_path, stage, change)
    write_files(vault, BEFORE)
    after = again()
    data = Path(after.pack).read_bytes()
    assert "before" in told(after)["v/a.md"] and "before" in told(after)["v/c.canvas"]
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "another"))
    Path(after.pack).unlink()
    assert Path(again().pack).read_bytes() == data


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_attachment_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    vault = write_files(tmp_path / "vault", BEFORE)
    (vault / "p.png").chmod(0)
    _, findings = build_pack(read_recipe(write_recipe(tmp_path, vault)), tmp_path / "out")
    assert ("unreadable", "v/p.png") in [(f.rule, f.path) for f in findings]


def test_a_moving_source_harms_nothing(tmp_path: Path) -> None:
    assert moving_source(tmp_path, 3) == []


def test_a_clock_that_goes_back_hides_no_change(tmp_path: Path) -> None:
    assert clock_back(tmp_path, 3) == []


@pytest.mark.parametrize("which", ["out", "cache", "tmp"])
def test_a_full_disk_harms_nothing(tmp_path: Path, which: str) -> None:
    assert full_disk(tmp_path, which, range(8, 400, 180)) == []


def test_a_read_only_disk_harms_nothing(tmp_path: Path) -> None:
    assert read_only(tmp_path) == []
