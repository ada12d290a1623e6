"""Every benchmark runs, at a tiny size: a figure that no one can measure again is worth nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import DATA, ROOT, Built

pytestmark = pytest.mark.slow

BENCHMARKS = ROOT / "benchmarks"
ARGUMENTS: dict[str, list[list[str]]] = {
    "delta": [["PACK", "PACK"]], "embed": [[]], "install": [[]], "links": [["SANDBOX"]],
    "parse": [[]], "quality": [["xquad"], ["mixed"], ["help"], ["cranfield"]],
    "query": [["1000"]], "rebuild": [["20"]], "scale": [["20", "40"]], "serve": [["1000", "60"]],
    "site": [["5"]], "spread": [["SANDBOX"]], "start": [["PACK", "--times", "1"]],
    "tokens": [["PACK"]], "upkeep": [[]], "vectors": [[]],
}  # fmt: skip
_HELPERS = {"synthetic", "tiny"}
_OWN_DATA = {"delta", "install", "rebuild", "scale", "site", "start", "tokens"}


def test_every_benchmark_is_run() -> None:
    assert {path.stem for path in BENCHMARKS.glob("*.py")} - _HELPERS == set(ARGUMENTS)


@pytest.mark.parametrize(
    ("name", "arguments"), [(name, one) for name, runs in ARGUMENTS.items() for one in runs]
)
def test_a_benchmark_runs(
    name: str, arguments: list[str], demo_pack: Path, build: Callable[..., Built]
) -> None:
    if name not in _OWN_DATA and not DATA.is_dir():
        pytest.skip("the corpora are not here")
    places = {"PACK": str(demo_pack), "SANDBOX": str(DATA / "vaults" / "obsidian-sandbox")}
    command = [
        sys.executable,
        str(BENCHMARKS / f"{name}.py"),
        *(places.get(a, a) for a in arguments),
    ]
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "LOREPACK_BENCHMARK_TINY": "1", "PATH": programs}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400,
                         check=False)  # fmt: skip
    assert run.returncode == 0, run.stdout[-1500:] + run.stderr[-3000:]
    assert any(sign.isdigit() for sign in run.stdout), run.stdout
