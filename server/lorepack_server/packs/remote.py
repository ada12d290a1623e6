"""Packs in object stores and behind an index: mirrored into a folder that is served.

A mirror holds each file once, by the SHA-256 of its content (``by-digest/``), and a link to it by
its name (``packs/``), which the server follows like any folder. So a file that did not change is
never fetched again, and a new one takes an old one's place at once.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from lorepack.errors import LorepackError
from lorepack.fetch.delta import Delta, fetch_by_delta, listed_deltas
from lorepack.fetch.transfer import fetch, fetch_text, notes_file
from lorepack.models.convert import cache_dir
from lorepack.pack.format import SUFFIX
from lorepack.pack.signature import SUFFIX as SIGNATURE
from lorepack.pack.verify import require_sound
from lorepack.util.hashing import file_sha256, sha256_of

_log = logging.getLogger("lorepack.server.remote")

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9.+_-]*{re.escape(SUFFIX)}(?:{re.escape(SIGNATURE)})?")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_INDEX = ".json"
_TELLING = ("ETag", "etag", "size", "LastModified", "mtime")
"""What file systems say of a file that tells whether it is another one now."""


@dataclass(frozen=True)
class RemoteFile:
    """A file of a store. ``tag`` differs when its content does; ``sha256`` is '' if unknown."""

    name: str
    location: str
    tag: str
    sha256: str = ""
    deltas: Sequence[Delta] = ()


def is_remote(text: str) -> bool:
    """Say whether ``text`` is an address rather than a path."""
    return "://" in text


def mirror_folder(url: str) -> Path:
    """Return the folder of the user's cache that mirrors ``url``."""
    return cache_dir() / "served" / sha256_of(url.encode())[:24]


def sync(url: str, folder: Path) -> Path:
    """Bring a mirror up to date with ``url``; return the folder to serve.

    Args:
        url: ``https://…/index.json`` (``{"packs": [{"file": …, "sha256": …}]}``), or a folder of
            any file system that fsspec knows, ``s3://bucket/folder``, ``gs://bucket/folder``.

    Raises:
        LorepackError: the store cannot be asked; what was mirrored before stays.
    """
    packs, blobs, state_file = folder / "packs", folder / "by-digest", folder / "state.json"
    store = _Index(url) if urlsplit(url).path.endswith(_INDEX) else _FileSystem(url)
    try:
        packs.mkdir(parents=True, exist_ok=True)
        blobs.mkdir(exist_ok=True)
        known = _read_state(state_file)
        now: dict[str, dict[str, str]] = {}
        # A signature comes before its pack, which is looked at as soon as it is there.
        for file in sorted(store.files(), key=lambda f: (not f.name.endswith(SIGNATURE), f.name)):
            entry = known.get(file.name, {"tag": "", "sha256": ""})
            held = not entry["sha256"] or (packs / file.name).exists()
            if entry["tag"] != file.tag or not held:
                entry = _take(store, file, blobs, packs, entry)
            now[file.name] = entry
        _forget(packs, blobs, now)
        staged = state_file.with_suffix(".new")
        staged.write_text(json.dumps(now))
        staged.replace(state_file)
    except OSError as error:
        raise LorepackError(f"{folder} cannot be written ({error})", "make room") from error
    return packs


def _take(
    store: _Index | _FileSystem, file: RemoteFile, blobs: Path, packs: Path, before: dict[str, str]
) -> dict[str, str]:
    """Fetch a file and link it by its name; return its tag and digest.

    What cannot be fetched is tried again the next time; what is not as it should be, only when it
    is another. Until then what was there before stays.
    """
    staged = blobs / f".{sha256_of(file.location.encode())[:24]}.part"
    digest, tag = file.sha256, before["tag"]
    try:
        if not digest or not (blobs / digest).exists():
            digest = fetch_by_delta(file.deltas, _held_in(blobs), staged)
            digest = digest if digest and digest == file.sha256 else store.fetch(file, staged)
            tag = file.tag
            _check(file, digest, staged)
            staged.replace(blobs / digest)
            notes_file(staged).unlink(missing_ok=True)
    except LorepackError as error:
        _log.warning("%s is not served: %s", file.location, error)
        return {"tag": tag, "sha256": before["sha256"]}
    link = packs / f".{file.name}.new"
    link.unlink(missing_ok=True)
    os.link(blobs / digest, link)
    link.replace(packs / file.name)
    return {"tag": file.tag, "sha256": digest}


