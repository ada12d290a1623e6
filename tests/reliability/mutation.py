"""Mutation testing of ``lorepack/`` and the link resolver: are the tests able to fail?

``python -m tests.reliability.mutation [--sample 400]`` lets mutmut make all mutants of a copy of
the project in ``build/mutation``. Which tests reach which function is found by running them once;
a sample of the mutants then runs against those tests, each in a forked process of its own (mutmut's
own runner does not take the parameters of these tests). Mutants that live are listed.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).parents[2]
COPY = ROOT / "build" / "mutation"
STATISTICS = COPY / "statistics.json"
_PARTS = (
    "lorepack/lorepack", "builder/lorepack_builder", "server/lorepack_server", "site/lorepack_site",
    "templates/lorepack_templates",
)  # fmt: skip
_BESIDE = ("packs", "docs", "README.md", "action.yml", "lorepack", "builder", "site")
_TESTS = (
    "codewiki", "delta", "diff", "discover", "documents", "export", "format", "hygiene", "install",
    "model_refusals", "models", "old_formats", "properties", "pull", "pull_refusals", "refusals", "search", "code",
    "identifiers", "link_details", "manifest_details", "packfile_details", "vault_blocks", "vault_links", "verify",
)  # fmt: skip
"""Tests that reach what is mutated and are quick; those that start servers are not among them."""
_SLOW = ("every_flip", "agent_learns", "signed_packs_only", "prints_a_table", "real_wikis",
         "needs_nothing_installed", "member_is_set", "addresses_agents", "reaches_no_answer",
         "server_starts", "help_vaults_resolve", "without_a_delta")  # fmt: skip
_CONFTEST = """
import sys
sys.setrecursionlimit(4000)  # each function of a mutant is three

def pytest_make_parametrize_id(config, val, argname):
    import hashlib
    data = val.encode("utf-8", "surrogatepass") if isinstance(val, str) else None
    return None if data is None else "p" + hashlib.sha256(data).hexdigest()[:10]
"""
MOST_TESTS, MOST_SECONDS = 150, 8.0
"""Of the tests that reach a function, so many are run, for no longer than that."""
TIMEOUT_SECONDS = 120
_OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no", "--rootdir=.")
_NOT_RUN = (4, 5)
"""What pytest ends with where it was called wrongly, or found no test."""
_CONTROLS = 10


def lay_out() -> None:
    """Copy the project as mutmut wants it: packages in ``src``, and ``tests``."""
    shutil.rmtree(COPY, ignore_errors=True)
    ignore = shutil.ignore_patterns("__pycache__")
    for part in _PARTS:
        shutil.copytree(ROOT / part, COPY / "src" / Path(part).name, ignore=ignore)
    for name in (*_BESIDE, "tests"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        copy(ROOT / name, COPY / name)
    with (COPY / "tests" / "conftest.py").open("a") as file:
        file.write(_CONFTEST)
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (COPY / "shared").symlink_to(shared.resolve())
    (COPY / "tests" / "test_nothing.py").write_text("def test_nothing() -> None: ...\n")
    (COPY / "pyproject.toml").write_text(
        f"[tool.mutmut]\nsource_paths = ['src']\n"
        "only_mutate = ['src/lorepack/*', 'src/lorepack_builder/link/*']\n"
        f"also_copy = {json.dumps(_BESIDE)}\n"
        "pytest_add_cli_args_test_selection = ['tests/test_nothing.py']\n"
    )


def make_mutants() -> None:
    """Let mutmut make its mutants."""
    # It goes no further: its test reaches nothing.
    done = subprocess.run([sys.executable, "-m", "mutmut", "run"], cwd=COPY, check=False,
                          capture_output=True, text=True)  # fmt: skip
    if not mutants():
        raise SystemExit(f"mutmut failed:\n{done.stdout[-3000:]}")


class _Reach:
    """A plugin that notes how long each test that passes takes, and which functions it reaches."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.tests: dict[str, list[str]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        from mutmut.state import state

        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = report.duration
            for function in state()._stats:
                self.tests.setdefault(function, []).append(report.nodeid)
        if report.when == "teardown":
            state()._stats.clear()


def gather_statistics() -> None:
    """Run the tests once without a mutant, and write which function each of them reaches."""
    import pytest

    os.environ["MUTANT_UNDER_TEST"] = "stats"
    reach = _Reach()
    slow = " and ".join(f"not {name}" for name in _SLOW)
    files = [f"tests/test_{name}.py" for name in _TESTS]
    pytest.main([*_OPTIONS, "-k", slow, *files], plugins=[reach])
    breadths = Counter(chain.from_iterable(reach.tests.values()))
    facts = {"seconds": reach.seconds, "tests": reach.tests, "breadths": breadths}
    STATISTICS.write_text(json.dumps(facts))


