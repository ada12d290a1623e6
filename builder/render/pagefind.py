"""Pagefind's index of the written site."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pagefind_bin import get_executable

from lorepack.packfile.errors import LorepackError


def index_site(folder: Path) -> None:
    """Write ``pagefind/`` into the site at ``folder``. Raises `LorepackError` when it fails."""
    command = [
        str(get_executable()),
        "--site", str(folder),
        "--force-language", "en",
        "--quiet",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problem = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise LorepackError(f"Pagefind failed ({problem[0]})", "reinstall pagefind-bin")
