"""The stages that a pack and a site have in common: a recipe in, linked and embedded pages out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from lorepack.builder.acquire import acquire
from lorepack.builder.chunk import chunk_pages
from lorepack.builder.chunk.tokens import TokenOffsets, estimated_offsets, tokenizer_offsets
from lorepack.builder.embed import Embedded, embed_texts, embedding_text
from lorepack.builder.embed.model import resolve_model
from lorepack.builder.index import Content
from lorepack.builder.link import link_pages
from lorepack.builder.model import Chunk, Finding, Page, SourceFile
from lorepack.builder.parse import PAGE_SUFFIXES
from lorepack.builder.parse.pool import parse_files
from lorepack.builder.recipe import Recipe
from lorepack.builder.render.urls import page_urls
from lorepack.packfile.errors import LorepackError
from lorepack.packfile.models.encoder import load_tokenizer
from lorepack.packfile.models.registry import ModelSpec

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, all); ``all`` is 0 while it is not known."""


@dataclass
class Clock:
    """Seconds by stage."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block."""
        self.progress(name, 0, 0)
        begin = perf_counter()
        yield
        self.seconds[name] = round(perf_counter() - begin, 3)


@dataclass(frozen=True)
class Compiled:
    """What a recipe's sources became, before anything is written.

    ``left_out`` are the paths of files that became no page; ``texts`` are what was embedded.
    """

    content: Content
    files: Sequence[SourceFile]
    left_out: frozenset[str]
    model: ModelSpec | None
    texts: Sequence[str]
    embedded: Embedded | None

    @property
    def pages(self) -> list[Page]:
        """The pages, in the order of their paths."""
        return [linked.page for linked in self.content.pages]


def compile_sources(recipe: Recipe, clock: Clock, *, strict: bool) -> Compiled:
    """Acquire, parse, link, chunk and embed.

    Args:
        strict: whether a finding of severity error or warning is refused.

    Raises:
        LorepackError: a source, the model or its cache cannot be used; or ``strict`` refuses.
    """
    model = resolve_model(recipe.model)
    with clock.stage("acquire"):
        sources, files, findings = acquire(recipe.sources)
    with clock.stage("parse"):
        pages, left_out, odd = _parse(files, clock.progress)
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
        embedded = _embed(model, texts, clock.progress)
    urls = page_urls([page.path for page in pages])
    vectors = embedded.vectors if embedded else None
    content = Content(sources, linked, chunks, urls, findings, vectors, recipe.dependencies)
    return Compiled(content, files, frozenset(left_out), model, texts, embedded)


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
