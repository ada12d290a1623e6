"""Every parser of untrusted input: what once broke it, and a little of ``fuzz``'s million."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.reliability.fuzz import KEPT, checked, fuzz
from tests.reliability.targets import TARGETS

pytestmark = pytest.mark.slow

_KEPT = sorted(path for path in KEPT.glob("*/*"))


@pytest.mark.parametrize("path", _KEPT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_once_broke_a_parser_breaks_none_any_more(path: Path) -> None:
    checked(TARGETS[path.parent.name].run, path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_fuzzed_is_understood_to_begin_with(name: str) -> None:
    for seed in TARGETS[name].seeds:
        checked(TARGETS[name].run, seed)


@pytest.mark.parametrize("name", ["whole_page", "html", "rst", "canvas", "archive", "recipe"])
def test_a_few_thousand_inputs_break_nothing(name: str) -> None:
    pytest.importorskip("atheris")
    assert "FAULT" not in fuzz(name, 2_000)


LONG = 10_000
_REPEATED = [
    ("markdown", "===\n"), ("markdown", "=="), ("markdown", "[["), ("markdown", "> [!note]"),
    ("whole_page", "<script>"), ("whole_page", "<script"), ("rst", "\n.. note::\n"),
    ("rst", "a\n===\n"), ("code", "\0class A:\n"), ("notion_page", "<aside>\n"),
    ("notion_page", "Tags: a\n"), ("html", "<h1>"), ("codewiki_page", "<svg>"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "words"), _REPEATED)
def test_what_is_repeated_takes_no_time_a_piece_that_grows(name: str, words: str) -> None:
    """Compared with a fifth of it: what is quadratic takes twenty-five times as long."""

    def seconds(times: int) -> float:
        begin = time.process_time()
        TARGETS[name].run((words * times).encode())
        return time.process_time() - begin

    seconds(10)
    few = min(seconds(LONG // 5) for _ in range(3))
    assert seconds(LONG) < 14 * few + 0.3
