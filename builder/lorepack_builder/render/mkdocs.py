"""Dress rendered pages in mkdocs-material."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import yaml

from lorepack.pack.site import CONTENT_SECURITY
from lorepack.util.temporary import own_folder
from lorepack_builder.model import Heading
from lorepack_builder.render.linked_data import linked_data
from lorepack_builder.render.model import SitePage, Theme

_NOT_SHIPPED = (".map", ".gz")
_NOT_SHIPPED_FOLDERS = ("assets/javascripts/lunr/", "assets/javascripts/workers/")
_REPLACED = ("sitemap.xml",)


def build_site(
    pages: Sequence[SitePage], theme: Theme, body: Callable[[SitePage], str]
) -> dict[str, bytes]:
    """Return the HTML of ``pages`` and the theme's own files, by their path in the site.

    A page does not depend on which others are built with it.

    Args:
        body: gives the HTML of a page's body.
    """
    with _environment(theme.epoch), own_folder() as scratch:
        from mkdocs.commands.build import build
        from mkdocs.config import load_config

        logging.getLogger("mkdocs").setLevel(logging.ERROR)
        docs, target = scratch / "docs", scratch / "site"
        docs.mkdir()
        template = Path(str(files("lorepack_templates") / "mkdocs.yml"))
        look = yaml.safe_load(template.read_bytes())["theme"]
        with template.open("rb") as file:
            config = load_config(
                file,
                theme={**look, "custom_dir": str(files("lorepack_site") / "theme")},
                site_name=escape(theme.title),
                docs_dir=str(docs),
                site_dir=str(target),
                # The theme draws its own navigation; without one, mkdocs would nest all pages.
                nav=[{"Start": "index.md"}],
            )
        config.extra["address"] = theme.address
        config.extra["security"] = CONTENT_SECURITY
        config.extra["nav"] = [{"title": escape(title), "url": url} for title, url in theme.nav]
        config.plugins["lorepack"] = _plugin(pages, theme.title, body)
        build(config)
        return dict(_read_tree(target))


def _read_tree(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        skipped = name.endswith(_NOT_SHIPPED) or name.startswith(_NOT_SHIPPED_FOLDERS)
        if path.is_file() and not skipped and name not in _REPLACED:
            yield name, path.read_bytes()


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


def _plugin(pages: Sequence[SitePage], title: str, body: Callable[[SitePage], str]) -> Any:
    """Return a mkdocs plugin that supplies finished HTML instead of Markdown.

    The theme's templates escape nothing, so what they show is escaped here.
    """
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
            page.meta = {
                "title": escape(own.title),
                "description": escape(own.description),
                "lang": escape(own.lang),
                "address": own.url,
                "linked_data": linked_data(own, title),
                "lore": _escaped(own.lore),
            }
            return ""

        def on_page_content(self, html: str, page: Any, config: Any, files: Any) -> str:
            own = by_uri[page.file.src_uri]
            page.toc = get_toc(cast(Any, _toc(own.headings)))
            return body(own)

        def on_post_page(self, output: str, page: Any, config: Any) -> str:
            lang = escape(by_uri[page.file.src_uri].lang)
            return output.replace('<html lang="en"', f'<html lang="{lang}"', 1)

    return LorepackPlugin()


def _escaped(value: Any) -> Any:
    """Return plain data with every text escaped for HTML."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, Mapping):
        return {key: _escaped(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_escaped(inner) for inner in value]
    return value


def _toc(headings: Sequence[Heading]) -> list[dict[str, Any]]:
    roots: list[dict[str, Any]] = []
    open_entries: list[dict[str, Any]] = []
    for heading in headings:
        entry = {
            "level": heading.level,
            "id": heading.anchor,
            "name": escape(heading.text),
            "children": [],
        }
        while open_entries and open_entries[-1]["level"] >= heading.level:
            open_entries.pop()
        (open_entries[-1]["children"] if open_entries else roots).append(entry)
        open_entries.append(entry)
    return roots
