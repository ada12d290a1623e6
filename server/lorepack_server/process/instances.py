"""A file for each server that runs, so that siblings are seen."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lorepack.util.temporary import is_running
from lorepack_server.process.logs import state_folder

_log = logging.getLogger("lorepack.server.instances")


@contextmanager
def instance_file(kind: str, packs: Sequence[Path], address: str) -> Iterator[Path | None]:
    """Keep a file of facts about this process while the block lasts.

    Servers that run already with one of the same packs are warned of; what dead ones left is
    removed. Yields the file, or None where none can be written.
    """
    folder = state_folder() / "instances"
    mine = {str(path.resolve()) for path in packs}
    for sibling in siblings(folder):
        shared = sorted(mine & set(sibling["packs"]))
        if shared:
            _log.warning("another server has the same packs",
                         extra={"pid": sibling["pid"], "kind": sibling["kind"],
                                "address": sibling["address"], "packs": shared})  # fmt: skip
    facts = {
        "pid": os.getpid(), "kind": kind, "packs": sorted(mine), "address": address,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip
    path = folder / f"{os.getpid()}.json"
    written = False
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(facts), encoding="utf-8")
        written = True
    try:
        yield path if written else None
    finally:
        with suppress(OSError):
            path.unlink()


def siblings(folder: Path) -> list[dict[str, Any]]:
    """Return the facts of the servers that run, oldest process id first."""
    found = []
    for file in sorted(folder.glob("*.json")):
        if not file.stem.isdigit() or int(file.stem) == os.getpid():
            continue
        if not is_running(int(file.stem)):
            with suppress(OSError):
                file.unlink()
            continue
        with suppress(OSError, ValueError, KeyError, TypeError):
            facts = json.loads(file.read_text(encoding="utf-8"))
            found.append({key: facts[key] for key in ("pid", "kind", "packs", "address")})
    return found
