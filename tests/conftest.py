"""Shared fixtures: corpora, small vaults, built packs, a browser."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lorepack.cli import cli
from lorepack.errors import LorepackError
from lorepack_builder.build import build_pack
from lorepack_builder.model import Finding
from lorepack_builder.recipe import read_recipe
from lorepack_builder.result import Summary
from lorepack_server.packs.mount import Mount, mount_pack
from tests.shelf import shelf

__all__ = ["shelf"]
ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
LOREPACK = Path(sys.executable).with_name("lorepack")

Files = Mapping[str, str | bytes]


def write_files(folder: Path, files: Files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def write_recipe(folder: Path, vault: Path, *, model: str = "none", extra: str = "") -> Path:
    recipe = folder / "recipe.toml"
    recipe.write_text(
        f'[pack]\nname = "test"\nversion = "1.0.0"\ntitle = "Test pack"\n'
        f'[[source]]\nname = "v"\nkind = "vault"\npath = "{vault}"\n{extra}\n'
        f'[embed]\nmodel = "{model}"\n'
    )
    return recipe


class Built:
    """A pack built from a few files, with what the build said."""

    def __init__(self, summary: Summary, findings: list[Finding]) -> None:
        self.path = Path(summary.pack)
        self.summary = summary
        self.findings = findings

    def mount(self) -> Mount:
        return mount_pack(self.path)

    def rules(self) -> list[str]:
        return [finding.rule for finding in self.findings]


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs and instance files of every server that the tests start."""
    folder = tmp_path_factory.mktemp("state")
    os.environ["XDG_STATE_HOME"] = str(folder)
    return folder / "lorepack"


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Built]:
    """Build a vault from a mapping of names to contents; words only unless told otherwise."""

    def build_files(files: Files, *, version: str = "1.0.0", **recipe: str) -> Built:
        vault = write_files(tmp_path / "vault", files)
        written = write_recipe(tmp_path, vault, **recipe)
        written.write_text(written.read_text().replace('"1.0.0"', f'"{version}"'))
        return Built(*build_pack(read_recipe(written), tmp_path / "out"))

    return build_files


@pytest.fixture(scope="session")
def demo_pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The README's demo pack, with the real model."""
    out = tmp_path_factory.mktemp("demo")
    summary, _ = build_pack(read_recipe(ROOT / "packs" / "demo.toml"), out)
    return Path(summary.pack)


@pytest.fixture(scope="session")
def corpora() -> Path:
    if not DATA.is_dir():
        pytest.skip("the corpora are not here")
    return DATA


@pytest.fixture(scope="session")
def help_pack(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Obsidian's English help vault, with the real model."""
    out = tmp_path_factory.mktemp("help")
    recipe = write_recipe(
        out, corpora / "vaults" / "obsidian-help-en", model="multilingual-e5-small"
    )
    return Built(*build_pack(read_recipe(recipe), out))


@pytest.fixture(scope="session")
def three_languages(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Obsidian's help vault in English, Turkish and Chinese, in one pack; words only."""
    out = tmp_path_factory.mktemp("three")
    recipe = out / "three.toml"
    sources = "".join(
        f'[[source]]\nname = "{lang}"\nkind = "vault"\nlang = "{lang}"\n'
        f'path = "{corpora / "vaults" / f"obsidian-help-{lang}"}"\n'
        for lang in ("en", "tr", "zh")
    )
    pack = '[pack]\nname = "three"\nversion = "1.0.0"\n[embed]\nmodel = "none"\n'
    recipe.write_text(pack + sources)
    return Built(*build_pack(read_recipe(recipe), out))


@pytest.fixture(scope="session")
def demo_server(demo_pack: Path) -> Iterator[str]:
    """The address of a real server process that serves the demo pack."""
    with serve(demo_pack) as address:
        yield address


class serve:
    """Run ``lorepack serve`` on a free port while the block lasts; gives its address."""

    def __init__(self, *packs: Path, options: Sequence[str] = (), log: Path | None = None) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [str(LOREPACK), "serve", *map(str, packs), "--port", str(self.port), *options]
        self.log = log.open("w") if log else subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def __enter__(self) -> str:
        address = f"http://127.0.0.1:{self.port}"
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{address}/healthz", timeout=1).close()
                return address
            except OSError:
                time.sleep(0.1)
        self.process.kill()
        raise RuntimeError("the server did not start")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(10)
        assert self.process.stdout
        self.process.stdout.close()
        if not isinstance(self.log, int):
            self.log.close()


def run(*arguments: str | Path) -> str:
    """What a command prints that ends well, in this process."""
    done = CliRunner().invoke(cli, [str(a) for a in arguments], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.output


def told(call: Callable[..., Any], *given: Any) -> str:
    """The whole text of the error that a call ends with."""
    with pytest.raises(LorepackError) as caught:
        call(*given)
    return str(caught.value)


def errors_of(page: Any) -> list[str]:
    """A list that grows with every error in the console of a browser page."""
    found: list[str] = []
    page.on("console", lambda m: found.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Debian's Chromium, headless."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        opened = driver.chromium.launch(executable_path=chromium, args=arguments)
        yield opened
        opened.close()
