"""Acquire: a recipe's sources → their files, each checked to lie in its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack_builder.acquire.folder import list_files
from lorepack_builder.acquire.ignore import ignore_rules
from lorepack_builder.acquire.layout import detect_layout
from lorepack_builder.acquire.repo import Acquired, acquire_repo
from lorepack_builder.acquire.revision import revision_of
from lorepack_builder.model import Finding, Source, SourceFile
from lorepack_builder.recipe import SourceSpec


def acquire(
    specs: Sequence[SourceSpec], scratch: Path, *, offline: bool = False
) -> tuple[list[Source], list[SourceFile], list[Finding]]:
    """Return the sources, all their files in the order of their paths, and what was left out.

    Args:
        scratch: an empty folder for what is unpacked or converted; it must last while files are
            read.
        offline: whether nothing may be fetched.

    Raises:
        LorepackError: a source cannot be had, or is refused.
    """
    sources: list[Source] = []
    files: list[SourceFile] = []
    findings: list[Finding] = []
    for spec in sorted(specs, key=lambda spec: spec.name):
        source, found, odd = _acquire_one(spec, scratch / spec.name, offline)
        sources.append(source)
        files += found
        findings += odd
    return sources, files, findings


def _acquire_one(spec: SourceSpec, scratch: Path, offline: bool) -> Acquired:
    """Acquire one source; what few packs need is imported where it is needed."""
    if spec.kind == "repo":
        scratch.mkdir()
        return acquire_repo(spec, scratch, offline=offline)
    if spec.kind == "codewiki" and spec.url:
        from lorepack_builder.acquire.codewiki.live import acquire_live

        source = Source(
            spec.name, spec.kind, spec.origin, scratch, licence=spec.licence, lang=spec.lang,
            layout="codewiki",
        )  # fmt: skip
        return acquire_live(spec, source, scratch / "live", offline=offline)
    if spec.kind == "notion" and spec.url:
        if offline:
            raise LorepackError(f"{spec.name}: Notion is not asked offline", "leave --offline out")
        from lorepack_builder.acquire.notion.api import export_pages

        export_pages(spec.url, scratch / "export")
        spec = replace(spec, path=scratch / "export", url="")
    root = _unpacked(spec.path, scratch) / spec.subdir
    layout = spec.kind
    if spec.kind == "archive":
        layout = spec.holds or detect_layout(root)
    source = Source(
        spec.name, spec.kind, spec.origin, root, subdir=spec.subdir, licence=spec.licence,
        lang=spec.lang, layout=layout, code=layout == "repo" and spec.code,
    )  # fmt: skip
    spec = replace(spec, path=root)
    if layout == "notion":
        from lorepack_builder.acquire.notion import acquire_notion

        return acquire_notion(spec, source, scratch / "notion")
    if layout == "codewiki":
        from lorepack_builder.acquire.codewiki import acquire_codewiki

        return acquire_codewiki(spec, source)
    found, odd = list_files(source, ignore_rules(spec))
    if spec.kind != "archive" and (revision := revision_of(source.root, found)):
        source = replace(source, revision=revision.commit, subdir=revision.subdir, web=revision.web)
        found = [replace(file, source=source) for file in found]
    return source, found, odd


def _unpacked(path: Path, scratch: Path) -> Path:
    if path.is_dir():
        return path
    from lorepack_builder.acquire.archive import unpack

    return unpack(path, scratch / "archive")
