"""Measuring answers: metrics, golden questions, the command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lorepack.errors import LorepackError
from lorepack_server.evaluate.metrics import ndcg_at, recall_at, reciprocal_rank_at
from lorepack_server.evaluate.questions import Question, read_questions
from lorepack_server.evaluate.report import evaluate
from tests.conftest import LOREPACK, ROOT, Built, write_files


def test_metrics_by_hand() -> None:
    grades = {"a": 2, "b": 1, "c": 0}
    assert recall_at(["x", "b", "a"], grades, 2) == 0.5
    assert recall_at(["c"], grades, 10) == 0
    assert reciprocal_rank_at(["x", "b"], grades, 10) == 0.5
    assert ndcg_at(["a", "b"], grades, 10) == 1
    assert ndcg_at(["b", "a"], grades, 10) == pytest.approx(
        (1 + 2 / 1.58496) / (2 + 1 / 1.58496), 1e-4
    )
    assert ndcg_at([], {}, 10) == 0


def test_branches_are_scored_apart(build: Callable[..., Built]) -> None:
    mount = build({"a.md": "red apple", "b.md": "green pear"}).mount()
    report = evaluate(mount, [Question("apple", {"v/a.md": 1}), Question("plum", {"v/b.md": 1})])
    assert report.branches["words"].recall10 == 0.5
    assert report.branches["meaning"].recall10 == 0
    assert report.branches["hybrid"].mrr10 == 0.5


def test_the_demo_answers_its_golden_questions(demo_pack: Path) -> None:
    recipe = ROOT / "packs" / "demo.toml"
    command = [str(LOREPACK), "eval", str(demo_pack), str(recipe), "--min-recall", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert report["questions"] == 5 and report["branches"]["hybrid"]["recall10"] == 1


def test_a_beir_folder(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path,
        {
            "queries.jsonl": '{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "not judged"}\n',
            "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\tv/a.md\t2\nq1\tv/b.md\t0\n",
        },
    )
    assert read_questions(folder) == [Question("one", {"v/a.md": 2, "v/b.md": 0})]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "cannot be read"),
        ({"queries.jsonl": "{", "qrels/t.tsv": "q\td\t1"}, "queries.jsonl, line 1 cannot be read"),
        ({"queries.jsonl": "", "qrels/t.tsv": "q\td\t1\nq\td"}, "line 2 is not query, page, grade"),
        ({"queries.jsonl": ""}, "has no questions"),
    ],
)
def test_bad_questions_are_named(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(LorepackError, match=message):
        read_questions(write_files(tmp_path, files))
