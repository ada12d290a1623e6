"""Dress rendered pages in mkdocs-material."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from lorepack.builder.model import Heading


@dataclass(frozen=True)
class SitePage:
    """One page of the site. ``lore`` is what the theme's ``main.html`` shows around it."""

    url: str
    title: str
    html: str
    headings: tuple[Heading, ...] = ()
    description: str = ""
    lang: str = "en"
    in_nav: bool = False
    lore: Mapping[str, Any] = field(default_factory=dict)

    @property
    def src_uri(self) -> str:
        """The Markdown file that mkdocs is told of."""
        return f"{self.url}index.md"


def build_site(
    pages: Sequence[SitePage], title: str, target: Path, epoch: int, on_page: Any
) -> None:
    """Write the site of ``pages`` to the folder ``target``.

    Args:
        epoch: the time in seconds that mkdocs takes for now, so that builds repeat.
        on_page: called after each page.
    """
    with _environment(epoch):
        from mkdocs.commands.build import build
        from mkdocs.config import load_config

        logging.getLogger("mkdocs").setLevel(logging.ERROR)
        docs = target.with_name(target.name + "-docs")
        docs.mkdir(parents=True)
        template = Path(str(files("lorepack.templates") / "mkdocs.yml"))
        with template.open("rb") as file:
            config = load_config(
                file,
                site_name=title,
                docs_dir=str(docs),
                site_dir=str(target),
                nav=[{page.title: page.src_uri} for page in pages if page.in_nav],
            )
        config.plugins["lorepack"] = _plugin(pages, on_page)
        build(config)


@contextmanager
def _environment(epoch: int) -> Iterator[None]:
    """mkdocs reads the time, and material a switch for its advertising, from the environment."""
    changed = {"SOURCE_DATE_EPOCH": str(epoch), "NO_MKDOCS_2_WARNING": "true"}
    before = {key: os.environ.get(key) for key in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for key, value in before.items():
            os.environ.pop(key, None)
            if value is not None:
                os.environ[key] = value


def _plugin(pages: Sequence[SitePage], on_page: Any) -> Any:
    """Return a mkdocs plugin that supplies finished HTML instead of Markdown."""
    from mkdocs.plugins import BasePlugin
    from mkdocs.structure.files import File
    from mkdocs.structure.toc import get_toc

    by_uri = {page.src_uri: page for page in pages}

    class LorepackPlugin(BasePlugin):  # type: ignore[type-arg, no-untyped-call]
        """Hooks of mkdocs, in the order in which it calls them."""

        def on_files(self, files: Any, config: Any) -> Any:
            for page in pages:
                files.append(File.generated(config, page.src_uri, content=""))
            return files

        def on_page_markdown(self, markdown: str, page: Any, config: Any, files: Any) -> str:
            own = by_uri[page.file.src_uri]
            page.meta = {"title": own.title, "description": own.description, "lore": own.lore}
            return ""

        def on_page_content(self, html: str, page: Any, config: Any, files: Any) -> str:
            own = by_uri[page.file.src_uri]
            page.toc = get_toc(cast(Any, _toc(own.headings)))
            return own.html

        def on_post_page(self, output: str, page: Any, config: Any) -> str:
            on_page()
            lang = by_uri[page.file.src_uri].lang
            return output.replace('<html lang="en"', f'<html lang="{lang}"', 1)

    return LorepackPlugin()


def _toc(headings: Sequence[Heading]) -> list[dict[str, Any]]:
    roots: list[dict[str, Any]] = []
    open_entries: list[dict[str, Any]] = []
    for heading in headings:
        entry = {"level": heading.level, "id": heading.anchor, "name": heading.text, "children": []}
        while open_entries and open_entries[-1]["level"] >= heading.level:
            open_entries.pop()
        (open_entries[-1]["children"] if open_entries else roots).append(entry)
        open_entries.append(entry)
    return roots
