"""List the files below a folder, never leaving it."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

from lorepack.builder.model import Finding, Source, SourceFile


def list_files(
    source: Source, ignored: Callable[[str], bool]
) -> tuple[list[SourceFile], list[Finding]]:
    """Return the files of ``source`` in the order of their paths, and findings for those skipped.

    Names that begin with a dot are left out (``.obsidian``, ``.trash``, ``.git``). A link to a
    file inside the source is followed; links to folders, out of the source or to nothing are not.
    """
    found: dict[str, SourceFile] = {}
    findings: list[Finding] = []
    for relative, disk, problem in _walk(source.root, "", ignored):
        path = f"{source.name}/{unicodedata.normalize('NFC', relative)}"
        twin = "has the same name as another file, but for its Unicode form"
        wrong = problem or (twin if path in found else "")
        if wrong:
            shown = path.encode("utf-8", "replace").decode()
            findings.append(
                Finding("skipped-file", "warning", shown, 1, wrong, "rename or remove it")
            )
        else:
            found[path] = SourceFile(source, path, disk)
    return [found[path] for path in sorted(found)], findings


def _walk(
    folder: Path, prefix: str, ignored: Callable[[str], bool], root: Path | None = None
) -> Iterator[tuple[str, Path, str]]:
    """Yield (path below the root, file, problem)."""
    root = root or folder.resolve()
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        yield prefix.rstrip("/"), folder, f"cannot be listed ({error.strerror})"
        return
    for entry in entries:
        relative, disk = prefix + entry.name, Path(entry.path)
        if entry.name.startswith("."):
            continue
        if ignored(relative + "/" if entry.is_dir(follow_symlinks=False) else relative):
            continue
        if not _is_utf8(entry.name):
            yield relative, disk, "has a name that is not valid UTF-8"
        elif entry.is_symlink():
            yield relative, disk, _link_problem(disk, root)
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(disk, relative + "/", ignored, root)
        elif entry.is_file():
            yield relative, disk, ""
        else:
            yield relative, disk, "is neither a file nor a folder"


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _link_problem(link: Path, root: Path) -> str:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return "is a link to nothing"
    if not target.is_relative_to(root):
        return "is a link out of its source"
    return "" if target.is_file() else "is a link to a folder"
