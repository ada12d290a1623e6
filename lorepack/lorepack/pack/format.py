"""What makes a file a pack of format 1."""

from __future__ import annotations

import re
from importlib.resources import files

APPLICATION_ID = 0x4C4F5245
FORMAT = 1
SUFFIX = ".lorepack"
NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}")
_NUMBERS = re.compile(r"(\d+)")


def schema_sql() -> str:
    """Return the schema: SQL that makes an empty pack."""
    return files("lorepack.pack").joinpath("schema.sql").read_text(encoding="utf-8")


def version_key(version: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that orders versions by their numbers, a pre-release before its release."""
    release, _, before = version.partition("-")
    parts = [part for part in _NUMBERS.split(release) if part.strip(".")]
    key = [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]
    return (*key, (0, 0, before) if before else (0, 1, ""))
