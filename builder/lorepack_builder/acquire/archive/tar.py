"""Tar files."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from lorepack_builder.acquire.archive import Budget, Member, Refused, decode_names, write_members


def unpack_tar(archive: Path, into: Path, budget: Budget) -> None:
    """Write the files of a tar that is not compressed.

    Raises:
        Refused: it holds anything but files and folders, or too much.
    """
    try:
        with tarfile.open(archive, "r:", encoding="utf-8", errors="surrogateescape") as tar:
            found = list(_files(tar, budget))
            raw = [info.name.encode("utf-8", "surrogateescape") for info in found]
            names = decode_names(raw)
            members = (
                Member(name, lambda info=info: cast(IO[bytes], tar.extractfile(info)))  # type: ignore[misc]
                for name, info in zip(names, found, strict=True)
            )
            write_members(members, into, budget)
    except tarfile.TarError as error:
        raise Refused(f"is a damaged tar ({error})") from error


def _files(tar: tarfile.TarFile, budget: Budget) -> Iterator[tarfile.TarInfo]:
    for info in tar:
        budget.take_entry()
        if info.issym() or info.islnk():
            raise Refused(f"holds the link {info.name!r}")
        if not (info.isfile() or info.isdir()):
            raise Refused(f"holds {info.name!r}, which is no file")
        if info.isfile():
            yield info
