"""``lorepack eval``."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path

import click

from lorepack_server.cli.rerank import RERANK, reranker_for
from lorepack_server.evaluate.questions import read_questions
from lorepack_server.evaluate.report import BranchScore, Report, evaluate
from lorepack_server.packs.mount import mount_pack


@click.command("eval")
@click.argument("pack", type=click.Path(path_type=Path))
@click.argument("questions", type=click.Path(path_type=Path))
@click.option("--min-recall", type=click.FloatRange(0, 1), default=0.0,
              help="Exit with 1 when the hybrid's Recall@10 is lower.")  # fmt: skip
@RERANK
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def evaluate_pack(
    pack: Path, questions: Path, min_recall: float, rerank: int, as_json: bool
) -> None:
    """Ask PACK the judged QUESTIONS: a recipe with [[eval]], or a BEIR folder.

    `lorepack collection` makes such a folder, and what the pack is built from, of a collection.
    """
    asked = read_questions(questions)
    mount, reranker = mount_pack(pack), reranker_for(rerank)
    with click.progressbar(length=len(asked), label="eval", file=sys.stderr) as bar:
        report = evaluate(mount, asked, reranker=reranker, on_done=lambda _: bar.update(1))
    click.echo(json.dumps(report.as_dict()) if as_json else _table(report))
    sys.exit(0 if report.branches["hybrid"].recall10 >= min_recall else 1)


def _table(report: Report) -> str:
    names = [field.name for field in fields(BranchScore)]
    lines = [f"{report.questions} questions"]
    if report.degraded:
        lines.append(f"degraded: {report.degraded}")
    lines.append(f"{'':<22}" + "".join(f"{name:>10}" for name in names))
    shown = {"": report.branches, **(report.pairs if len(report.pairs) > 1 else {})}
    for pair, branches in shown.items():
        for branch, score in branches.items():
            values = "".join(f"{getattr(score, name):>10.4f}" for name in names)
            lines.append(f"{pair:<12}{branch:<10}{values}")
    for branch, percentiles in report.milliseconds.items():
        times = ", ".join(f"{name} {value}" for name, value in percentiles.items())
        lines.append(f"milliseconds a question, {branch}: {times}")
    return "\n".join(lines)
