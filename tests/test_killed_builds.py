"""Builds that are killed, and two at once: a few of the two hundred of ``reliability.kills``."""

from __future__ import annotations

import pytest

from tests.reliability.kills import run, together

pytestmark = pytest.mark.slow


def test_a_killed_build_harms_nothing_and_leaves_nothing() -> None:
    found = run(8, compare_every=4)
    assert found.faults == [] and found.killed


def test_two_builds_at_once_make_one_sound_pack() -> None:
    assert together(2) == []
