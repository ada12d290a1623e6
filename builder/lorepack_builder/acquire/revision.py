"""The commit that a local source is at, where it lies in a git checkout and equals it.

Nothing that a checkout may configure is run: git is asked for the tree alone, and the files are
compared with it here, without filters, hooks or monitors.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lorepack_builder.model import SourceFile

_SSH = re.compile(r"(?:ssh://)?git@([\w.-]+)(?::\d+/|[:/])(.+)")
_TREE_LINE = re.compile(rb"\d+ blob ([0-9a-f]{40,64})\t(.+)", re.DOTALL)


@dataclass(frozen=True)
class Revision:
    """A commit, the folder of the repository, and where it is browsed ('' if nobody said)."""

    commit: str
    subdir: str
    web: str


def revision_of(root: Path, files: Sequence[SourceFile]) -> Revision | None:
    """Return the commit whose files are exactly those of the source at ``root``, or None."""
    commit = _git(root, "rev-parse", "--verify", "HEAD^{commit}").decode().strip()
    if not commit:
        return None
    tree = {}
    for line in _git(root, "ls-tree", "-r", "-z", commit, ".").split(b"\0"):
        if match := _TREE_LINE.fullmatch(line):
            tree[match[2].decode("utf-8", "surrogateescape")] = match[1].decode()
    for file in files:
        name = file.disk.relative_to(root).as_posix()
        if tree.get(name) != _blob_id(file.disk, len(commit)):
            return None
    subdir = _git(root, "rev-parse", "--show-prefix").decode("utf-8", "replace").strip("\n/")
    remote = _git(root, "config", "--get", "remote.origin.url").decode("utf-8", "replace")
    return Revision(commit, subdir, web_address(remote.strip()))


def web_address(remote: str) -> str:
    """Return the https address of a remote, without credentials; '' for one that has none."""
    if match := _SSH.fullmatch(remote):
        host, path = match.groups()
    elif remote.startswith(("https://", "http://")):
        host, _, path = remote.partition("://")[2].partition("/")
        host = host.rpartition("@")[2]
    else:
        return ""
    path = path.removesuffix("/").removesuffix(".git")
    return f"https://{host}/{path}" if re.fullmatch(r"[\w./~-]+", path) else ""


def _blob_id(path: Path, digits: int) -> str:
    """Return git's name of a file's content (``blob SIZE NUL content``, SHA-1 or SHA-256)."""
    try:
        data = path.read_bytes()
    except OSError:
        return ""
    digest = hashlib.sha1(usedforsecurity=False) if digits == 40 else hashlib.sha256()
    digest.update(b"blob %d\0" % len(data) + data)
    return digest.hexdigest()


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments],
            capture_output=True,
            check=False,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""
