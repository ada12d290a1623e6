"""Write a pack into the configuration of a coding agent, and take it out again."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lorepack.packfile.errors import LorepackError
from lorepack.packfile.install.edit import EDITORS, Edit
from lorepack.packfile.install.targets import Target


@dataclass(frozen=True)
class Change:
    """What a configuration file was and becomes; the same where nothing is to be done."""

    file: Path
    before: str
    after: str

    def diff(self) -> str:
        """Return a unified diff, '' where nothing changes."""
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), str(self.file), str(self.file),
            lineterm="",
        )  # fmt: skip
        return "\n".join(lines)


def planned(
    target: Target, scope: str, project: Path, home: Path, name: str, command: list[str] | None
) -> Change:
    """Return the change that adds a server, or, without ``command``, takes it out.

    Raises:
        LorepackError: the target has no such scope, or its file is not of its form.
    """
    file = target.file(scope, project, home)
    before = _read(file)
    editor: Callable[[str, Edit], str] = EDITORS[target.form]
    entry = None if command is None else target.entry(command)
    try:
        after = editor(before, Edit((*target.path, name), entry))
    except ValueError as error:
        raise LorepackError(f"{file} is no {target.form} ({error})", "mend it first") from error
    return Change(file, before, after)


def write(change: Change) -> None:
    """Write a change, at once or not at all; what was there is kept as ``.bak``.

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
        real.parent.mkdir(parents=True, exist_ok=True)
        staged.write_text(change.after, encoding="utf-8", newline="")
        if real.exists():
            shutil.copymode(real, staged)
            shutil.copy2(real, real.with_name(f"{real.name}.bak"))
        staged.replace(real)
    except OSError as error:
        staged.unlink(missing_ok=True)
        raise LorepackError(f"{file} cannot be written ({error})", "check its folder") from error


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise LorepackError(f"{file} cannot be read ({error})", "check the file") from error
