"""The wheel in a clean environment does the main job."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

FOLDERS = ("builder", "packfile", "server", "site", "templates")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_the_wheel_holds_one_top_level_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"lorepack"}


def test_the_wheel_holds_every_module_and_data_file(wheel: Path) -> None:
    """A folder that pyproject.toml forgets would be missing only after an install."""
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert tracked
    assert [path for path in tracked if f"lorepack/{path}" not in names] == []


def test_the_wheel_does_the_main_job(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    bin_folder = tmp_path / "venv" / "bin"
    subprocess.run([bin_folder / "pip", "install", "--quiet", str(wheel)], check=True)
    code = (
        "import lorepack.builder, lorepack.server, lorepack.packfile; from importlib.resources "
        "import files; print((files('lorepack.templates') / 'mkdocs.yml').is_file() and "
        "(files('lorepack.site') / 'theme' / 'main.html').is_file())"
    )
    found = subprocess.run(
        [bin_folder / "python", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "True\n"
    recipe = ROOT / "packs" / "demo.toml"
    subprocess.run(
        [bin_folder / "lorepack", "build", str(recipe), "--out", "out"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    pack = tmp_path / "out" / "demo-1.0.0.lorepack"
    subprocess.run([bin_folder / "lorepack", "verify", str(pack)], check=True, capture_output=True)
    answer = subprocess.run(
        [bin_folder / "lorepack", "search", str(pack), "paket nedir?", "-k", "1"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "degraded" not in answer.stdout and "1. " in answer.stdout
