"""XQuAD passages as pages, one language a pack: every branch, all pairs of en, tr, zh.

python benchmarks/quality.py [QUESTIONS]     how many questions of each pair; default all
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lorepack.builder.build import build_pack
from lorepack.builder.recipe import read_recipe
from lorepack.server.evaluate.questions import Question
from lorepack.server.evaluate.report import evaluate
from lorepack.server.mount import mount_pack

XQUAD = Path(__file__).parents[2] / "shared" / "data" / "retrieval" / "xquad"
LANGUAGES = ("en", "tr", "zh")


def paragraphs(lang: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (id, passage, questions); ids are the same in every language."""
    data = json.loads((XQUAD / f"xquad.{lang}.json").read_text())["data"]
    for number, article in enumerate(data):
        for place, entry in enumerate(article["paragraphs"]):
            questions = [qa["question"] for qa in entry["qas"]]
            yield f"{number:02}-{place:02}", entry["context"].lstrip("\ufeff"), questions


def build(folder: Path, lang: str) -> Path:
    pages = folder / lang
    pages.mkdir()
    for name, text, _ in paragraphs(lang):
        (pages / f"{name}.md").write_text(text)
    recipe = folder / f"{lang}.toml"
    recipe.write_text(
        f'[pack]\nname = "xquad-{lang}"\nversion = "1"\n'
        f'[[source]]\nname = "x"\nkind = "folder"\npath = "{lang}"\nlang = "{lang}"\n'
    )
    summary, _ = build_pack(read_recipe(recipe), folder)
    return Path(summary.pack)


def questions(lang: str, limit: int) -> list[Question]:
    found = [
        Question(text, {f"x/{name}.md": 1}) for name, _, asked in paragraphs(lang) for text in asked
    ]
    return found[:: max(1, len(found) // limit)]


def main() -> None:
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print("asked → pages   Recall@10: words  meaning  hybrid   ms p50, p99")
    with tempfile.TemporaryDirectory() as scratch:
        for pages in LANGUAGES:
            mount = mount_pack(build(Path(scratch), pages))
            for asked in LANGUAGES:
                report = evaluate(mount, questions(asked, limit))
                recall = "  ".join(f"{s.recall10:.4f}" for s in report.branches.values())
                times = report.milliseconds
                print(f"{asked} → {pages}:  {recall}   {times['p50']}, {times['p99']}", flush=True)


if __name__ == "__main__":
    main()
