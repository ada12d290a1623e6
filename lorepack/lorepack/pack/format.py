"""What makes a file a pack of format 1."""

from __future__ import annotations

import re
from importlib.resources import files

APPLICATION_ID = 0x4C4F5245
FORMAT = 1
SUFFIX = ".lorepack"
NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}")


def schema_sql() -> str:
    """Return the schema: SQL that makes an empty pack."""
    return files("lorepack.pack").joinpath("schema.sql").read_text(encoding="utf-8")
