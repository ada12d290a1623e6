"""The HTTP API against its own description."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SETTINGS = """
[parameters]
"path.pack" = "demo"

# A text can be of the right form, and no range of dates, or no page with tags.
[[operations]]
include-name-regex = "memory_bridge|tag_taxonomy"
checks.positive_data_acceptance.expected-statuses = [200, 400]
"""


def test_answers_are_as_described(demo_server: str, tmp_path: Path) -> None:
    """Right and wrong parameters, other methods, missing packs: every answer fits the schema."""
    (tmp_path / "schemathesis.toml").write_text(_SETTINGS)
    told = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")), "run",
            f"{demo_server}/api/openapi.json", "--checks", "all", "--max-examples", "25",
            # An empty text is none, and a number out of range is brought into it.
            "--exclude-checks", "negative_data_rejection", "--seed", "1", "--generation-database", "none", "--no-color",
        ],
        check=False, cwd=tmp_path, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert told.returncode == 0, told.stdout[-6000:] + told.stderr[-2000:]
