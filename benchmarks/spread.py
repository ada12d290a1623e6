"""What two workers of Dask gain over one: seconds by stage, and memory of the largest worker.

``python benchmarks/spread.py VAULT`` builds it with the real model and the site, each time from an
empty cache (but for the converted model), by this machine's own processes, by one worker, by two.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter
from typing import Any

from lorepack.models.convert import cache_dir
from lorepack_builder.build import build_pack
from lorepack_builder.engine.dask import dask_engine
from lorepack_builder.engine.local import LOCAL
from lorepack_builder.recipe import read_recipe

STAGES = ("parse", "embed", "render")


def peak() -> float:
    """Return the most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def measure(recipe: Path, folder: Path, models: Path, workers: int) -> dict[str, Any]:
    cache = folder / f"cache{workers}"
    shutil.copytree(models, cache / "models")
    os.environ["LOREPACK_CACHE"] = str(cache)
    opened = dask_engine("", workers, "4GiB") if workers else nullcontext(LOCAL)
    with opened as engine:
        begin = perf_counter()
        summary, _ = build_pack(read_recipe(recipe), folder / f"out{workers}", engine=engine)
        seconds = perf_counter() - begin
        largest = max(engine.client.run(peak).values()) if workers else peak()
    return {"digest": summary.digest, "build": seconds, "MB": largest,
            **{stage: summary.seconds[stage] for stage in STAGES}}  # fmt: skip


def main() -> None:
    vault, models = Path(sys.argv[1]).absolute(), cache_dir() / "models"
    with tempfile.TemporaryDirectory() as scratch:
        recipe = Path(scratch) / "r.toml"
        recipe.write_text(
            f'[pack]\nname="r"\nversion="1"\n[[source]]\nname="v"\nkind="vault"\npath="{vault}"\n'
        )
        found = {n: measure(recipe, Path(scratch), models, n) for n in (0, 1, 2)}
    assert len({one["digest"] for one in found.values()}) == 1
    print("| figure | local | 1 worker | 2 workers | 2 against 1 |\n|---|---|---|---|---|")
    for name in (*STAGES, "build", "MB"):
        local, one, two = (found[n][name] for n in (0, 1, 2))
        print(f"| {name} | {local:.1f} | {one:.1f} | {two:.1f} | {one / two:.2f} |")


if __name__ == "__main__":
    main()
