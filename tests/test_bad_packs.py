"""Damaged and hostile packs: a hundred of the ten thousand that ``mutants`` makes."""

from __future__ import annotations

from tests.reliability.mutants import run

_ONCE_A_FAULT = (3224, 4836, 5126, 5934, 9072)


def test_none_crashes_a_server_or_runs_in_it() -> None:
    found = run([*range(120), *_ONCE_A_FAULT])
    assert found.faults == []
    outcomes = {outcome for _, outcome in found.counts}
    assert {"refused", "damaged", "answered"} <= outcomes <= {
        "refused", "damaged", "answered", "internal",
    }  # fmt: skip
