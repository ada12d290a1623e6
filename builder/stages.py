"""What all stages share, and the first of them: a recipe's files as they are now.

Little is imported here, so that a build with nothing to do ends at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from lorepack.builder.acquire import acquire
from lorepack.builder.acquire.hashes import Hashes, content_hashes
from lorepack.builder.documents import is_page
from lorepack.builder.model import Finding, Source, SourceFile
from lorepack.builder.recipe import Recipe
from lorepack.packfile.errors import LorepackError

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, all); ``all`` is 0 while it is not known."""


@dataclass
class Clock:
    """Seconds by stage, and how many pages were parsed anew."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    parsed: int = 0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block."""
        self.progress(name, 0, 0)
        begin = perf_counter()
        yield
        self.seconds[name] = round(perf_counter() - begin, 3)


@dataclass(frozen=True)
class Acquired:
    """A recipe's sources and their files, as they are now."""

    sources: Sequence[Source]
    files: Sequence[SourceFile]
    findings: Sequence[Finding]
    hashes: Hashes


def acquire_sources(
    recipe: Recipe, clock: Clock, scratch: Path, *, offline: bool = False
) -> Acquired:
    """Acquire.

    Args:
        scratch: an empty folder for what is unpacked or fetched; it must last as long as files of
            the result are read.
        offline: whether nothing may be fetched.

    Raises:
        LorepackError: a source cannot be had, or is refused.
    """
    with clock.stage("acquire"):
        sources, files, findings = acquire(recipe.sources, scratch, offline=offline)
        return Acquired(sources, files, findings, content_hashes(files, is_page))


def source_date_epoch() -> int:
    """Return the time to write for now; without one given, none is written and 0 stands for it."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not given.isdigit():
        raise LorepackError(
            f"SOURCE_DATE_EPOCH is {given!r}", "give seconds since 1970, or leave it unset"
        )
    return int(given)
