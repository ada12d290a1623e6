"""Seconds and megabytes of an install into a fresh environment, from the locks.

``python benchmarks/install.py`` installs the base, and the extra ``build``, each twice: what is
shown is the quicker one, as the first also fetches.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
_PIP_OWN = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "wheel")


def install(lock: str) -> tuple[float, float]:
    """Return seconds, and megabytes of all that was installed, bytecode included."""
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True)
        pip = [str(Path(scratch) / "bin" / "pip"), "install", "--quiet"]
        begin = time.perf_counter()
        subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "locks" / f"{lock}.txt")],
                       check=True, capture_output=True)  # fmt: skip
        subprocess.run([*pip, "--no-deps", str(ROOT)], check=True, capture_output=True)
        seconds = time.perf_counter() - begin
        (packages,) = Path(scratch).glob("lib/*/site-packages")
        own = [path for path in packages.iterdir() if not path.name.startswith(_PIP_OWN)]
        files = [file for path in own for file in ([path] if path.is_file() else path.rglob("*"))]
        return seconds, sum(file.lstat().st_size for file in files if file.is_file()) / 1e6


def main() -> None:
    """Print a table."""
    print("| installed | seconds | MB |\n|---|---|---|")
    for lock, name in (("base", "lorepack"), ("build", "lorepack[build]")):
        seconds, megabytes = min(install(lock), install(lock))
        print(f"| {name} | {seconds:.1f} | {megabytes:.0f} |")


if __name__ == "__main__":
    main()
