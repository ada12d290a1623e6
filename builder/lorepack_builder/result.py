"""What a build did."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

NO_PREVIOUS = Path("none")
"""Compare with no pack, though there may be one of a version before."""


@dataclass(frozen=True)
class Summary:
    """What a build did. ``pack`` is the file, or the folder of a site; ``seconds`` are by stage.

    ``parsed`` and ``embedded`` count what was not known from a build before; ``unchanged`` says
    that the pack was there already, made of the same.
    """

    pack: str
    pages: int
    left_out: int
    chunks: int
    edges: int
    unresolved: int
    findings: dict[str, int]
    embedded: int
    reused: int
    seconds: dict[str, float]
    bytes: int
    digest: str
    parsed: int = 0
    unchanged: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return plain data, for JSON."""
        return asdict(self)
