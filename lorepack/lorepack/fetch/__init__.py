"""Fetch a pack from elsewhere, check it, and put it among the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.fetch.delta import fetch_by_delta
from lorepack.fetch.places import Place, find_place
from lorepack.fetch.transfer import Progress, fetch, notes_file
from lorepack.pack.format import SUFFIX
from lorepack.pack.inspect import inspect_pack
from lorepack.pack.signature import require_signature, signature_file
from lorepack.pack.verify import require_sound
from lorepack.util.hashing import file_sha256, sha256_of


@dataclass(frozen=True)
class Pulled:
    """A pack that is installed; ``new`` says whether it was not before."""

    path: Path
    name: str
    version: str
    digest: str
    new: bool


def pull_pack(
    reference: str, folder: Path, *, sha256: str | None = None, key: str | None = None,
    progress: Progress = lambda *_: None,
) -> Pulled:  # fmt: skip
    """Fetch what ``reference`` means, verify it and install it as ``folder``/NAME-VERSION.lorepack.

    A fetch that broke off is gone on with, also by a later call. Nothing is installed that fails a
    check; a version that is there with another content stays.

    Args:
        reference: an address, ``owner/repo[@tag]`` or ``oci://host/name:tag``.
        sha256: what the file must have; else what its place says it has, if it does.
        key: a minisign public key that must have signed it.

    Raises:
        LorepackError: it cannot be fetched, or a check failed.
    """
    place = find_place(reference)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LorepackError(f"{folder} cannot be written ({error})", "check it") from error
    # The name is fixed by the address, so that a later call finds what an earlier one began.
    staged = folder / f".{sha256_of(place.url.encode())[:24]}.part"
    wanted = (sha256 or place.sha256).lower()
    digest = _fetch(place, staged, folder, progress)
    if wanted and digest != wanted:
        _drop(staged)
        raise LorepackError(
            f"{place.url} has the SHA-256 {digest}, not {wanted}", "do not trust it; ask its owner"
        )
    try:
        require_sound(staged)
        if key is not None:
            fetch(place.signature, signature_file(staged), place.headers)
            require_signature(staged, key)
        return _install(staged, folder, place)
    except LorepackError:
        _drop(staged)
        raise


def _fetch(place: Place, staged: Path, folder: Path, progress: Progress) -> str:
    """Fetch what changed against a pack of ``folder`` if that is to be had, or else all."""
    digest = ""
    if place.deltas and not staged.exists():
        by_digest = {file_sha256(path): path for path in sorted(folder.glob(f"*{SUFFIX}"))}
        digest = fetch_by_delta(place.deltas, by_digest.get, staged, progress=progress)
    if digest and digest == place.sha256:
        return digest
    if digest:
        _drop(staged)
    return fetch(place.url, staged, place.headers, progress)


def _install(staged: Path, folder: Path, place: Place) -> Pulled:
    meta = inspect_pack(staged).meta
    name, version, digest = meta["name"], meta["version"], meta["content_digest"]
    target = folder / f"{name}-{version}{SUFFIX}"
    if target.exists():
        known = inspect_pack(target).meta["content_digest"]
        if known != digest:
            raise LorepackError(
                f"{target} has another content than {place.url}",
                "a version never changes: ask its owner, or remove the file",
            )
        _drop(staged)
        return Pulled(target, name, version, digest, new=False)
    if signature_file(staged).exists():
        signature_file(staged).replace(signature_file(target))
    staged.replace(target)
    _drop(staged)
    return Pulled(target, name, version, digest, new=True)


def _drop(staged: Path) -> None:
    for path in (staged, signature_file(staged)):
        path.unlink(missing_ok=True)
        notes_file(path).unlink(missing_ok=True)
