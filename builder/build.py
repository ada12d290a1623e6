"""Run all stages: a recipe in, a pack out, or its site alone."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from lorepack.builder.compile import Clock, Compiled, Progress, compile_sources
from lorepack.builder.index import write_rows
from lorepack.builder.model import Finding
from lorepack.builder.previous import Previous, find_previous, read_previous
from lorepack.builder.recipe import Recipe
from lorepack.builder.render import render_site
from lorepack.builder.render.cache import cache_file
from lorepack.builder.render.model import SiteInput
from lorepack.builder.render.near import near_by_path
from lorepack.builder.seal import new_pack, write_encoder, write_meta, write_site
from lorepack.packfile.errors import LorepackError
from lorepack.packfile.format import SUFFIX
from lorepack.packfile.models.prune import carried_files
from lorepack.packfile.segment import SEGMENTER_VERSION
from lorepack.packfile.site import SiteFile, put_site

NO_PREVIOUS = Path("none")


@dataclass(frozen=True)
class Summary:
    """What a build did. ``pack`` is the file, or the folder of a site; ``seconds`` are by stage."""

    pack: str
    pages: int
    left_out: int
    chunks: int
    edges: int
    unresolved: int
    findings: dict[str, int]
    embedded: int
    reused: int
    seconds: dict[str, float]
    bytes: int
    digest: str

    def as_dict(self) -> dict[str, object]:
        """Return plain data, for JSON."""
        return asdict(self)


@contextmanager
def few_collections() -> Iterator[None]:
    """Let Python look for cycles seldom: a build makes many objects, and hardly any cycle."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 50, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _quiet(stage: str, done: int, total: int) -> None:
    """Show no progress."""


def build_pack(
    recipe: Recipe,
    folder: Path,
    *,
    strict: bool = False,
    site: bool = True,
    previous: Path | None = None,
    progress: Progress = _quiet,
) -> tuple[Summary, list[Finding]]:
    """Compile ``recipe`` into ``folder``/<name>-<version>.lorepack.

    Args:
        strict: whether a finding of severity error or warning makes the build fail.
        site: whether the pack holds the rendered site.
        previous: the pack to tell changes from; without one, that of the newest version before
            this one in ``folder``; `NO_PREVIOUS` for none.

    Returns:
        What was done, and all findings in the order of their paths.

    Raises:
        LorepackError: nothing was written; a pack that was there before still is.
    """
    with few_collections():
        return _build(recipe, folder, strict, site, previous, Clock(progress))


def build_site(
    recipe: Recipe,
    folder: Path,
    *,
    strict: bool = False,
    previous: Path | None = None,
    progress: Progress = _quiet,
) -> tuple[Summary, list[Finding]]:
    """Render the site of ``recipe`` into ``folder``/<name>-<version>-site/, and write no pack.

    Arguments and result are those of `build_pack`.

    Raises:
        LorepackError: nothing was written; a site that was there before still is.
    """
    target = folder / f"{recipe.name}-{recipe.version}-site"
    clock = Clock(progress)
    with few_collections():
        compiled = compile_sources(recipe, clock, strict=strict)
        before = _previous(recipe, folder, previous)
        files = _render(recipe, compiled, before, clock)
        with clock.stage("seal"):
            put_site(((name, file.plain()) for name, file in files.items()), target)
    size = sum(file.size for file in files.values())
    return _summary(compiled, target, clock, size), list(compiled.content.findings)


def _build(
    recipe: Recipe, folder: Path, strict: bool, site: bool, previous: Path | None, clock: Clock
) -> tuple[Summary, list[Finding]]:
    target = folder / f"{recipe.name}-{recipe.version}{SUFFIX}"
    epoch = _source_date_epoch()
    compiled = compile_sources(recipe, clock, strict=strict)
    before = _previous(recipe, folder, previous)
    content = compiled.content
    with new_pack(target) as pack:
        with clock.stage("index"):
            graph = write_rows(pack, content)
        files = _render(recipe, compiled, before, clock) if site else {}
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
            digest = write_meta(pack, _meta(recipe, compiled, counts, before))
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
        unresolved=rules["broken-link"],
        findings=dict(sorted(rules.items())),
        embedded=new,
        reused=chunks - new if compiled.embedded else 0,
        seconds=clock.seconds,
        bytes=size,
        digest=digest,
    )


def _previous(recipe: Recipe, folder: Path, given: Path | None) -> Previous | None:
    if given == NO_PREVIOUS:
        return None
    if given is not None:
        return read_previous(given, recipe.name)
    return find_previous(folder, recipe.name, recipe.version)


def _render(
    recipe: Recipe, compiled: Compiled, previous: Previous | None, clock: Clock
) -> dict[str, SiteFile]:
    content = compiled.content
    given = SiteInput(
        pages=content.pages,
        urls=content.urls,
        sources=content.sources,
        files={file.path: file for file in compiled.files},
        findings=content.findings,
        near=near_by_path(content.pages, content.chunks, content.vectors),
        previous=previous,
        name=recipe.name,
        title=recipe.title,
        version=recipe.version,
        epoch=_source_date_epoch(),
        address=recipe.address,
    )
    return render_site(
        given,
        cache_file(recipe.path),
        clock.stage,
        lambda done, total: clock.progress("render", done, total),
    )


def _meta(
    recipe: Recipe, compiled: Compiled, counts: dict[str, int], previous: Previous | None
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
        "previous_digest": previous.digest if previous else "",
    }
    if "SOURCE_DATE_EPOCH" in os.environ:
        facts["built"] = _source_date_epoch()
    return facts


def _source_date_epoch() -> int:
    """Return the time to write for now; without one given, none is written and 0 stands for it."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not given.isdigit():
        raise LorepackError(
            f"SOURCE_DATE_EPOCH is {given!r}", "give seconds since 1970, or leave it unset"
        )
    return int(given)
