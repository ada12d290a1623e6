"""Fuzz every parser with atheris (libFuzzer), which goes where an input reaches new code.

``python -m tests.reliability.fuzz [--runs 1000000] [TARGET …]`` shares that many inputs out among
the parsers, two at a time, and prints a table. An input that raises, takes more than a second of
the processor or lets the process grow beyond 500 MB ends its parser's run and is kept in
``build/fuzz/<target>/``; mended, it belongs in ``tests/fixtures/fuzz/<target>/``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from tests.reliability.process import peak_memory

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "tests" / "fixtures" / "fuzz"
FOUND = ROOT / "build" / "fuzz"
_IN_MEMORY = "/dev/shm"  # noqa: S108
MAX_SECONDS = 1.0
MAX_MEMORY = 500_000_000
"""Bytes of the whole process, Python and what the parsers import included."""
MAX_LENGTH = 4096
"""Bytes of an input."""
_DONE = re.compile(r"Done (\d+) runs in")
_PEAK = re.compile(r"stat::peak_rss_mb:\s+(\d+)")


def checked(run: Callable[[bytes], object], data: bytes) -> float:
    """Run a parser once; return the seconds of the processor that it took.

    Raises:
        AssertionError: it took too long, or too much memory.
    """
    before, begin = peak_memory(), time.process_time()
    run(data)
    took = time.process_time() - begin
    assert took < MAX_SECONDS, f"took {took:.1f} s"
    # A process that runs all tests may have been that large before.
    peak = peak_memory()
    assert peak < max(MAX_MEMORY, before + 1), f"took {peak / 1e6:.0f} MB"
    return took


def fuzz(name: str, runs: int) -> str:
    """Fuzz one parser in a process of its own; return a row of the table, or what was found."""
    folder = FOUND / name
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.reliability.fuzz", "--child", "--runs", str(runs), name]
    begin = time.monotonic()
    # libFuzzer ends its process without cleaning up, so that its files are to lie in here.
    with tempfile.TemporaryDirectory(
        dir=_IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    ) as own:
        ended = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False,
            env={**os.environ, "TMPDIR": own},
        )  # fmt: skip
    said = ended.stdout + ended.stderr
    (folder / "log").write_text(said)
    done, peak = _DONE.search(said), _PEAK.search(said)
    if ended.returncode or not done or not peak:
        return f"{name}: FAULT, see {folder / 'log'}"
    took, slowest = time.monotonic() - begin, float((folder / "slowest").read_text())
    return f"| {name} | {int(done[1]):,} | {took:.0f} s | {slowest * 1000:.0f} ms | {peak[1]} MB |"


def _fuzz_here(name: str, runs: int) -> None:
    import atheris

    with atheris.instrument_imports(include=["lorepack_builder", "lorepack"]):
        from tests.reliability.targets import TARGETS
    target = TARGETS[name]
    folder = FOUND / name
    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    words = folder / "words"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words or ("{", "\0")))
    slowest = 0.0

    def once(data: bytes) -> None:
        nonlocal slowest
        took = checked(target.run, data)
        if took > slowest:
            # Written at once: libFuzzer ends the process without a word to Python.
            slowest = took
            (folder / "slowest").write_text(str(took))

    kept = [str(KEPT / name)] if (KEPT / name).is_dir() else []
    options = [f"-runs={runs}", "-timeout=30", "-rss_limit_mb=0", f"-max_len={MAX_LENGTH}", "-seed=1",
               "-len_control=0", "-print_final_stats=1", f"-dict={words}",
               f"-artifact_prefix={folder}/"]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus), *kept], once)
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


@click.command()
@click.option("--runs", default=1_000_000, help="Inputs in all.")
@click.option("--child", is_flag=True, hidden=True)
@click.argument("names", nargs=-1, metavar="[TARGET]…")
def main(runs: int, child: bool, names: Sequence[str]) -> None:
    """Fuzz the parsers named, or all."""
    if child:
        _fuzz_here(names[0], runs)
        return
    from tests.reliability.targets import TARGETS

    wanted = names or list(TARGETS)
    shares = sum(TARGETS[name].share for name in wanted)
    print("| parser | inputs | time | slowest | memory |\n|---|---|---|---|---|")
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        rows = []
        for row in threads.map(
            lambda name: fuzz(name, -(-runs * TARGETS[name].share // shares)), wanted
        ):
            print(row, flush=True)
            rows.append(row)
    sys.exit(any("FAULT" in row for row in rows))


if __name__ == "__main__":
    main()
