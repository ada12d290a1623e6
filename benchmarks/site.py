"""What a site costs: time a page, bytes around its text, one changed page, frames of the graph.

python benchmarks/site.py [PAGES …]      default: 100 1000 10000
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any

import tiny
from parse import synthetic

from lorepack_builder.build import build_pack, build_site
from lorepack_builder.recipe import read_recipe
from lorepack_builder.render import batch
from lorepack_builder.render.model import SitePage

CHANGED_OF = tiny.of(5_000, 30)
FRAMES = 60

_spent = {"mkdocs": 0.0, "bytes": 0, "pages": 0}
_mkdocs = batch.build_site


def timed_mkdocs(pages: Any, theme: Any, body: Any) -> dict[str, bytes]:
    """Run mkdocs, and note its time without that of making the pages' HTML."""
    inside = 0.0

    def timed_body(page: SitePage) -> str:
        nonlocal inside
        begin = perf_counter()
        html = str(body(page))
        inside += perf_counter() - begin
        _spent["bytes"] -= len(html.encode())
        return html

    begin = perf_counter()
    files = _mkdocs(pages, theme, timed_body)
    _spent["mkdocs"] += perf_counter() - begin - inside
    html = [data for name, data in files.items() if name.endswith("index.html")]
    _spent["bytes"] += sum(map(len, html))
    _spent["pages"] += len(html)
    return files


def write_recipe(folder: Path, vault: Path) -> Path:
    recipe = folder / "site.toml"
    recipe.write_text(
        '[pack]\nname = "site"\nversion = "1.0.0"\n[embed]\nmodel = "none"\n'
        f'[[source]]\nname = "v"\nkind = "vault"\npath = "{vault}"\n'
    )
    return recipe


def measure(pages: int, folder: Path) -> None:
    vault = synthetic(folder / "vault", pages)
    _spent.update(mkdocs=0.0, bytes=0, pages=0)
    summary, _ = build_pack(read_recipe(write_recipe(folder, vault)), folder / "out")
    seconds = summary.seconds
    own = seconds["render"] - _spent["mkdocs"]
    with closing(sqlite3.connect(summary.pack)) as pack:
        (stored,) = pack.execute("SELECT sum(length(data)) FROM sqlar").fetchone()
    theirs = _spent["mkdocs"] * 1000 / pages
    print(
        f"{pages} pages: {own * 1000 / pages:.1f} ms a page beside mkdocs' {theirs:.1f}; "
        f"search {seconds['search'] * 1000 / pages:.1f}; "
        f"{_spent['bytes'] / _spent['pages'] / 1000:.1f} kB of HTML around a page's own; "
        f"site {stored / pages / 1000:.1f} kB a page in the pack"
    )


def change_one(folder: Path) -> None:
    vault = synthetic(folder / "vault", CHANGED_OF)
    recipe = read_recipe(write_recipe(folder, vault))
    first = build_pack(recipe, folder / "out")[0].seconds
    page = vault / "area 7" / "Note 7.md"
    page.write_text(page.read_text().replace("A few words", "Other words"))
    again = build_pack(recipe, folder / "out")[0].seconds
    for name, seconds in (("first build", first), ("one page changed", again)):
        print(
            f"{CHANGED_OF} pages, {name}: " + ", ".join(f"{k} {v:.1f}" for k, v in seconds.items())
        )
    build_site(recipe, folder / "out")


def frames(site: Path) -> None:
    """Draw the graph while it is dragged, in headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        begin = perf_counter()
        page.goto((site / "graph" / "index.html").as_uri())
        page.locator(".lore-graph canvas[data-drawn]").wait_for()
        shown = perf_counter() - begin
        box = page.locator(".lore-graph canvas").bounding_box()
        page.evaluate(
            "() => { window.times = []; let last = performance.now(); (function tick() {"
            " const now = performance.now(); times.push(now - last); last = now;"
            " requestAnimationFrame(tick); })(); }"
        )
        page.mouse.move(box["x"] + 300, box["y"] + 200)
        page.mouse.down()
        for step in range(FRAMES):
            page.mouse.move(box["x"] + 300 + 2 * step, box["y"] + 200 + step)
            page.wait_for_timeout(16)
        page.mouse.up()
        times = sorted(page.evaluate("times.slice(2)"))
        print(
            f"graph of {page.locator('canvas').get_attribute('data-drawn')} pages: shown after "
            f"{shown:.1f} s; frames while dragged: median {times[len(times) // 2]:.0f} ms, "
            f"95 % {times[int(len(times) * 0.95)]:.0f} ms"
        )
        browser.close()


def main(sizes: list[int]) -> None:
    batch.build_site = timed_mkdocs
    for pages in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            measure(pages, Path(scratch))
    with tempfile.TemporaryDirectory() as scratch:
        change_one(Path(scratch))
        frames(Path(scratch) / "out" / "site-1.0.0-site")


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [100, 1_000, 10_000])