def mutants() -> list[str]:
    """Return the names of all mutants."""
    return sorted(
        name
        for meta in (COPY / "mutants" / "src" / "lorepack").rglob("*.meta")
        for name in json.loads(meta.read_text())["exit_code_by_key"]
    )


def tests_of(mutant: str, stats: Mapping[str, Any]) -> list[str]:
    """Return tests that reach a mutant's function, within the limits.

    Those that reach the fewest functions come first: they are about it, and quick.
    """
    durations, breadths = stats["seconds"], stats["breadths"]
    reached = stats["tests"].get(mutant.rpartition("__mutmut_")[0], [])
    chosen: list[str] = []
    seconds = 0.0
    for test in sorted(reached, key=lambda test: (breadths[test], durations[test])):
        seconds += durations[test]
        if len(chosen) == MOST_TESTS or (chosen and seconds > MOST_SECONDS):
            break
        chosen.append(test)
    return chosen


class _Only:
    """A plugin that keeps the tests named."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = set(names)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.nodeid in self.names]


def _run_here(mutant: str, tests: Sequence[str]) -> int:
    import pytest

    os.environ["MUTANT_UNDER_TEST"] = mutant
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    signal.alarm(TIMEOUT_SECONDS)
    files = sorted({test.partition("::")[0] for test in tests})
    return int(pytest.main(["-x", *_OPTIONS, *files], plugins=[_Only(tests)]))


def run_all(
    names: Sequence[str], stats: Mapping[str, Any], *, mutated: bool = True
) -> Iterator[tuple[str, str]]:
    """Yield (mutant, killed | lives | no tests), one process a core.

    Args:
        mutated: else the same tests run without a mutant, and must find nothing to kill.
    """
    # What the tests import is imported once, for all processes.
    for name in _TESTS:
        importlib.import_module(f"tests.test_{name}")
    running: dict[int, str] = {}
    left = list(reversed(names))
    while left or running:
        while left and len(running) < (os.cpu_count() or 1):
            mutant = left.pop()
            tests = tests_of(mutant, stats)
            if not tests:
                yield mutant, "no tests"
                continue
            child = os.fork()
            if not child:
                os._exit(_run_here(mutant if mutated else "none", tests))
            running[child] = mutant
        if running:
            child, status = os.wait()
            if os.waitstatus_to_exitcode(status) in _NOT_RUN:
                raise SystemExit(f"the tests of {running[child]} do not run")
            yield running.pop(child), "lives" if status == 0 else "killed"


def _again(inside: str, *options: str) -> None:
    """Run this script where the copy's own modules are found first; end if it fails."""
    environment = {**os.environ, "PYTHONPATH": f"{COPY / 'mutants' / 'src'}:{ROOT}"}
    command = [sys.executable, "-m", "tests.reliability.mutation", "--inside", inside, *options]
    if status := subprocess.call(command, cwd=ROOT, env=environment):
        sys.exit(status)


def _enter_copy() -> None:
    os.chdir(COPY / "mutants")
    sys.path.insert(0, str(COPY / "mutants"))
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != ROOT]
    for name in [name for name in sys.modules if name == "tests" or name.startswith("tests.")]:
        del sys.modules[name]


@click.command()
@click.option("--sample", default=400, help="Mutants that are run; 0 runs all.")
@click.option("--seed", default=1)
@click.option("--only", default="", help="Part of the names of mutants to run.")
@click.option("--inside", type=click.Choice(["statistics", "sample"]), hidden=True)
@click.option("--keep", is_flag=True, help="Take the mutants that the last run made.")
def main(sample: int, seed: int, only: str, inside: str | None, keep: bool) -> None:
    """Run a sample of all mutants."""
    if inside is None:
        if not keep:
            lay_out()
            make_mutants()
            _again("statistics")
        _again("sample", "--sample", str(sample), "--seed", str(seed), "--only", only)
        return
    _enter_copy()
    if inside == "statistics":
        gather_statistics()
        return
    names = [name for name in mutants() if only in name]
    random.Random(seed).shuffle(names)
    stats = json.loads(STATISTICS.read_text())
    controls = run_all(names[:_CONTROLS], stats, mutated=False)
    if wrong := [name for name, outcome in controls if outcome == "killed"]:
        raise SystemExit(f"their tests fail without them: {wrong}")
    counts = Counter[str]()
    for mutant, outcome in run_all(names[: sample or None], stats):
        counts[outcome] += 1
        if outcome != "killed":
            print(f"{outcome}: {mutant}", flush=True)
        if counts.total() % 50 == 0:
            print(dict(counts), file=sys.stderr, flush=True)
    share = counts["killed"] / counts.total()
    print(f"{counts['killed']} of {counts.total()} killed ({share:.1%}); {dict(counts)}")


if __name__ == "__main__":
    main()
