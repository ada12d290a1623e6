"""The site as an archive, for any static host."""

from __future__ import annotations

import gzip
import io
import tarfile
from contextlib import closing
from pathlib import Path

from lorepack.pack.open import open_pack
from lorepack.pack.site import site_at


def write_site_archive(pack: Path, target: Path, url: str, epoch: int) -> None:
    """Write the site of ``pack`` as a tar.gz, its files at the archive's root.

    Args:
        url: where the site will live, ``https://host/path/`` or only ``/path/``.
        epoch: seconds since 1970, the time of all files.

    Raises:
        LorepackError: the pack cannot be opened, or a name would leave the site.
        OSError: ``target`` cannot be written.
    """
    with (
        closing(open_pack(pack)) as opened,
        target.open("wb") as file,
        # A name or a time in the gzip header would differ from place to place.
        gzip.GzipFile("", "wb", 9, file, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, data in site_at(opened, url):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(data), epoch, 0o644
            archive.addfile(entry, io.BytesIO(data))
