"""Builds spread over Dask's workers: the same bytes, also when workers are lost on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from distributed import Client

from lorepack.cli import cli
from lorepack.errors import LorepackError
from lorepack_builder.engine.dask import DaskEngine, dask_engine
from tests.conftest import LOREPACK, write_files

PAGES = {
    f"{n // 20}/Page {n}.md": f"# Page {n}\n\nAbout [[Page {n // 2}]].\n\n![[Page {n // 3}]]\n\n"
    f"Passage {n % 30} of a text that is embedded, in words and in code: `run_{n}`.\n"
    for n in range(120)
}


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    write_files(tmp_path / "vault", PAGES)
    write_files(tmp_path / "code", {"a.py": "def run_1():\n    '''Run.'''\n"})
    text = (
        '[pack]\nname = "spread"\nversion = "1"\n'
        '[[source]]\nname = "v"\nkind = "vault"\npath = "vault"\n'
        '[[source]]\nname = "c"\nkind = "folder"\npath = "code"\n'
    )
    (tmp_path / "recipe.toml").write_text(text)
    return tmp_path / "recipe.toml"


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """A scheduler, and two workers of one thread in folders and caches of their own."""
    facts = tmp_path / "scheduler.json"
    started = [
        start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            facts,
        )
    ]
    deadline = time.monotonic() + 60
    while not facts.exists() or not facts.read_text():
        assert time.monotonic() < deadline and started[0].poll() is None
        time.sleep(0.05)
    address = str(json.loads(facts.read_text())["address"])
    started += [worker(tmp_path, address, n) for n in range(2)]
    with Client(address, timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
    yield address
    for process in started:
        process.kill()
        process.wait()


def start(kind: str, *options: str | Path, **environment: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *map(str, options)]
    return subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


def worker(folder: Path, address: str, number: int) -> subprocess.Popen[bytes]:
    return start("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                 "--name", str(number), "--local-directory", folder / f"w{number}")  # fmt: skip


def build(recipe: Path, name: str, *options: str) -> tuple[Path, str]:
    """Build with a cache of its own, so that all is done anew; return pack and stderr."""
    folder = recipe.parent / name
    command = [str(LOREPACK), "build", str(recipe), "--out", str(folder), *options]
    built = subprocess.run(
        command, env={**os.environ, "XDG_CACHE_HOME": str(recipe.parent / f"cache-{name}")},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert "Traceback" not in built.stderr
    return folder / "spread-1.lorepack", built.stderr


@pytest.fixture
def local(recipe: Path) -> bytes:
    return build(recipe, "local")[0].read_bytes()


def test_a_cluster_of_this_machine_makes_the_same_bytes(recipe: Path, local: bytes) -> None:
    options = ("--engine", "dask", "--workers", "2", "--worker-memory", "2GiB")
    assert build(recipe, "dask", *options)[0].read_bytes() == local


@pytest.mark.slow
def test_a_worker_that_is_lost_costs_time_only(
    recipe: Path, local: bytes, scheduler: str, tmp_path: Path
) -> None:
    with Client(scheduler, timeout=60) as client:
        victim = next(iter(client.run(os.getpid).values()))
        command = [str(LOREPACK), "build", str(recipe), "--out", str(tmp_path / "lost"),
                   "--engine", "dask", "--scheduler", scheduler]  # fmt: skip
        building = subprocess.Popen(
            command, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache-lost")},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        # Killed while it works, wherever the build is by then.
        while not any(client.processing().values()):
            assert building.poll() is None
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)
        told, _ = building.communicate(timeout=300)
        assert building.returncode == 0, told
        assert len(client.scheduler_info()["workers"]) == 1
    assert (tmp_path / "lost" / "spread-1.lorepack").read_bytes() == local


def _square(number: int) -> int:
    return number * number


def _die(number: int) -> int:
    if number == 3:
        os._exit(1)
    return number


def test_batches_are_taken_as_they_are_worked_off_and_come_in_order() -> None:
    taken = 0

    def numbers() -> Iterator[int]:
        nonlocal taken
        for number in range(50):
            taken += 1
            yield number

    with dask_engine("", 2, "1GiB") as engine:
        for count, square in enumerate(engine.spread(_square, numbers())):
            assert square == count * count and taken - count <= 2 * engine.places + 2
        with pytest.raises(LorepackError, match="each was lost"):
            list(engine.spread(_die, range(5)))
        # What one batch did does not spoil the next.
        assert list(engine.spread(_square, range(3))) == [0, 1, 4]


def test_a_worker_with_another_lorepack_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with dask_engine("", 1, "1GiB") as engine:
        monkeypatch.setattr("lorepack_builder.engine.dask.code_digest", lambda: "another")
        with pytest.raises(LorepackError, match="another Lorepack"):
            list(engine.spread(_square, [1]))
        assert isinstance(engine, DaskEngine)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"], "does not answer"),
        (["--engine", "dask", "--scheduler", "nonsense://"], "does not answer"),
        (["--engine", "dask", "--worker-memory", "much"], "cannot be started"),
        (["--workers", "2"], "add --engine dask"),
    ],
)
def test_what_cannot_be_had(
    recipe: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], says: str
) -> None:
    monkeypatch.setattr("lorepack_builder.engine.dask._CONNECT_SECONDS", 1)
    done = CliRunner().invoke(cli, ["build", str(recipe), *options])
    assert isinstance(done.exception, LorepackError) and says in str(done.exception)
