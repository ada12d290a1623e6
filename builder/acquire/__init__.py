"""Acquire: a recipe's sources → their files, each checked to lie in its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lorepack.builder.acquire.folder import list_files
from lorepack.builder.acquire.ignore import ignore_rules
from lorepack.builder.acquire.revision import revision_of
from lorepack.builder.model import Finding, Source, SourceFile
from lorepack.builder.recipe import SourceSpec


def acquire(specs: Sequence[SourceSpec]) -> tuple[list[Source], list[SourceFile], list[Finding]]:
    """Return the sources, all their files in the order of their paths, and what was left out."""
    sources: list[Source] = []
    files: list[SourceFile] = []
    findings: list[Finding] = []
    for spec in sorted(specs, key=lambda spec: spec.name):
        source = Source(
            spec.name, spec.kind, spec.origin, spec.path, licence=spec.licence, lang=spec.lang
        )
        found, odd = list_files(source, ignore_rules(spec))
        if revision := revision_of(source.root, found):
            source = replace(
                source, revision=revision.commit, subdir=revision.subdir, web=revision.web
            )
            found = [replace(file, source=source) for file in found]
        sources.append(source)
        files += found
        findings += odd
    return sources, files, findings
