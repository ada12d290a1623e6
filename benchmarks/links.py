"""How many links come back as suggestions after they were taken out of real vaults.

``python benchmarks/links.py [VAULT …]`` (all vaults of the corpora without one) takes 200 links at
random out of each, leaving their words in the text, compiles the vault with the default model, and
looks for each link's target among the suggestions of its page.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from lorepack_builder.compile import Compiled, compile_sources
from lorepack_builder.engine.local import LOCAL
from lorepack_builder.link.outgoing import outgoing
from lorepack_builder.recipe import read_recipe
from lorepack_builder.stages import Clock, acquire_sources

VAULTS = Path(__file__).parents[2] / "shared" / "data" / "vaults"
REMOVED = 200
RECIPE = """
[pack]
name = "links"
version = "1"
[[source]]
name = "v"
kind = "vault"
path = "{vault}"
[embed]
model = "{model}"
"""

Removed = tuple[str, str, str]
"""A page, a page that it linked to, and the words that stayed."""


def compile_vault(vault: Path, folder: Path, model: str) -> tuple[Compiled, Clock]:
    recipe = folder / "recipe.toml"
    recipe.write_text(RECIPE.format(vault=vault, model=model))
    read, clock = read_recipe(recipe), Clock(lambda *_: None)
    scratch = Path(tempfile.mkdtemp(dir=folder))
    acquired = acquire_sources(read, clock, scratch)
    return compile_sources(read, acquired, clock, strict=False, previous=None, engine=LOCAL), clock


def candidates(compiled: Compiled) -> list[tuple[Removed, str, int]]:
    """Return the wikilinks that are a page's only link to another, how they are written, where."""
    found = []
    for item in compiled.content.pages:
        page, lines = item.page, item.page.body.split("\n")
        targets = Counter(t.path for t in item.targets if t and t.kind == "page")
        for link, target in zip(page.links, item.targets, strict=True):
            if link.syntax != "wikilink" or link.embed or target is None or target.kind != "page":
                continue
            said = link.label or link.target.rpartition("/")[2]
            index = link.line - page.body_line
            inner = link.target + (f"#{link.fragment}" if link.fragment else "")
            for bar in ("|", r"\|"):
                written = f"[[{inner}{bar}{link.label}]]" if link.label else f"[[{inner}]]"
                once = 0 <= index < len(lines) and lines[index].count(written) == 1
                if once and targets[target.path] == 1 and target.path != page.path:
                    found.append(((page.path, target.path, said), written, link.line))
                    break
    return found


def remove(vault: Path, chosen: list[tuple[Removed, str, int]]) -> None:
    by_page: defaultdict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for (page, _, said), written, line in chosen:
        by_page[page].append((written, said, line))
    for page, links in by_page.items():
        file = vault / page.removeprefix("v/")
        lines = file.read_text(encoding="utf-8").split("\n")
        for written, said, line in links:
            lines[line - 1] = lines[line - 1].replace(written, said)
        file.write_text("\n".join(lines), encoding="utf-8")


def measure(vault: Path, model: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        copy = folder / "vault"
        shutil.copytree(vault, copy)
        whole, _ = compile_vault(copy, folder, "none")
        links = candidates(whole)
        chosen = random.Random(1).sample(links, min(REMOVED, len(links)))
        remove(copy, chosen)
        compiled, clock = compile_vault(copy, folder, model)
        suggestions = compiled.content.upkeep.suggestions
        left = {item.page.path: set(outgoing(item)) for item in compiled.content.pages}
        gone = [removed for removed, _, _ in chosen if removed[1] not in left[removed[0]]]
        ranks = []
        for page, target, _ in gone:
            proposed = [s.target for s in suggestions.get(page, ())]
            ranks.append(proposed.index(target) + 1 if target in proposed else 0)
        shown = [s for own in suggestions.values() for s in own[:3]]
        first3 = sum(1 <= rank <= 3 for rank in ranks) / max(len(gone), 1)
        anywhere = sum(rank > 0 for rank in ranks) / max(len(gone), 1)
        print(
            f"| {vault.name} | {len(links)} | {len(gone)} | {first3:.3f} | {anywhere:.3f} "
            f"| {len(shown)} | {clock.seconds['upkeep']:.2f} |"
        )


def main() -> None:
    """Print a table row a vault."""
    named = [Path(name) for name in sys.argv[1:]]
    print("| vault | links | removed | in first 3 | anywhere | suggested | seconds |")
    print("|---|---|---|---|---|---|---|")
    for vault in named or sorted(path for path in VAULTS.iterdir() if path.is_dir()):
        measure(vault, "multilingual-e5-small")


if __name__ == "__main__":
    main()
