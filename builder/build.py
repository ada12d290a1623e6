"""Run all stages: a recipe in, a pack out."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from lorepack.builder.acquire import acquire
from lorepack.builder.chunk import chunk_pages
from lorepack.builder.chunk.tokens import TokenOffsets, estimated_offsets, tokenizer_offsets
from lorepack.builder.embed import Embedded, embed_texts, embedding_text
from lorepack.builder.embed.model import resolve_model
from lorepack.builder.index import Content, write_rows
from lorepack.builder.link import link_pages
from lorepack.builder.model import Chunk, Finding, LinkedPage, Page, SourceFile
from lorepack.builder.parse import PAGE_SUFFIXES
from lorepack.builder.parse.pool import parse_files
from lorepack.builder.recipe import Recipe
from lorepack.builder.render import render_site
from lorepack.builder.render.urls import page_urls
from lorepack.builder.seal import new_pack, write_encoder, write_meta, write_site
from lorepack.packfile.errors import LorepackError
from lorepack.packfile.format import SUFFIX
from lorepack.packfile.models.encoder import load_tokenizer
from lorepack.packfile.models.prune import carried_files
from lorepack.packfile.models.registry import ModelSpec
from lorepack.packfile.segment import SEGMENTER_VERSION

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, all); ``all`` is 0 while it is not known."""


@dataclass(frozen=True)
class Summary:
    """What a build did. ``seconds`` are by stage, in order."""

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


@dataclass
class _Clock:
    """Seconds by stage."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.progress(name, 0, 0)
        begin = perf_counter()
        yield
        self.seconds[name] = round(perf_counter() - begin, 3)


def build_pack(
    recipe: Recipe,
    folder: Path,
    *,
    strict: bool = False,
    progress: Progress = lambda stage, done, total: None,
) -> tuple[Summary, list[Finding]]:
    """Compile ``recipe`` into ``folder``/<name>-<version>.lorepack.

    Args:
        strict: whether a finding of severity error or warning makes the build fail.

    Returns:
        What was done, and all findings in the order of their paths.

    Raises:
        LorepackError: nothing was written; a pack that was there before still is.
    """
    with few_collections():
        return _build(recipe, folder, strict, progress)


def _build(
    recipe: Recipe, folder: Path, strict: bool, progress: Progress
) -> tuple[Summary, list[Finding]]:
    target = folder / f"{recipe.name}-{recipe.version}{SUFFIX}"
    epoch = _source_date_epoch()
    clock = _Clock(progress)
    model = resolve_model(recipe.model)
    with clock.stage("acquire"):
        sources, files, findings = acquire(recipe.sources)
    with clock.stage("parse"):
        pages, left_out, odd = _parse(files, progress)
        findings += odd
    with clock.stage("link"):
        linkable = [file for file in files if file.path not in left_out]
        linked, odd = link_pages(pages, linkable)
        findings += odd
    findings.sort(key=lambda f: (f.path, f.line, f.rule, f.message))
    if strict:
        _refuse(findings)
    with clock.stage("chunk"):
        chunks = chunk_pages(pages, _token_offsets(model), recipe.max_tokens)
    with clock.stage("embed"):
        texts = _embedding_texts(pages, chunks) if model else []
        embedded = _embed(model, texts, progress)
    urls = page_urls([page.path for page in pages])
    vectors = embedded.vectors if embedded else None
    with new_pack(target) as pack:
        with clock.stage("index"):
            content = Content(sources, linked, chunks, urls, findings, vectors, recipe.dependencies)
            graph = write_rows(pack, content)
        with clock.stage("render"):
            site = _render(recipe, linked, urls, content, files, epoch, progress)
        with clock.stage("seal"):
            write_site(pack, site, epoch)
            if recipe.carry and model is not None:
                write_encoder(pack, carried_files(model, texts))
            counts = {
                "pages": len(pages),
                "chunks": sum(map(len, chunks)),
                "nodes": len(graph.nodes),
                "edges": len(graph.edges),
                "findings": len(findings),
            }
            digest = write_meta(pack, _meta(recipe, pages, counts, model))
    rules = Counter(finding.rule for finding in findings)
    new = embedded.new if embedded else 0
    summary = Summary(
        pack=str(target),
        pages=len(pages),
        left_out=len(left_out),
        chunks=counts["chunks"],
        edges=counts["edges"],
        unresolved=rules["broken-link"],
        findings=dict(sorted(rules.items())),
        embedded=new,
        reused=counts["chunks"] - new if embedded else 0,
        seconds=clock.seconds,
        bytes=target.stat().st_size,
        digest=digest,
    )
    return summary, findings


def _parse(
    files: list[SourceFile], progress: Progress
) -> tuple[list[Page], set[str], list[Finding]]:
    """Return pages, the paths of files that became none, and findings."""
    documents = [file for file in files if file.disk.suffix.lower() in PAGE_SUFFIXES]
    pages: list[Page] = []
    left_out: set[str] = set()
    findings: list[Finding] = []
    parsed = parse_files(documents, lambda done: progress("parse", done, len(documents)))
    for file, (page, odd) in zip(documents, parsed, strict=True):
        findings += odd
        if page is None:
            left_out.add(file.path)
        else:
            pages.append(page)
    return pages, left_out, findings


def _refuse(findings: list[Finding]) -> None:
    serious = [finding for finding in findings if finding.severity != "info"]
    if serious:
        first = serious[0]
        raise LorepackError(
            f"--strict: {len(serious)} findings; the first is {first.path}, line {first.line}: "
            f"{first.message}",
            first.fix or "mend it, or build without --strict",
        )


def _token_offsets(model: ModelSpec | None) -> TokenOffsets:
    # An endpoint does not show its tokenizer.
    if model is None or not model.max_tokens:
        return estimated_offsets
    return tokenizer_offsets(load_tokenizer(model))


def _embedding_texts(pages: list[Page], chunks: list[tuple[Chunk, ...]]) -> list[str]:
    return [
        embedding_text(page, chunk)
        for page, own in zip(pages, chunks, strict=True)
        for chunk in own
    ]


def _embed(model: ModelSpec | None, texts: list[str], progress: Progress) -> Embedded | None:
    if model is None:
        return None
    return embed_texts(texts, model, lambda done, total: progress("embed", done, total))


def _render(
    recipe: Recipe, linked: list[LinkedPage], urls: dict[str, str], content: Content,
    files: list[SourceFile], epoch: int, progress: Progress,
) -> dict[str, bytes]:  # fmt: skip
    done = 0

    def on_page() -> None:
        nonlocal done
        done += 1
        progress("render", done, len(linked) + 2)

    return render_site(
        linked,
        urls,
        content.sources,
        {file.path: file for file in files},
        title=recipe.title,
        version=recipe.version,
        epoch=epoch,
        on_page=on_page,
    )


def _meta(
    recipe: Recipe, pages: list[Page], counts: dict[str, int], model: ModelSpec | None
) -> dict[str, object]:
    facts: dict[str, object] = {
        "name": recipe.name,
        "version": recipe.version,
        "title": recipe.title,
        "languages": sorted({page.lang for page in pages}),
        "builder": f"lorepack {version('lorepack')}",
        "embedder": model.fingerprint() if model else None,
        "segmenter": SEGMENTER_VERSION,
        "counts": counts,
        "previous_digest": "",
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
