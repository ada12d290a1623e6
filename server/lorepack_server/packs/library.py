"""The packs that a server has mounted: found in files and folders, swapped while it runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.pack.format import NAME, SUFFIX, VERSION
from lorepack.pack.signature import require_signature
from lorepack.pack.verify import require_sound
from lorepack.versions import version_key
from lorepack_server.packs.mount import Mount, mount_pack

_log = logging.getLogger("lorepack.server.library")

_Stamp = tuple[int, int, int, int]
"""Device, inode, size and time of change: what tells one file from another at the same path."""


@dataclass(frozen=True)
class Shelf:
    """All mounts at one moment: by name, newest version first."""

    packs: Mapping[str, Sequence[Mount]] = field(default_factory=dict)

    def find(self, reference: str) -> Mount | None:
        """Return the mount that ``name`` (its newest version) or ``name@version`` means."""
        name, _, version = reference.partition("@")
        mounts = self.packs.get(name, ())
        if "@" not in reference:
            return mounts[0] if mounts else None
        return next((mount for mount in mounts if mount.version == version), None)

    def newest(self) -> list[Mount]:
        """Return the newest mount of every name, by name."""
        return [self.packs[name][0] for name in sorted(self.packs)]


class Library:
    """Keeps a shelf up to date with files and folders.

    A pack that appears while the server runs is verified before it takes another's place; one that
    fails is refused, and what was there before stays. With a ``key`` (minisign's public one, file
    or text), only packs that it signed are mounted.
    """

    def __init__(self, paths: Sequence[Path], key: str | None = None) -> None:
        self.paths = tuple(paths)
        self.key = key
        self.shelf = Shelf()
        self._mounted: dict[Path, tuple[_Stamp, Mount]] = {}
        self._refused: dict[Path, _Stamp] = {}

    def open(self) -> None:
        """Mount everything for the first time, without verifying it all.

        Raises:
            LorepackError: a file that was named cannot be mounted, or there is nothing to serve.
        """
        for path in self._files():
            stamp = _stamp(path)
            try:
                self._mount(path, stamp)
            except LorepackError as error:
                if path in self.paths:
                    raise
                self._refuse(path, stamp, error)
        if not self._mounted and not any(path.is_dir() for path in self.paths):
            raise LorepackError("there is no pack to serve", "build one with `lorepack build`")
        self._arrange()

    def refresh(self) -> list[Mount]:
        """Look for what changed; return the mounts that are no longer on the shelf."""
        files = self._files()
        gone = [path for path in self._mounted if path not in files]
        before = {id(mount): mount for _, mount in self._mounted.values()}
        for path in gone:
            # What was named by itself stays, as a file may be missing for the moment it is moved.
            if path not in self.paths:
                _log.info("pack removed", extra={"file": str(path)})
                del self._mounted[path]
        for path in files:
            stamp = _stamp(path)
            known = self._mounted.get(path)
            if stamp is None or (known and known[0] == stamp) or self._refused.get(path) == stamp:
                continue
            self._swap(path, stamp)
        self._arrange()
        now = {id(mount) for _, mount in self._mounted.values()}
        return [mount for key, mount in before.items() if key not in now]

    def _swap(self, path: Path, stamp: _Stamp) -> None:
        try:
            require_sound(path)
            self._mount(path, stamp)
            _log.info("pack mounted", extra={"file": str(path)})
        except LorepackError as error:
            self._refuse(path, stamp, error)

    def _mount(self, path: Path, stamp: _Stamp | None) -> None:
        if self.key is not None:
            require_signature(path, self.key)
        mount = mount_pack(path)
        if not NAME.fullmatch(mount.name) or not VERSION.fullmatch(mount.version):
            raise LorepackError(f"{path} has no name that can be served", "build it again")
        # A file that changed while it was read is looked at again the next time.
        if stamp is not None and stamp == _stamp(path):
            self._mounted[path] = (stamp, mount)
            self._refused.pop(path, None)

    def _refuse(self, path: Path, stamp: _Stamp | None, error: LorepackError) -> None:
        if stamp is not None:
            self._refused[path] = stamp
        _log.warning("pack refused: %s", error, extra={"file": str(path)})

    def _files(self) -> list[Path]:
        """Return the packs' files; a link is followed only inside its own folder."""
        found: list[Path] = []
        for path in self.paths:
            if not path.is_dir():
                found.append(path)
                continue
            root = path.resolve()
            found += [
                file
                for file in sorted(path.glob(f"*{SUFFIX}"))
                if not file.name.startswith(".") and _inside(file, root)
            ]
        return found

    def _arrange(self) -> None:
        packs: dict[str, list[Mount]] = {}
        for _, mount in self._mounted.values():
            packs.setdefault(mount.name, []).append(mount)
        for mounts in packs.values():
            mounts.sort(key=lambda mount: (version_key(mount.version), mount.path.name),
                        reverse=True)  # fmt: skip
        # Readers keep the shelf they took; the next one to look takes the new one.
        self.shelf = Shelf(packs)


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _inside(file: Path, root: Path) -> bool:
    try:
        return file.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False
