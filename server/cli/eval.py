"""``lorepack eval``."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path

import click

from lorepack.server.evaluate.questions import read_questions
from lorepack.server.evaluate.report import BranchScore, Report, evaluate
from lorepack.server.mount import mount_pack


@click.command("eval")
@click.argument("pack", type=click.Path(path_type=Path))
@click.argument("questions", type=click.Path(path_type=Path))
@click.option("--min-recall", type=click.FloatRange(0, 1), default=0.0,
              help="Exit with 1 when the hybrid's Recall@10 is lower.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def evaluate_pack(pack: Path, questions: Path, min_recall: float, as_json: bool) -> None:
    """Ask PACK the judged QUESTIONS: a recipe with [[eval]], or a BEIR folder."""
    report = evaluate(mount_pack(pack), read_questions(questions))
    click.echo(json.dumps(report.as_dict()) if as_json else _table(report))
    sys.exit(0 if report.branches["hybrid"].recall10 >= min_recall else 1)


def _table(report: Report) -> str:
    names = [field.name for field in fields(BranchScore)]
    lines = [f"{report.questions} questions", "branch    " + "".join(f"{n:>10}" for n in names)]
    for branch, score in report.branches.items():
        values = "".join(f"{getattr(score, name):>10.4f}" for name in names)
        lines.append(f"{branch:<10}{values}")
    times = ", ".join(f"{name} {value}" for name, value in report.milliseconds.items())
    return "\n".join([*lines, f"milliseconds a question: {times}"])
