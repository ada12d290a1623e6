"""Parse many files, side by side when there are enough of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lorepack_builder.engine import Engine
from lorepack_builder.engine.local import LOCAL
from lorepack_builder.model import SourceFile
from lorepack_builder.parse import Parsed, parse_data, parse_file

WORTH_A_POOL = 1_000
"""Files from which on starting other processes pays."""
_FILES = 50
_BYTES = 1 << 20
"""A batch has no more files, and ends after so many bytes."""

_Batch = Sequence[tuple[SourceFile, bytes | None]]


def parse_files(
    files: Sequence[SourceFile], on_done: Callable[[int], None] = lambda _: None,
    engine: Engine = LOCAL,
) -> list[Parsed]:  # fmt: skip
    """Return what `parse_file` gives for each of ``files``, in their order.

    Args:
        on_done: called with the number of files parsed so far.
        engine: where it is done.
    """
    results: list[Parsed] = []
    batches = _batches(files, read=not engine.shares_disk)
    for parsed in engine.spread(_parse_batch, batches, worth=len(files) >= WORTH_A_POOL):
        results += parsed
        on_done(len(results))
    return results


def _batches(files: Sequence[SourceFile], *, read: bool) -> Iterator[_Batch]:
    """Yield batches, with the files' contents where they cannot be read later."""
    batch: list[tuple[SourceFile, bytes | None]] = []
    size = 0
    for file in files:
        data = _content(file) if read else None
        batch.append((file, data))
        size += len(data or b"")
        if len(batch) == _FILES or size >= _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _content(file: SourceFile) -> bytes | None:
    try:
        return file.disk.read_bytes()
    except OSError:
        # `parse_file` says so.
        return None


def _parse_batch(batch: _Batch) -> list[Parsed]:
    return [parse_file(file) if data is None else parse_data(file, data) for file, data in batch]
