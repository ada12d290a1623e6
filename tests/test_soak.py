"""Two minutes of what ``soak`` does for an hour."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.reliability.soak import build_versions, soak

pytestmark = pytest.mark.slow


def test_nothing_fails_and_nothing_grows(tmp_path: Path) -> None:
    place = tmp_path / "served" / "demo.lorepack"
    place.parent.mkdir()
    told = asyncio.run(soak(build_versions(tmp_path / "built"), place, minutes=2, swap=10))
    assert told.faults() == []
    assert told.swaps >= 10 and told.answers.total() > 1000
    assert {"1.0.0", "1.1.0", "1.2.0", "1.3.0", "get"} <= set(told.answers)
