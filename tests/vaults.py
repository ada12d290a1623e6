"""Small vaults in memory: parse them, link them, chunk them, without a whole build."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lorepack_builder.acquire import acquire
from lorepack_builder.acquire.documents import is_page
from lorepack_builder.chunk import chunk_pages
from lorepack_builder.chunk.tokens import estimated_offsets
from lorepack_builder.link import link_pages
from lorepack_builder.model import Chunk, Finding, LinkedPage, Page, SourceFile, Target
from lorepack_builder.parse import parse_file
from lorepack_builder.recipe import SourceSpec
from lorepack_builder.render.html import render_page
from lorepack_builder.render.model import SiteMap
from lorepack_builder.render.urls import page_urls
from tests.conftest import Files, write_files


@dataclass(frozen=True)
class Vault:
    """A vault after parse and link. Paths are given without the source's name."""

    linked: list[LinkedPage]
    files: list[SourceFile]
    findings: list[Finding]

    def __getitem__(self, path: str) -> Page:
        return self._linked(path).page

    def _linked(self, path: str) -> LinkedPage:
        return next(item for item in self.linked if item.page.path == f"v/{path}")

    def targets(self, path: str) -> list[str | None]:
        """Where the links of a page lead: ``path#anchor``, ``missing:…``, None for the web."""
        return [_shown(target) for target in self._linked(path).targets]

    def rules(self, path: str | None = None) -> list[str]:
        return [f.rule for f in self.findings if path is None or f.path == f"v/{path}"]

    def html(self, path: str) -> str:
        pages = {item.page.path: item for item in self.linked}
        return render_page(f"v/{path}", SiteMap(pages, page_urls(list(pages))))

    def chunks(self, path: str, max_tokens: int = 256) -> tuple[Chunk, ...]:
        return chunk_pages([self[path]], estimated_offsets, max_tokens)[0]


def _shown(target: Target | None) -> str | None:
    if target is None:
        return None
    if target.kind == "missing":
        return f"missing:{target.path}"
    anchor = f"#{target.anchor}" if target.anchor else ""
    return target.path.removeprefix("v/") + anchor


def open_vault(folder: Path, files: Files, *, exclude: tuple[str, ...] = ()) -> Vault:
    """Write ``files`` and take them through acquire, parse and link."""
    return read_vault(write_files(folder, files), exclude=exclude)


def read_vault(folder: Path, *, exclude: tuple[str, ...] = (), kind: str = "vault") -> Vault:
    spec = SourceSpec("v", kind, folder, str(folder), exclude, "", "")
    _, found, findings = acquire([spec], folder)
    pages: list[Page] = []
    kept: list[SourceFile] = []
    for file in found:
        if not is_page(file):
            kept.append(file)
            continue
        page, odd = parse_file(file)
        findings += odd
        if page:
            pages.append(page)
            kept.append(file)
    linked, odd = link_pages(pages, kept)
    return Vault(linked, kept, findings + odd)
