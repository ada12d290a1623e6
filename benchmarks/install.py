"""Seconds and megabytes of an install into a fresh environment, from the locks.

``python benchmarks/install.py`` installs the base, and the extra ``build``, each twice by each
installer: what is shown is the quicker one, as the first also fetches. pip is brought up to date
first, as the one that comes with Python may be years old; the extra ``dev`` brings uv.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import tiny

ROOT = Path(__file__).parents[1]
_PIP_OWN = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "wheel")


def _pip(*options: str) -> Callable[[Path], Sequence[str]]:
    return lambda python: [str(python), "-m", "pip", "install", "--quiet", *options]


INSTALLERS: Mapping[str, Callable[[Path], Sequence[str]]] = {
    "uv": lambda python: ["uv", "pip", "install", "--quiet", "--python", str(python)],
    "pip --no-compile": _pip("--no-compile"),
    "pip": _pip(),
}


def install(lock: str, installer: str) -> tuple[float, float]:
    """Return seconds, and megabytes of all that was installed."""
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True)
        python = Path(scratch) / "bin" / "python"
        _run(_pip("--upgrade", "pip")(python))
        command = INSTALLERS[installer](python)
        begin = time.perf_counter()
        _run([*command, "--require-hashes", "-r", str(ROOT / "locks" / f"{lock}.txt")])
        _run([*command, "--no-deps", str(ROOT)])
        seconds = time.perf_counter() - begin
        (packages,) = Path(scratch).glob("lib/*/site-packages")
        own = [path for path in packages.iterdir() if not path.name.startswith(_PIP_OWN)]
        files = [file for path in own for file in ([path] if path.is_file() else path.rglob("*"))]
        return seconds, sum(file.lstat().st_size for file in files if file.is_file()) / 1e6


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def main() -> None:
    """Print a table."""
    print("| installed | by | seconds | MB |\n|---|---|---|---|")
    for lock, name in tiny.of(
        (("base", "lorepack"), ("build", "lorepack[build]")), (("base", "lorepack"),)
    ):
        for installer in tiny.of(list(INSTALLERS), ["uv"]):
            seconds, megabytes = min(install(lock, installer) for _ in range(tiny.of(2, 1)))
            print(f"| {name} | {installer} | {seconds:.1f} | {megabytes:.0f} |", flush=True)


if __name__ == "__main__":
    main()
