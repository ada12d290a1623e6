"""What building again costs: nothing changed, and one page of many; each as a whole command.

python benchmarks/rebuild.py [PAGES]      default: 5000
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from parse import synthetic

LOREPACK = Path(sys.executable).with_name("lorepack")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        vault = synthetic(folder / "vault", count)
        recipe = folder / "r.toml"
        recipe.write_text(
            f'[pack]\nname="r"\nversion="1"\n[[source]]\nname="v"\nkind="vault"\npath="{vault}"\n'
            '[embed]\nmodel="none"\n'
        )
        os.environ["LOREPACK_CACHE"] = str(folder / "cache")
        command = [str(LOREPACK), "build", str(recipe), "--out", str(folder / "out"), "--no-site"]
        print(f"{count} pages, without the site and without a model")
        print(f"first build           {_run(command):6.2f} s")
        for _ in range(3):
            print(f"nothing changed       {_run(command):6.2f} s")
        page = next(iter(sorted(vault.rglob("*.md"))))
        page.write_text(page.read_text() + "\nchanged\n")
        print(f"one page changed      {_run(command):6.2f} s")


def _run(command: list[str]) -> float:
    begin = perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return perf_counter() - begin


if __name__ == "__main__":
    main()
