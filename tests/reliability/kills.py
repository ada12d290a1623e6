"""Kill builds at random moments, and let two run at once: no pack is harmed, and nothing stays.

``python -m tests.reliability.kills [NUMBER]`` (200). Each time a page changes and a build begins,
which is killed (SIGKILL, with all its processes); what is there then must be the old pack, or a
new one that is sound. The next build must end well and give the bytes of a build from nothing.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from lorepack.pack.verify import require_sound

LOREPACK = Path(sys.executable).with_name("lorepack")
PACK = "k-1.lorepack"


@dataclass
class Found:
    """How many builds were killed before they ended, and what was wrong."""

    killed: int = 0
    faults: list[str] = field(default_factory=list)


class Project:
    """A vault with a recipe, and folders for caches and temporary files."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, "cache"
        self.out, self.temporary = folder / "out", folder / "tmp"
        self.vault = folder / "vault"
        for path in (self.vault, self.temporary):
            path.mkdir(parents=True)
        for number in range(30):
            self.write(number, "first")
        (folder / "r.toml").write_text(
            '[pack]\nname="k"\nversion="1"\n[[source]]\nname="v"\nkind="vault"\npath="vault"\n'
            '[embed]\nmodel="none"\n'
        )

    def write(self, number: int, text: str) -> None:
        (self.vault / f"{number}.md").write_text(f"# {number}\n\n[[{number // 2}]] {text}\n")

    def start(
        self, out: Path | None = None, cache: str = "", said: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """Begin a build, with what it says on stderr sent to ``said``."""
        environment = {
            **os.environ, "TMPDIR": str(self.temporary),
            "LOREPACK_CACHE": str(self.folder / (cache or self.cache)),
        }  # fmt: skip
        return subprocess.Popen(
            [str(LOREPACK), "build", str(self.folder / "r.toml"), "--out", str(out or self.out)],
            env=environment, stdout=subprocess.DEVNULL, stderr=said,
            start_new_session=True,
        )  # fmt: skip

    def left(self) -> list[str]:
        """Return what lies about that no build should leave."""
        own = [path.name for path in self.out.iterdir() if path.name != PACK]
        return own + [path.name for path in self.temporary.iterdir()]

    def bytes_from_nothing(self, name: str) -> bytes:
        """Build with empty caches elsewhere; return the pack."""
        elsewhere = self.folder / name
        assert self.start(elsewhere, f"cache-{name}").wait(120) == 0
        data = (elsewhere / PACK).read_bytes()
        shutil.rmtree(elsewhere)
        shutil.rmtree(self.folder / f"cache-{name}")
        return data


def run(number: int, seed: int = 1, compare_every: int = 10) -> Found:
    """Kill ``number`` builds; every ``compare_every`` times, compare with one from nothing."""
    found, lot = Found(), random.Random(seed)
    with tempfile.TemporaryDirectory() as scratch:
        project = Project(Path(scratch))
        begin = time.perf_counter()
        assert project.start().wait(120) == 0
        whole = time.perf_counter() - begin
        for turn in range(number):
            before = (project.out / PACK).read_bytes()
            project.write(lot.randrange(30), f"turn {turn}")
            building = project.start()
            time.sleep(lot.uniform(0, whole * 1.1))
            if building.poll() is None:
                found.killed += 1
                os.killpg(building.pid, signal.SIGKILL)
            building.wait()
            _check(project, before, turn, found)
            if project.start().wait(120) != 0:
                found.faults.append(f"{turn}: the next build failed")
            if left := project.left():
                found.faults.append(f"{turn}: left {left}")
            if turn % compare_every == 0:
                fresh = project.bytes_from_nothing("fresh")
                if fresh != (project.out / PACK).read_bytes():
                    found.faults.append(f"{turn}: the cache gave another pack")
    return found


def _check(project: Project, before: bytes, turn: int, found: Found) -> None:
    pack = project.out / PACK
    if pack.read_bytes() != before:
        try:
            require_sound(pack)
        except Exception as error:
            found.faults.append(f"{turn}: {error}")


def together(rounds: int) -> list[str]:
    """Let two builds of one recipe run at once; return what was wrong."""
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        project = Project(Path(scratch))
        for turn in range(rounds):
            project.write(turn, f"together {turn}")
            both = [project.start()]
            time.sleep(0.1 * (turn % 5))
            both.append(project.start())
            ended = [building.wait(120) for building in both]
            require_sound(project.out / PACK)
            if ended != [0, 0] or project.left():
                faults.append(f"{turn}: ended with {ended}, left {project.left()}")
            if project.bytes_from_nothing("fresh") != (project.out / PACK).read_bytes():
                faults.append(f"{turn}: another pack than one build makes")
    return faults


def main() -> None:
    """Print what was found, and fail on any fault."""
    found = run(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    faults = [*found.faults, *together(10)]
    print(f"{found.killed} builds killed; 10 times two at once")
    print("\n".join(faults[:40]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
