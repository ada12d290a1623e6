"""Write what was compiled: a pack, or a site alone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from lorepack.models.prune import carried_files
from lorepack.pack.diff.model import Change as RowChange
from lorepack.pack.diff.rows import read_rows, row_changes
from lorepack.pack.site import SiteFile, put_site
from lorepack.text.tokenize import SEGMENTER_VERSION
from lorepack_builder.cache.files import cache_file
from lorepack_builder.compile import Compiled, compile_sources
from lorepack_builder.engine import Engine
from lorepack_builder.history.previous import Previous, find_previous, read_previous
from lorepack_builder.index import write_rows
from lorepack_builder.index.maintenance import write_changes
from lorepack_builder.model import Finding
from lorepack_builder.recipe import Recipe
from lorepack_builder.render import render_site
from lorepack_builder.render.model import SiteInput
from lorepack_builder.result import NO_PREVIOUS, Summary
from lorepack_builder.seal import new_pack, write_encoder, write_meta, write_site
from lorepack_builder.stages import Acquired, Clock, source_date_epoch


def write_site_folder(
    recipe: Recipe, acquired: Acquired, folder: Path, strict: bool, previous: Path | None,
    clock: Clock, engine: Engine,
) -> tuple[Summary, list[Finding]]:  # fmt: skip
    """Compile, and write the site's files; see `build_site`."""
    target = folder / f"{recipe.name}-{recipe.version}-site"
    before = _previous(recipe, folder, previous)
    compiled = compile_sources(
        recipe, acquired, clock, strict=strict, previous=before, engine=engine
    )
    files = _render(recipe, compiled, clock, engine)
    with clock.stage("seal"):
        put_site(((name, file.plain()) for name, file in files.items()), target)
    size = sum(file.size for file in files.values())
    return _summary(compiled, target, clock, size), list(compiled.content.findings)


def write_pack(
    recipe: Recipe, acquired: Acquired, target: Path, strict: bool, site: bool,
    previous: Path | None, clock: Clock, engine: Engine,
) -> tuple[Summary, list[Finding]]:  # fmt: skip
    """Compile, and write a pack; see `build_pack`."""
    epoch = source_date_epoch()
    before = _previous(recipe, target.parent, previous)
    compiled = compile_sources(
        recipe, acquired, clock, strict=strict, previous=before, engine=engine
    )
    content = compiled.content
    with new_pack(target) as pack:
        with clock.stage("index"):
            graph = write_rows(pack, content)
            rows = row_changes(before.rows, read_rows(pack)) if before else []
            changed = write_changes(pack, content.changes, rows)
        files = _render(recipe, compiled, clock, engine, rows) if site else {}
        with clock.stage("seal"):
            write_site(pack, files, epoch)
            if recipe.carry and compiled.model is not None:
                write_encoder(pack, carried_files(compiled.model, list(compiled.texts)))
            counts = {
                "pages": len(content.pages),
                "chunks": sum(map(len, content.chunks)),
                "nodes": len(graph.nodes),
                "edges": len(graph.edges),
                "findings": len(content.findings),
            }
            digest = write_meta(pack, _meta(recipe, compiled, counts, changed, before))
    size = target.stat().st_size
    summary = _summary(compiled, target, clock, size, counts["edges"], digest)
    return summary, list(content.findings)


def _summary(
    compiled: Compiled, target: Path, clock: Clock, size: int, edges: int = 0, digest: str = ""
) -> Summary:
    content = compiled.content
    rules = Counter(finding.rule for finding in content.findings)
    chunks = sum(map(len, content.chunks))
    new = compiled.embedded.new if compiled.embedded else 0
    return Summary(
        pack=str(target),
        pages=len(content.pages),
        left_out=len(compiled.left_out),
        chunks=chunks,
        edges=edges,
        unresolved=rules["broken-link"] + rules["missing-attachment"],
        findings=dict(sorted(rules.items())),
        embedded=new,
        reused=chunks - new if compiled.embedded else 0,
        seconds=clock.seconds,
        bytes=size,
        digest=digest,
        parsed=compiled.parsed,
    )


def _previous(recipe: Recipe, folder: Path, given: Path | None) -> Previous | None:
    if given == NO_PREVIOUS:
        return None
    if given is not None:
        return read_previous(given, recipe.name)
    return find_previous(folder, recipe.name, recipe.version)


def _render(
    recipe: Recipe, compiled: Compiled, clock: Clock, engine: Engine, rows: Sequence[RowChange] = ()
) -> dict[str, SiteFile]:
    content = compiled.content
    given = SiteInput(
        pages=content.pages,
        urls=content.urls,
        sources=content.sources,
        files={file.path: file for file in compiled.files},
        findings=content.findings,
        upkeep=content.upkeep,
        changes=content.changes,
        row_changes=rows,
        name=recipe.name,
        title=recipe.title,
        version=recipe.version,
        epoch=source_date_epoch(),
        address=recipe.address,
    )
    return render_site(
        given,
        cache_file("site", recipe.path),
        clock.stage,
        lambda done, total: clock.progress("render", done, total),
        engine,
    )


def _meta(
    recipe: Recipe,
    compiled: Compiled,
    counts: dict[str, int],
    changed: dict[str, dict[str, int]],
    previous: Previous | None,
) -> dict[str, object]:
    model = compiled.model
    facts: dict[str, object] = {
        "name": recipe.name,
        "version": recipe.version,
        "title": recipe.title,
        "languages": sorted({page.lang for page in compiled.pages}),
        "builder": f"lorepack {version('lorepack')}",
        "embedder": model.fingerprint() if model else None,
        "segmenter": SEGMENTER_VERSION,
        "counts": counts,
        "day": compiled.content.upkeep.day,
        "changes": changed,
        "previous_version": previous.version if previous else "",
        "previous_digest": previous.digest if previous else "",
    }
    if "SOURCE_DATE_EPOCH" in os.environ:
        facts["built"] = source_date_epoch()
    return facts
