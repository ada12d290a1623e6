"""Files out of a repository's objects."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast
from urllib.parse import urljoin, urlsplit

from lorepack.errors import LorepackError
from lorepack_builder.acquire.git import fetch_objects, open_git, run_git

_ENTRY = re.compile(rb"(\d+) (blob|commit) ([0-9a-f]{40,64})\t(.+)", re.DOTALL)
_MAX_BLOB = 100 * 2**20


@dataclass(frozen=True)
class Entry:
    """A file of a commit's tree: its mode, object id, and path below the folder listed."""

    mode: str
    id: str
    path: str

    @property
    def is_link(self) -> bool:
        """Whether the object is the path that a symbolic link leads to."""
        return self.mode == "120000"

    @property
    def is_submodule(self) -> bool:
        """Whether the object is another repository's commit."""
        return self.mode == "160000"


def list_tree(repo: Path, commit: str, subdir: str) -> list[Entry]:
    """Return the files at ``commit`` below ``subdir``; the paths are not to be trusted.

    Raises:
        LorepackError: the commit has no such folder.
    """
    if not run_git(repo, "rev-parse", "--verify", "--quiet", f"{commit}:{subdir}"):
        raise LorepackError(
            f"{repo} has no folder {subdir!r} at {commit[:10]}", "correct subdir in the recipe"
        )
    listed = run_git(repo, "ls-tree", "-r", "-z", f"{commit}:{subdir}")
    found = []
    for line in listed.split(b"\0"):
        if match := _ENTRY.fullmatch(line):
            path = match[4].decode("utf-8", "surrogateescape")
            found.append(Entry(match[1].decode(), match[3].decode(), path))
    return found


def export(
    repo: Path, entries: Sequence[Entry], into: Path, *, url: str = ""
) -> Iterator[tuple[str, str]]:
    """Write files below ``into``; yield (path, problem) for each that is not written.

    A link to another file of ``entries`` becomes a copy of it.

    Args:
        url: where objects that a partial fetch left out come from.
    """
    if url:
        fetch_objects(repo, url, [entry.id for entry in entries])
    by_path = {entry.path: entry for entry in entries if not entry.is_link}
    for entry, data in zip(entries, _read(repo, [entry.id for entry in entries]), strict=True):
        if problem := _path_problem(entry.path):
            yield entry.path, problem
            continue
        content = data
        if entry.is_link and data is not None:
            target = by_path.get(_link_target(entry.path, data))
            if target is None:
                yield entry.path, "is a link out of its source, or to a folder"
                continue
            content = next(_read(repo, [target.id]))
        if content is None:
            yield entry.path, "is missing in this clone, or larger than 100 MiB"
            continue
        file = into / os.fsdecode(entry.path.encode("utf-8", "surrogateescape"))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        except OSError as error:
            # A name too long for this system, or a file where a folder is.
            yield entry.path, f"cannot be written ({error.strerror})"


def submodule_urls(repo: Path, commit: str, url: str) -> dict[str, str]:
    """Return the addresses of submodules by path, relative ones seen from ``url``.

    Only addresses of the kind of ``url`` itself are returned: a file in a repository must not send
    us to another protocol or into the local disk.
    """
    blob = f"{commit}:.gitmodules"
    listed = run_git(repo, "config", "--blob", blob, "--get-regexp", r"^submodule\..*\.(path|url)$")
    values: dict[str, dict[str, str]] = {}
    for line in listed.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition(" ")
        name, _, what = key.removeprefix("submodule.").rpartition(".")
        values.setdefault(name, {})[what] = value
    found = {}
    for given in values.values():
        address = given.get("url", "")
        if address.startswith(("./", "../")):
            address = urljoin(url.rstrip("/") + "/", address)
        if "://" in address and urlsplit(address).scheme == urlsplit(url).scheme:
            found[given.get("path", "")] = address
    return found


def _read(repo: Path, ids: Sequence[str]) -> Iterator[bytes | None]:
    """Yield the objects in their order; None for one that is missing or too large."""
    with open_git(repo, "cat-file", "--batch") as batch:
        given, told = cast(IO[bytes], batch.stdin), cast(IO[bytes], batch.stdout)
        for id in ids:
            given.write(f"{id}\n".encode())
            given.flush()
            header = told.readline().split()
            if len(header) != 3:
                yield None
                continue
            size = int(header[2])
            if size > _MAX_BLOB:
                for start in range(0, size, _MAX_BLOB):
                    told.read(min(_MAX_BLOB, size - start))
                yield None
            else:
                yield told.read(size)
            told.read(1)
        given.close()


def _path_problem(path: str) -> str:
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        return "has a path that leaves its source"
    return ""


def _link_target(path: str, data: bytes) -> str:
    target = data.decode("utf-8", "surrogateescape")
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
