"""The stages that a pack and a site have in common: a recipe in, linked and embedded pages out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from lorepack.errors import LorepackError
from lorepack.index.vectors import Floats
from lorepack.models.encoder import load_tokenizer
from lorepack.models.registry import ModelSpec
from lorepack_builder.acquire.documents import is_page
from lorepack_builder.cache.code_digest import code_digest
from lorepack_builder.cache.files import cache_file
from lorepack_builder.cache.parsed import Parsed, load_pages, page_key, save_pages
from lorepack_builder.chunk import chunk_pages
from lorepack_builder.chunk.tokens import TokenOffsets, estimated_offsets, tokenizer_offsets
from lorepack_builder.embed import Embedded, embed_texts, embedding_text
from lorepack_builder.embed.model import resolve_model
from lorepack_builder.engine import Engine
from lorepack_builder.history.changes import find_changes, pack_day
from lorepack_builder.history.previous import Previous
from lorepack_builder.index import Content
from lorepack_builder.link import link_pages
from lorepack_builder.lint import lint_pages, settle
from lorepack_builder.maintenance import review
from lorepack_builder.maintenance.tags import tag_findings
from lorepack_builder.maintenance.taxonomy_file import taxonomy_of
from lorepack_builder.model import Chunk, Finding, Page, SourceFile
from lorepack_builder.parse import written_by
from lorepack_builder.parse.pool import parse_files
from lorepack_builder.recipe import Recipe
from lorepack_builder.recipe.settings import TOOL_KEYS
from lorepack_builder.render.urls import page_urls
from lorepack_builder.stages import Acquired, Clock, Progress, source_date_epoch


@dataclass(frozen=True)
class Compiled:
    """What a recipe's sources became, before anything is written.

    ``left_out`` are the paths of files that became no page, ``parsed`` counts those that were
    parsed anew; ``texts`` are what was embedded.
    """

    content: Content
    files: Sequence[SourceFile]
    left_out: frozenset[str]
    parsed: int
    model: ModelSpec | None
    texts: Sequence[str]
    embedded: Embedded | None

    @property
    def pages(self) -> list[Page]:
        """The pages, in the order of their paths."""
        return [linked.page for linked in self.content.pages]


def compile_sources(
    recipe: Recipe, acquired: Acquired, clock: Clock, *, strict: bool, previous: Previous | None,
    engine: Engine,
) -> Compiled:  # fmt: skip
    """Parse, link, chunk, embed and look through it all.

    Args:
        previous: the pack that came before, to tell what changed.
        strict: whether a finding of severity error or warning is refused.
        engine: where it is parsed and embedded.

    Raises:
        LorepackError: the model or its cache cannot be used; or ``strict`` refuses.
    """
    model = resolve_model(recipe.model)
    files = acquired.files
    with clock.stage("parse"):
        pages, left_out, odd = _parse(recipe, acquired, clock, engine)
        findings = [*acquired.findings, *odd]
    with clock.stage("link"):
        linkable = [file for file in files if file.path not in left_out]
        linked, odd = link_pages(pages, linkable)
        findings += odd
    with clock.stage("lint"):
        day = pack_day(recipe.date, source_date_epoch(), linked)
        taxonomy = taxonomy_of(recipe, pages)
        findings += lint_pages(linked, files, recipe.lint, day)
        if strict:
            _refuse(settle(findings, pages, recipe.lint))
    with clock.stage("chunk"):
        chunks = chunk_pages(pages, _token_offsets(model), recipe.max_tokens)
    with clock.stage("embed"):
        texts = _embedding_texts(pages, chunks) if model else []
        embedded = _embed(model, texts, clock.progress, engine)
    vectors = embedded.vectors if embedded else None
    with clock.stage("upkeep"):
        embed = partial(_vectors, model) if model else None
        upkeep = review(linked, chunks, linkable, vectors, embed, taxonomy, day)
        findings = settle([*findings, *tag_findings(linked, upkeep.tags)], pages, recipe.lint)
    if strict:
        _refuse(findings)
    content = Content(
        sources=acquired.sources,
        pages=linked,
        chunks=chunks,
        urls=page_urls([page.path for page in pages]),
        findings=findings,
        vectors=vectors,
        upkeep=upkeep,
        changes=find_changes(linked, previous),
        dependencies=recipe.dependencies,
    )
    return Compiled(content, files, frozenset(left_out), clock.parsed, model, texts, embedded)


def _vectors(model: ModelSpec, texts: Sequence[str]) -> Floats:
    return embed_texts(texts, model, lambda *_: None).vectors


def _parse(
    recipe: Recipe, acquired: Acquired, clock: Clock, engine: Engine
) -> tuple[list[Page], set[str], list[Finding]]:
    """Return pages, the paths of files that became none, and findings."""
    documents = [file for file in acquired.files if is_page(file)]
    parsed = _parse_changed(recipe, documents, acquired, clock, engine)
    pages: list[Page] = []
    left_out: set[str] = set()
    findings: list[Finding] = []
    for file, (page, odd) in zip(documents, parsed, strict=True):
        findings += odd
        if page is None:
            left_out.add(file.path)
        elif recipe.tool_keys == TOOL_KEYS or page.code:
            pages.append(page)
        else:
            tool = written_by(json.loads(page.frontmatter), recipe.tool_keys)
            pages.append(replace(page, tool=tool))
    return pages, left_out, findings


def _parse_changed(
    recipe: Recipe, documents: Sequence[SourceFile], acquired: Acquired, clock: Clock,
    engine: Engine,
) -> list[Parsed]:  # fmt: skip
    """Return what each of ``documents`` is; what the last build parsed comes from the cache."""
    code, cache = code_digest(), cache_file("parsed", recipe.path)
    keys = [page_key(file, acquired.hashes[file.path], code) for file in documents]
    wanted = {key: file.source for key, file in zip(keys, documents, strict=True)}
    known = load_pages(cache, wanted)
    changed = {k: file for k, file in zip(keys, documents, strict=True) if k not in known}
    done = parse_files(
        list(changed.values()),
        lambda count: clock.progress("parse", count, len(changed)),
        engine,
    )
    fresh = dict(zip(changed, done, strict=True))
    clock.parsed = len(fresh)
    moved = acquired.changed_since() if fresh else set()
    # What a file held when it was parsed need not be what it held when its key was made.
    sure = {key: parsed for key, parsed in fresh.items() if changed[key].path not in moved}
    if sure or len(known) < len(wanted):
        save_pages(cache, sure, keys)
    return [fresh.get(key) or known[key] for key in keys]


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


def _embed(
    model: ModelSpec | None, texts: list[str], progress: Progress, engine: Engine
) -> Embedded | None:
    if model is None:
        return None
    return embed_texts(texts, model, lambda done, total: progress("embed", done, total), engine)
