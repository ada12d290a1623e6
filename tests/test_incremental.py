"""Building again: what did not change is neither read anew nor written anew; and watching."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from lorepack_builder.result import Summary
from tests.conftest import LOREPACK, serve, write_files, write_recipe

VAULT = {"Home.md": "# Home\n\nSee [[Other]].\n", "Other.md": "Intro.\n\n## Part\n\nText.\n",
         "Third.md": "#tag and `code_here`\n\n```mermaid\ngraph TD\nA-->B\n```\n", "code.py": "x = 1\n"}  # fmt: skip


@pytest.fixture
def rebuild(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Summary]:
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "cache"))
    write_files(tmp_path / "vault", VAULT)

    def build(**options: bool) -> Summary:
        recipe = read_recipe(write_recipe(tmp_path, tmp_path / "vault"))
        return build_pack(recipe, tmp_path / "out", **options)[0]  # type: ignore[arg-type]

    return build


def test_no_change_leaves_the_pack_alone(rebuild: Callable[..., Summary]) -> None:
    first = rebuild()
    about = Path(first.pack).stat()
    again = rebuild()
    assert (first.unchanged, again.unchanged, again.digest) == (False, True, first.digest)
    assert (again.pages, again.findings) == (first.pages, first.findings)
    assert Path(first.pack).stat() == about


def test_forced_it_makes_the_same_bytes_and_parses_nothing(rebuild: Callable[..., Summary]) -> None:
    first = rebuild()
    before = Path(first.pack).read_bytes()
    again = rebuild(force=True)
    assert (first.parsed, again.parsed, again.unchanged) == (3, 0, False)
    assert Path(again.pack).read_bytes() == before


def test_a_changed_page_is_all_that_is_parsed(
    tmp_path: Path, rebuild: Callable[..., Summary]
) -> None:
    rebuild()
    (tmp_path / "vault" / "Other.md").write_text("Another.\n")
    changed = rebuild()
    assert (changed.parsed, changed.unchanged) == (1, False)
    fresh = rebuild(force=True)
    assert fresh.digest == changed.digest


@pytest.mark.parametrize("change", ["new page", "gone page", "recipe", "attachment", "pack gone",
                                    "pack cut", "option"])  # fmt: skip
def test_every_change_is_noticed(
    tmp_path: Path, rebuild: Callable[..., Summary], change: str
) -> None:
    first = rebuild()
    vault, pack = tmp_path / "vault", Path(first.pack)
    options = {}
    if change == "new page":
        (vault / "New.md").write_text("new")
    elif change == "gone page":
        (vault / "Third.md").unlink()
    elif change == "recipe":
        write_recipe(tmp_path, vault, extra='licence = "MIT"')
        summary, _ = build_pack(read_recipe(tmp_path / "recipe.toml"), tmp_path / "out")
        assert not summary.unchanged
        return
    elif change == "attachment":
        (vault / "code.py").write_text("y = 2\n")
    elif change == "pack gone":
        pack.unlink()
    elif change == "pack cut":
        pack.write_bytes(pack.read_bytes()[:-4096])
    else:
        options = {"site": False}
    assert not rebuild(**options).unchanged
    assert rebuild(**options).unchanged


@pytest.mark.parametrize("junk", [b"", b"junk", b"SQLite format 3\0junk"])
def test_a_broken_cache_is_no_fault(
    tmp_path: Path, rebuild: Callable[..., Summary], junk: bytes
) -> None:
    first = rebuild()
    for file in (p for p in (tmp_path / "cache").rglob("*") if p.is_file()):
        if file.parent.name in ("parsed", "builds", "site"):
            file.write_bytes(junk)
    again = rebuild()
    assert (again.unchanged, again.parsed, again.digest) == (False, 3, first.digest)


def test_the_command_says_that_nothing_changed(tmp_path: Path) -> None:
    vault = write_files(tmp_path / "vault", VAULT)
    command = [
        str(LOREPACK),
        "build",
        str(write_recipe(tmp_path, vault)),
        "--out",
        str(tmp_path / "out"),
    ]
    environment = {**os.environ, "LOREPACK_CACHE": str(tmp_path / "cache")}
    run = [
        subprocess.run(
            [*command, *more], env=environment, capture_output=True, text=True, check=True
        )
        for more in ([], [], ["--json"], ["--force"])
    ]
    assert run[1].stdout.startswith("unchanged   ")
    assert json.loads(run[2].stdout)["unchanged"] is True
    assert run[3].stdout.splitlines()[-1] == run[0].stdout.splitlines()[-1]


def test_watching_builds_again_and_a_server_swaps_it_in(tmp_path: Path) -> None:
    import httpx

    vault = write_files(tmp_path / "vault", VAULT)
    recipe, out = write_recipe(tmp_path, vault), tmp_path / "out"
    environment = {**os.environ, "LOREPACK_CACHE": str(tmp_path / "cache")}
    watcher = subprocess.Popen(
        [str(LOREPACK), "build", str(recipe), "--out", str(out), "--watch", "--json"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # A shell that starts tests in the background has it ignored.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )  # fmt: skip
    try:
        assert watcher.stdout and watcher.stderr
        first = json.loads(watcher.stdout.readline())
        with serve(out) as address:
            page = f"{address}/site/test/v/fresh/"
            assert httpx.get(page).status_code == 404
            for number in range(3):
                (vault / "Fresh.md").write_text(f"Fresh {number}.\n")
            second = json.loads(watcher.stdout.readline())
            assert (second["pages"], second["digest"] != first["digest"]) == (4, True)
            deadline = time.monotonic() + 20
            while httpx.get(page).status_code != 200 and time.monotonic() < deadline:
                time.sleep(0.2)
            assert "Fresh 2." in httpx.get(page).text
        good = recipe.read_text()
        recipe.write_text("[pack\n")
        assert "is not valid TOML" in watcher.stderr.readline()
        recipe.write_text(good.replace("Test pack", "New title"))
        assert json.loads(watcher.stdout.readline())["pages"] == 4
    finally:
        watcher.send_signal(signal.SIGINT)
        watcher.wait(30)
    assert watcher.returncode in (0, 1, -signal.SIGINT)
