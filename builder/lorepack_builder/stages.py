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

from lorepack.errors import LorepackError
from lorepack_builder.acquire import acquire
from lorepack_builder.acquire.documents import is_page
from lorepack_builder.cache.hashes import Hashes, Stamps, content_hashes, stamps_of
from lorepack_builder.model import Finding, Source, SourceFile
from lorepack_builder.recipe import Recipe

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
    """A recipe's sources and their files, as they are now.

    ``stamps`` are from before the files were read for their ``hashes``.
    """

    sources: Sequence[Source]
    files: Sequence[SourceFile]
    findings: Sequence[Finding]
    hashes: Hashes
    stamps: Stamps

    def changed_since(self) -> set[str]:
        """Return the paths of files that were written to, or removed, since they were acquired."""
        now = stamps_of(self.files)
        return {path for path, stamp in self.stamps.items() if now[path] != stamp}


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
        files, odd = _readable(files)
        findings += odd
        stamps = stamps_of(files)
        return Acquired(sources, files, findings, content_hashes(files, is_page), stamps)


def _readable(files: Sequence[SourceFile]) -> tuple[list[SourceFile], list[Finding]]:
    """Leave out attachments that may not be read; of pages, `parse_file` says so."""
    kept: list[SourceFile] = []
    lost: list[Finding] = []
    for file in files:
        if is_page(file) or os.access(file.disk, os.R_OK):
            kept.append(file)
        else:
            lost.append(
                Finding("unreadable", "error", file.path, 1, "cannot be read", "check the file")
            )
    return kept, lost


def source_date_epoch() -> int:
    """Return the time to write for now; without one given, none is written and 0 stands for it."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not given.isdigit():
        raise LorepackError(
            f"SOURCE_DATE_EPOCH is {given!r}", "give seconds since 1970, or leave it unset"
        )
    return int(given)
