"""Every parser of untrusted input: what once broke it, and a little of ``fuzz``'s million."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.fuzz import KEPT, checked, fuzz
from tests.reliability.targets import TARGETS

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
