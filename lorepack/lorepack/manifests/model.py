"""What a manifest asks for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """A package that a manifest asks for. ``version`` is text as written, or ''.

    ``repo`` (``owner/name``) is given where the manifest itself names it.
    """

    ecosystem: str
    package: str
    version: str = ""
    repo: str = ""
