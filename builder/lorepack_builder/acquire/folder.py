"""List the files below a folder, never leaving it."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

from pathspec import GitIgnoreSpec

from lorepack_builder.acquire.ignore import read_gitignore
from lorepack_builder.model import Finding, Source, SourceFile


def list_files(
    source: Source, ignored: Callable[[str], bool], *, gitignore_from: Path | None = None
) -> tuple[list[SourceFile], list[Finding]]:
    """Return the files of ``source`` in the order of their paths, and findings for those skipped.

    Names that begin with a dot are left out (``.obsidian``, ``.trash``, ``.git``). A link to a
    file inside the source is followed; links to folders, out of the source or to nothing are not.

    Args:
        gitignore_from: a folder at or above the source's root, from which on ``.gitignore`` files
            count; None leaves them unread.
    """
    found: dict[str, SourceFile] = {}
    findings: list[Finding] = []
    rules = _rules_above(source.root, gitignore_from) if gitignore_from else None
    for relative, disk, problem in _walk(source.root, "", ignored, rules):
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


_Rules = tuple[tuple[Path, GitIgnoreSpec], ...]
"""Folders that have a ``.gitignore``, outermost first, and what it says."""


def _walk(
    folder: Path,
    prefix: str,
    ignored: Callable[[str], bool],
    rules: _Rules | None,
    root: Path | None = None,
) -> Iterator[tuple[str, Path, str]]:
    """Yield (path below the root, file, problem)."""
    root = root or folder.resolve()
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        yield prefix.rstrip("/"), folder, f"cannot be listed ({error.strerror})"
        return
    if rules is not None and (own := read_gitignore(folder)):
        rules = (*rules, (folder, own))
    for entry in entries:
        relative, disk = prefix + entry.name, Path(entry.path)
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith("."):
            continue
        if ignored(relative + "/" if is_folder else relative):
            continue
        if rules and _git_ignores(disk, is_folder, rules):
            continue
        if not _is_utf8(entry.name):
            yield relative, disk, "has a name that is not valid UTF-8"
        elif entry.is_symlink():
            yield relative, disk, _link_problem(disk, root)
        elif is_folder:
            yield from _walk(disk, relative + "/", ignored, rules, root)
        elif entry.is_file():
            yield relative, disk, ""
        else:
            yield relative, disk, "is neither a file nor a folder"


def _rules_above(root: Path, top: Path) -> _Rules:
    above = [folder for folder in root.parents if folder.is_relative_to(top)]
    read = ((folder, read_gitignore(folder)) for folder in reversed(above))
    return tuple((folder, rules) for folder, rules in read if rules)


def _git_ignores(path: Path, is_folder: bool, rules: _Rules) -> bool:
    """The innermost ``.gitignore`` that says anything of a path decides."""
    for folder, spec in reversed(rules):
        name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
        said = spec.check_file(name).include
        if said is not None:
            return said
    return False


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
