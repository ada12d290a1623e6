"""A difference between two packs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["page", "section", "edge", "symbol", "finding"]
How = Literal["added", "removed", "changed", "moved"]
KINDS: tuple[Kind, ...] = ("page", "section", "edge", "symbol", "finding")
HOWS: tuple[How, ...] = ("added", "changed", "moved", "removed")


@dataclass(frozen=True)
class Change:
    """One thing that is there, or is not, or is otherwise; ``title`` is for people, or ''."""

    kind: Kind
    how: How
    name: str
    title: str = ""


@dataclass(frozen=True)
class Difference:
    """Two packs (name, version, content_digest) and all changes from the old to the new one."""

    old: Mapping[str, str]
    new: Mapping[str, str]
    changes: Sequence[Change]

    def counts(self) -> dict[Kind, dict[How, int]]:
        """Return how many changes there are by what and how."""
        found = Counter((change.kind, change.how) for change in self.changes)
        return {kind: {how: found[kind, how] for how in HOWS if found[kind, how]} for kind in KINDS}

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "old": dict(self.old),
            "new": dict(self.new),
            "counts": self.counts(),
            "changes": [asdict(change) for change in self.changes],
        }