def _held_in(blobs: Path) -> Callable[[str], Path | None]:
    return lambda digest: blobs / digest if (blobs / digest).exists() else None


def _check(file: RemoteFile, digest: str, staged: Path) -> None:
    """Raise `LorepackError`, and drop what was fetched, if it is not what it should be."""
    try:
        if file.sha256 and digest != file.sha256:
            raise LorepackError(f"it has the SHA-256 {digest}", f"it should have {file.sha256}")
        if file.name.endswith(SUFFIX):
            require_sound(staged)
    except LorepackError:
        staged.unlink(missing_ok=True)
        raise


def _forget(packs: Path, blobs: Path, now: Mapping[str, Mapping[str, str]]) -> None:
    """Remove what the store has no more."""
    for path in packs.iterdir():
        if path.name not in now and not path.name.startswith("."):
            path.unlink(missing_ok=True)
    kept = {entry["sha256"] for entry in now.values()}
    for path in blobs.iterdir():
        if path.name not in kept and not path.name.startswith("."):
            path.unlink(missing_ok=True)


def _read_state(file: Path) -> dict[str, dict[str, str]]:
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        data = json.loads(file.read_text())
        return {
            name: {"tag": str(entry["tag"]), "sha256": str(entry["sha256"])}
            for name, entry in data.items()
        }
    return {}


class _Index:
    """A list of packs over HTTP; files are seen from its address."""

    def __init__(self, url: str) -> None:
        self._url = url

    def files(self) -> list[RemoteFile]:
        """Return what the index lists."""
        text = fetch_text(self._url)
        try:
            listed = json.loads(text)["packs"]
            found = [self._file(entry) for entry in listed]
        except (ValueError, KeyError, TypeError) as error:
            raise LorepackError(
                f"{self._url} is no index of packs", 'it must be {"packs": [{"file", "sha256"}]}'
            ) from error
        return [file for file in found if file is not None]

    def _file(self, entry: Mapping[str, Any]) -> RemoteFile | None:
        location = urljoin(self._url, str(entry["file"]))
        name, digest = urlsplit(location).path.rpartition("/")[2], str(entry["sha256"]).lower()
        secure = urlsplit(location).scheme == "https" or not self._url.startswith("https")
        if not _NAME.fullmatch(name) or not _SHA256.fullmatch(digest) or not secure:
            _log.warning("%s: %r is no pack that can be served", self._url, entry["file"])
            return None
        return RemoteFile(name, location, digest, digest, listed_deltas(entry, self._url))

    def fetch(self, file: RemoteFile, target: Path) -> str:
        """Fetch a file, going on where it broke off; return its SHA-256."""
        return fetch(file.location, target)


class _FileSystem:
    """A folder of a file system that fsspec knows."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise LorepackError(
                f"{url} needs the extra `store`", "pip install 'lorepack[store]'"
            ) from error
        self._url = url
        try:
            self._system, self._path = fsspec.url_to_fs(url)  # type: ignore[no-untyped-call]
        except (ImportError, ValueError, OSError) as error:
            raise LorepackError(f"{url} cannot be opened ({error})", "check the address") from error

    def files(self) -> list[RemoteFile]:
        """Return the packs and signatures that lie right in the folder."""
        try:
            self._system.invalidate_cache()
            entries = self._system.ls(self._path, detail=True)
        except Exception as error:
            # Each store has errors of its own.
            raise LorepackError(f"{self._url} cannot be listed ({error})", "check it") from error
        found = []
        for entry in entries:
            name = str(entry["name"]).rstrip("/").rpartition("/")[2]
            if entry.get("type") == "file" and _NAME.fullmatch(name):
                facts = (entry.get(key) for key in _TELLING)
                tag = "|".join(str(fact) for fact in facts if fact is not None)
                found.append(RemoteFile(name, str(entry["name"]), tag))
        return found

    def fetch(self, file: RemoteFile, target: Path) -> str:
        """Fetch a file; return its SHA-256."""
        try:
            self._system.get_file(file.location, str(target))
        except Exception as error:
            raise LorepackError(
                f"{file.location} cannot be fetched ({error})", "check it"
            ) from error
        return file_sha256(target)
