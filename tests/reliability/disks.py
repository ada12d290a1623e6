"""Builds where the ground gives way: full and read-only disks, sources and clocks that change.

``python -m tests.reliability.disks [--rounds 40]`` prints what was found. Mounting a small disk
needs root; without it, that part is skipped, and said to be.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from lorepack.pack.verify import require_sound
from tests.reliability.kills import PACK, Project


@contextmanager
def small_disk(at: Path, kilobytes: int) -> Iterator[bool]:
    """Mount a disk of that size; yields whether that was allowed."""
    at.mkdir(parents=True, exist_ok=True)
    options = f"size={kilobytes}k"
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(at)],
                          capture_output=True, check=False)  # fmt: skip
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", str(at)], check=True)


def _fails_clean(project: Project, what: str, before: bytes) -> list[str]:
    """Build; it may fail with one sentence, must keep the old pack, and leave nothing."""
    building = project.start(said=subprocess.PIPE)
    _, said = building.communicate(timeout=120)
    text = (said or b"").decode()
    faults = []
    if building.returncode not in (0, 2) or "Traceback" in text:
        faults.append(f"{what}: ended with {building.returncode}: {text[-300:]}")
    if building.returncode == 2 and (project.out / PACK).read_bytes() != before:
        faults.append(f"{what}: the old pack is gone")
    if building.returncode == 0:
        require_sound(project.out / PACK)
    return faults


def full_disk(folder: Path, which: str, sizes: Iterator[int] | range) -> list[str]:
    """Fill the disk of the packs, of the caches or of temporary files, at many points of a build.

    Args:
        sizes: kilobytes of the disk, beside the old pack, one build each.
    """
    faults = []
    for kilobytes in sizes:
        project = Project(folder / f"{which}-{kilobytes}")
        assert project.start().wait(120) == 0
        before = (project.out / PACK).read_bytes()
        project.write(3, "changed")
        place = {"out": project.out, "cache": project.folder / "small", "tmp": project.temporary}
        room = kilobytes + (len(before) // 1024 + 8 if which == "out" else 0)
        with small_disk(place[which], room) as mounted:
            if not mounted:
                return []
            if which == "out":
                (project.out / PACK).write_bytes(before)
            project.cache = "small" if which == "cache" else "cache"
            faults += _fails_clean(project, f"full disk of {which}, {kilobytes} kB", before)
        project.cache = "cache"
        if which == "out":
            (project.out / PACK).write_bytes(before)
        if project.start().wait(120) != 0 or project.left():
            faults.append(f"full disk of {which}, {kilobytes} kB: left {project.left()}")
    return faults


def read_only(folder: Path) -> list[str]:
    """Build into a folder, with caches and with temporary files that cannot be written."""
    faults = []
    for which in ("out", "cache", "tmp"):
        project = Project(folder / f"read-only-{which}")
        assert project.start().wait(120) == 0
        before = (project.out / PACK).read_bytes()
        project.write(3, "changed")
        place = {"out": project.out, "cache": project.folder / "cache", "tmp": project.temporary}
        with small_disk(place[which], 4096) as mounted:
            if not mounted:
                return []
            if which == "out":
                (project.out / PACK).write_bytes(before)
            subprocess.run(["mount", "-o", "remount,ro", str(place[which])], check=True)
            faults += _fails_clean(project, f"read-only {which}", before)
        if project.start().wait(120) != 0:
            faults.append(f"read-only {which}: the next build failed")
    return faults


def moving_source(folder: Path, rounds: int) -> list[str]:
    """Write, remove and add pages and pictures while builds run; then build in peace."""
    faults = []
    project, lot = Project(folder / "moving"), random.Random(1)
    assert project.start().wait(120) == 0
    for turn in range(rounds):
        stop = threading.Event()
        mover = threading.Thread(target=_move, args=(project, stop, lot))
        mover.start()
        try:
            before = (project.out / PACK).read_bytes()
            faults += _fails_clean(project, f"moving source, {turn}", before)
        finally:
            stop.set()
            mover.join()
        # What was there at the first look may be there again: the cache must not mix them up.
        _settle(project)
        if project.start().wait(120) != 0 or project.left():
            faults.append(f"moving source, {turn}: left {project.left()}")
        if (
            turn % 10 == 9
            and project.bytes_from_nothing("fresh") != (project.out / PACK).read_bytes()
        ):
            faults.append(f"moving source, {turn}: the cache gave another pack")
    return faults


def _move(project: Project, stop: threading.Event, lot: random.Random) -> None:
    while not stop.wait(0.002):
        number = lot.randrange(30)
        page = project.vault / f"{number}.md"
        match lot.randrange(5):
            case 0:
                page.unlink(missing_ok=True)
            case 1:
                (project.vault / "new").mkdir(exist_ok=True)
                (project.vault / "new" / f"{number}.md").write_text("# New\n\n![[p.png]]\n")
            case 2:
                (project.vault / "p.png").write_bytes(lot.randbytes(2000))
            case 3:
                (project.vault / "p.png").unlink(missing_ok=True)
            case _:
                project.write(number, "first" if lot.random() < 0.5 else "other")


def _settle(project: Project) -> None:
    for path in (project.vault / "new").glob("*"):
        path.unlink()
    (project.vault / "p.png").write_bytes(b"settled")
    for number in range(30):
        project.write(number, "first")


def clock_back(folder: Path, rounds: int) -> list[str]:
    """Change pages so that they look older than before, and older than every cache."""
    faults = []
    project = Project(folder / "clock")
    assert project.start().wait(120) == 0
    for turn in range(rounds):
        number = turn % 30
        page = project.vault / f"{number}.md"
        about = page.stat()
        # As many bytes as before; a year earlier, or at the very same time.
        project.write(number, ("later", "older", "first")[turn % 3])
        when = about.st_mtime_ns - (365 * 86_400 * 10**9 if turn % 2 else 0)
        os.utime(page, ns=(when, when))
        if project.start().wait(120) != 0 or project.left():
            faults.append(f"clock back, {turn}: left {project.left()}")
        if project.bytes_from_nothing("fresh") != (project.out / PACK).read_bytes():
            faults.append(f"clock back, {turn}: the change was not seen")
    return faults


@click.command()
@click.option("--rounds", default=40, help="Builds over moving sources; a tenth with odd clocks.")
def main(rounds: int) -> None:
    """Build on bad ground, and fail on any fault."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with small_disk(folder / "try", 64) as mounted:
            print("small disks:", "mounted" if mounted else "SKIPPED, not allowed here")
        faults = [
            *full_disk(folder, "out", range(4, 1200, 80)),
            *full_disk(folder, "cache", range(8, 200, 24)),
            *full_disk(folder, "tmp", range(8, 800, 80)),
            *read_only(folder),
            *moving_source(folder, rounds),
            *clock_back(folder, max(3, rounds // 10)),
        ]
    print("\n".join(faults) or "no fault")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
