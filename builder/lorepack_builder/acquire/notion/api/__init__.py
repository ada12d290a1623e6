"""Read pages through Notion's API, and write them as its export would: one reader does for both."""

from __future__ import annotations

import csv
import io
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lorepack.errors import LorepackError
from lorepack.util.untrusted import dicts, tables
from lorepack_builder.acquire.notion.api.blocks import block_markdown
from lorepack_builder.acquire.notion.api.client import Client
from lorepack_builder.acquire.notion.api.text import plain_text, property_text

TOKEN_VARIABLE = "NOTION_TOKEN"  # noqa: S105
URL_VARIABLE = "NOTION_API_URL"
_BASE_URL = "https://api.notion.com"
_ID = re.compile(r"([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$")
_UNSAFE = re.compile(r"[/\\\x00-\x1f:*?\"<>|]+")
_MAX_PAGES = 20_000
_MAX_DEPTH = 20


@dataclass
class _Export:
    """What was written so far: every page once, however often it is reached."""

    client: Client
    root: Path
    seen: set[str] = field(default_factory=set)

    def page(self, id: str, folder: str, depth: int, columns: tuple[str, ...] = ()) -> str:
        """Write a page and those below it; return its path, '' if it was written before."""
        if not self._first(id, depth):
            return ""
        page = self.client.get(f"pages/{id}")
        title = _title(page)
        path = f"{folder}{_name(title, id)}.md"
        lines = [f"# {title}", ""]
        properties = tables(page.get("properties"))
        for column in columns:
            if text := property_text(properties.get(column)):
                lines.append(f"{column}: {text}")
        body = self._blocks(id, f"{path.removesuffix('.md')}/", depth)
        self._write(path, "\n".join([*lines, "", body]))
        return path

    def database(self, id: str, folder: str, depth: int) -> str:
        """Write a database's table and its rows; return its path, '' if it was written before."""
        if not self._first(id, depth):
            return ""
        about = self.client.get(f"databases/{id}")
        title = plain_text(about.get("title")) or "Untitled"
        path = f"{folder}{_name(title, id)}"
        schema = tables(about.get("properties"))
        named = [name for name, kind in schema.items() if tables(kind).get("type") == "title"]
        columns = tuple(named + [name for name in sorted(schema) if name not in named])
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(columns)
        for row in self.client.query(id):
            values = tables(row.get("properties"))
            rows.writerow([property_text(values.get(column)) for column in columns])
            self.page(_plain_id(row.get("id")), f"{path}/", depth + 1, columns[len(named) :])
        self._write(f"{path}_all.csv", text.getvalue())
        return f"{path}.csv"

    def _first(self, id: str, depth: int) -> bool:
        if id in self.seen or depth > _MAX_DEPTH or len(self.seen) >= _MAX_PAGES:
            return False
        self.seen.add(id)
        return True

    def _blocks(self, id: str, folder: str, depth: int) -> str:
        def inner(block: dict[str, Any]) -> str:
            return (
                self._blocks(str(block.get("id")), folder, depth + 1) if depth < _MAX_DEPTH else ""
            )

        def below(block: dict[str, Any]) -> str:
            kind, own = block.get("type"), _plain_id(block.get("id"))
            write = self.page if kind == "child_page" else self.database
            path = write(own, folder, depth + 1)
            title = str(tables(block.get(str(kind))).get("title") or "Untitled")
            # As seen from the page, whose folder has its own name.
            inside = path.removeprefix(folder.rstrip("/").rpartition("/")[0]).lstrip("/")
            return f"[{title}]({quote(inside)})" if path else title

        return block_markdown(list(self.client.children(id)), inner, below)

    def _write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")


def export_pages(address: str, into: Path) -> None:
    """Write the page or database ``address`` (an id, or a link to it) and all below it.

    Args:
        into: an empty folder.

    Raises:
        LorepackError: there is no token, or the API refuses or does not answer.
    """
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        raise LorepackError(
            f"{TOKEN_VARIABLE} is not set", "make an integration, and share the pages with it"
        )
    match = _ID.search(address.partition("?")[0].lower())
    if match is None:
        raise LorepackError(f"{address} names no page of Notion", "give its id or its link")
    id = "".join(match.groups())
    client = Client(os.environ.get(URL_VARIABLE, _BASE_URL).rstrip("/"), token)
    into.mkdir(parents=True, exist_ok=True)
    export = _Export(client, into)
    if client.exists(f"databases/{id}"):
        export.database(id, "", 0)
    else:
        export.page(id, "", 0)


def _title(page: dict[str, Any]) -> str:
    for value in dicts(list(tables(page.get("properties")).values())):
        if value.get("type") == "title":
            return plain_text(value.get("title")) or "Untitled"
    return "Untitled"


def _name(title: str, id: str) -> str:
    """Return a file's name as exports have it: the title, cut, and the id."""
    return f"{_UNSAFE.sub(' ', title).strip()[:50].strip()} {id}"


def _plain_id(id: Any) -> str:
    """Return an id as addresses have it; what it becomes part of is a file's name."""
    return re.sub(r"[^0-9a-z]", "", str(id).lower())
