"""Lay out what a release of a pack consists of."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lorepack.errors import LorepackError
from lorepack.pack.delta import SUFFIX as DELTA
from lorepack.pack.delta import joinable, make_delta
from lorepack.pack.diff import diff_packs
from lorepack.pack.diff.report import as_changelog
from lorepack.pack.inspect import Inspection, inspect_pack
from lorepack.pack.signature import signature_file
from lorepack.pack.verify import require_sound
from lorepack.util.hashing import file_sha256
from lorepack.util.replace import replaced_folder
from lorepack_builder.history.previous import packs_before
from lorepack_builder.publish.bundle import write_bundle
from lorepack_builder.publish.registry import server_entry
from lorepack_builder.publish.sbom import bill_of_materials
from lorepack_builder.publish.site import write_site_archive
from lorepack_builder.stages import source_date_epoch

MANIFEST, SUMS, CHANGELOG = "manifest.json", "SHA256SUMS", "CHANGELOG.md"
MOST_DELTAS = 3
"""Older versions of a folder that a delta is made against."""


@dataclass(frozen=True)
class Published:
    """A file of a release: its size in bytes, its hex SHA-256."""

    file: str
    bytes: int
    sha256: str


def publish_pack(
    pack: Path, folder: Path, *, previous: Sequence[Path] = (), url: str = "", site_url: str = "/",
    mcp_name: str = "",
) -> list[Published]:  # fmt: skip
    """Write a release of ``pack`` to ``folder``, in place of one that was there; return its files.

    They are the pack and its signature, the site as an archive, a bundle for one click, deltas,
    a changelog, a bill of materials, an entry for the registry of MCP servers, a manifest (which
    `lorepack serve` and `lorepack pull` read) and the digests of all. The same input gives the
    same bytes.

    Args:
        previous: older packs, or folders of them: the newest is what the changelog compares with.
        url: where the files will lie, ``https://host/path/``; '' leaves it to be filled in.
        site_url: where the site will live, as for `unpack_site`.
        mcp_name: the server's name in the registry; else made of ``url``.

    Raises:
        LorepackError: the pack is damaged, an older one cannot be read, or ``folder`` holds
            something else or cannot be written.
    """
    require_sound(pack)
    facts = inspect_pack(pack)
    name, version = facts.meta["name"], facts.meta["version"]
    older = _older(previous, name, version, facts.meta["content_digest"])
    stem, epoch = f"{name}-{version}", source_date_epoch()
    with replaced_folder(folder, MANIFEST, "release") as out:
        target = out / f"{stem}.lorepack"
        shutil.copyfile(pack, target)
        if signature_file(pack).exists():
            shutil.copyfile(signature_file(pack), signature_file(target))
        write_site_archive(pack, out / f"{stem}-site.tar.gz", site_url, epoch)
        bundle = out / f"{stem}.mcpb"
        write_bundle(target, facts, bundle)
        deltas = [_delta(old, target) for old in older if joinable(Path(old.file), target)]
        (out / CHANGELOG).write_text(_changelog(facts, older, pack), encoding="utf-8")
        published = _published(target)
        bill = bill_of_materials(facts, published.sha256, epoch)
        _write_json(out / f"{stem}.cdx.json", bill)
        entry = server_entry(facts, bundle, url, mcp_name)
        _write_json(out / "server.json", entry)
        others = [_published(path) for path in out.iterdir() if path != target]
        listed = _in_order([published, *others])
        _write_json(out / MANIFEST, _manifest(facts, published, deltas, listed))
        listed = _in_order([*listed, _published(out / MANIFEST)])
        sums = "".join(f"{file.sha256}  {file.file}\n" for file in listed)
        (out / SUMS).write_text(sums, encoding="utf-8")
    return [*listed, Published(SUMS, len(sums), hashlib.sha256(sums.encode()).hexdigest())]


def _older(previous: Sequence[Path], name: str, version: str, digest: str) -> list[Inspection]:
    """Return older packs of the name, those of a folder the newest first."""
    found: list[Inspection] = []
    for given in previous:
        if not given.is_dir():
            found.append(inspect_pack(given))
            if found[-1].meta["name"] != name:
                raise LorepackError(f"{given} is no pack of {name!r}", "give one of the same name")
            continue
        for path in packs_before(given, name, version)[:MOST_DELTAS]:
            # A damaged file tells nothing.
            with suppress(LorepackError):
                found.append(inspect_pack(path))
    # In a folder, another project's name may begin with this one's.
    return [
        pack for pack in found
        if pack.meta["name"] == name and pack.meta["content_digest"] != digest
    ]  # fmt: skip


def _delta(old: Inspection, new: Path) -> dict[str, Any]:
    """Make a delta beside ``new``; return its entry in the manifest."""
    version = old.meta["version"]
    file = new.with_name(f"{new.stem}-from-{version}{DELTA}")
    header = make_delta(Path(old.file), new, file)
    return {"file": file.name, "bytes": file.stat().st_size, "from": header.old,
            "fromVersion": version}  # fmt: skip


def _changelog(facts: Inspection, older: Sequence[Inspection], pack: Path) -> str:
    head = f"# Changes of {' '.join(facts.meta['title'].split())}\n\n"
    if older:
        return head + as_changelog(diff_packs(Path(older[0].file), pack))
    counts = facts.meta["counts"]
    return f"{head}## {facts.meta['version']}\n\nThe first: {counts['pages']} pages.\n"


def _manifest(
    facts: Inspection, pack: Published, deltas: list[dict[str, Any]], files: list[Published]
) -> dict[str, Any]:
    meta = facts.meta
    kept = ("name", "version", "title", "languages", "day", "builder", "content_digest", "counts")
    return {
        **{key: meta[key] for key in kept},
        "sources": [
            {key: source[key] for key in ("name", "kind", "origin", "revision", "licence")}
            for source in facts.sources
        ],
        "packs": [{**asdict(pack), "deltas": deltas}],
        "files": [asdict(file) for file in files],
    }


def _published(path: Path) -> Published:
    return Published(path.name, path.stat().st_size, file_sha256(path))


def _in_order(files: Sequence[Published]) -> list[Published]:
    return sorted(files, key=lambda file: file.file)


def _write_json(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
