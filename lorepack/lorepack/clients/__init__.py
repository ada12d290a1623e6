"""Write a pack into the configuration of a coding agent, and take it out again."""

from __future__ import annotations

import difflib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lorepack.clients.edit import EDITORS, Edit, read_servers
from lorepack.clients.targets import Target
from lorepack.errors import LorepackError


@dataclass(frozen=True)
class Change:
    """What a configuration file was and becomes; the same where nothing is to be done.

    ``before`` or ``after`` is None where there is no file. ``is_kept`` says that what the file was
    before all installations is in a backup already, or was nothing.
    """

    file: Path
    before: str | None
    after: str | None
    is_kept: bool = False

    def diff(self) -> str:
        """Return a unified diff, '' where nothing changes."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(), (self.after or "").splitlines(), str(self.file),
            str(self.file), lineterm="",
        )  # fmt: skip
        text = "\n".join(lines)
        if not text and self.before != self.after:
            return f"{self.file}: {'is removed' if self.after is None else 'is changed'}"
        return text


def planned(
    target: Target, scope: str, project: Path, home: Path, name: str,
    server: str | Sequence[str] | None,
) -> Change:  # fmt: skip
    """Return the change that adds a server, or, without ``server``, takes it out.

    What takes the last one out gives back the file as it was, byte for byte, if nothing else has
    changed it since: a file that was not there goes.

    Args:
        server: an address, or a command and its arguments.

    Raises:
        LorepackError: the target has no such scope, or its file is not of its form.
    """
    file = target.file(scope, project, home, name)
    target = replace(target, form=target.form_of(scope))
    before = _read(file)
    entry = None if server is None else target.entry(server, name)
    try:
        origin = _origin(target, file, before or "")
        if before is None and entry is None:
            return Change(file, None, None)
        after: str | None = EDITORS[target.form](
            before or (target.start if entry else ""), Edit((*_path(target), name), entry)
        )
        if entry is None and after != before and origin is not None:
            servers = {key: value for key, value in origin.servers.items() if key != name}
            after = origin.text if not servers else _replayed(target, origin.text or "", servers)
        elif entry is None and after == "" and target.form == "own YAML":
            after = None
    except ValueError as error:
        raise LorepackError(f"{file} is no {target.form} ({error})", "mend it first") from error
    return Change(file, before, after, origin is not None)


@dataclass(frozen=True)
class _Origin:
    """What a file was before servers were added to it (None: not there), and these servers."""

    text: str | None
    servers: Mapping[str, Any]


def _origin(target: Target, file: Path, now: str) -> _Origin | None:
    """Return what the file was, if adding servers to that gives what it is now; else None."""
    current = read_servers(now, target.form, _path(target))
    for text in (*_backups(file), None):
        with suppress(ValueError):
            known = read_servers(text or "", target.form, _path(target))
            added = {key: value for key, value in current.items() if known.get(key) != value}
            if text is None and not all(_is_ours(*item) for item in added.items()):
                continue
            if added and _replayed(target, text or "", added) == now:
                return _Origin(text, added)
    return None


def _is_ours(name: str, entry: Any) -> bool:
    """Return whether a server seems to have been added here, as a file of such is no one else's."""
    return "lorepack" in f"{name} {json.dumps(entry, default=str)}"


def _replayed(target: Target, text: str, servers: Mapping[str, Any]) -> str:
    text = text or target.start
    for name, entry in servers.items():
        text = EDITORS[target.form](text, Edit((*_path(target), name), entry))
    return text


def _path(target: Target) -> Sequence[str]:
    return () if target.form == "own YAML" else target.path


def _backups(file: Path) -> Iterator[str]:
    real = file.resolve()
    for path in sorted(real.parent.glob(f"{_escaped(real.name)}.bak*")):
        with suppress(LorepackError):
            yield _read(path) or ""


def _escaped(name: str) -> str:
    return name.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")


def write(change: Change) -> None:
    """Write a change, at once or not at all; what was there first is kept as ``.bak``.

    Raises:
        LorepackError: it cannot be written, or the file changed since it was read.
    """
    file = change.file
    if _read(file) != change.before:
        raise LorepackError(f"{file} was changed by another program", "try again")
    # A link is followed, as people keep such files elsewhere and link to them.
    real = file.resolve()
    staged = real.with_name(f".{real.name}.new")
    try:
        if change.after is None:
            real.unlink(missing_ok=True)
            return
        real.parent.mkdir(parents=True, exist_ok=True)
        staged.write_text(change.after, encoding="utf-8", newline="")
        if real.exists():
            shutil.copymode(real, staged)
            if not change.is_kept:
                shutil.copy2(real, _free_backup(real))
        staged.replace(real)
    except OSError as error:
        staged.unlink(missing_ok=True)
        raise LorepackError(f"{file} cannot be written ({error})", "check its folder") from error


def _free_backup(file: Path) -> Path:
    """Return ``FILE.bak``, or, as the first backup is never overwritten, the next free name."""
    path, number = file.with_name(f"{file.name}.bak"), 1
    while path.exists():
        path, number = file.with_name(f"{file.name}.bak.{number}"), number + 1
    return path


def _read(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise LorepackError(f"{file} cannot be read ({error})", "check the file") from error
