"""Packs of the user's own: those that were pulled."""

from __future__ import annotations

from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.pack.format import NAME, SUFFIX
from lorepack.versions import version_key


def packs_folder() -> Path:
    """Return where pulled packs are kept: ``packs`` in the user's data folder (XDG)."""
    from platformdirs import user_data_path

    return user_data_path("lorepack") / "packs"


def find_pack(reference: str) -> Path:
    """Return the pack's file: a path, or ``NAME`` or ``NAME@VERSION`` of one that was pulled.

    Raises:
        LorepackError: there is none.
    """
    path = Path(reference).expanduser()
    name, _, version = reference.partition("@")
    if path.is_file() or path.suffix == SUFFIX or not NAME.fullmatch(name):
        return path
    folder = packs_folder()
    found = {
        file.name[len(name) + 1 : -len(SUFFIX)]: file
        for file in folder.glob(f"{name}-{version or '*'}{SUFFIX}")
    }
    # Another pack's name may begin with this one's.
    versions = [text for text in found if text[:1].isdigit()]
    if not versions:
        raise LorepackError(
            f"there is no file {reference}, and no pulled pack of that name",
            f"give a {SUFFIX} file, or `lorepack pull` it first",
        )
    return found[max(versions, key=version_key)]
