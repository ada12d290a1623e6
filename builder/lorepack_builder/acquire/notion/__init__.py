"""Notion's exports (Markdown & CSV, or HTML) → documents under the names that people gave them."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lorepack_builder.acquire.folder import list_files
from lorepack_builder.acquire.ignore import ignore_rules
from lorepack_builder.acquire.notion.database import Database, database_markdown, read_database
from lorepack_builder.acquire.notion.html import html_page
from lorepack_builder.acquire.notion.links import relink
from lorepack_builder.acquire.notion.names import clean_paths
from lorepack_builder.acquire.notion.page import Note, front_matter, read_note
from lorepack_builder.acquire.repo import Acquired
from lorepack_builder.convert.decode import decode
from lorepack_builder.model import Finding, Source, SourceFile
from lorepack_builder.recipe import SourceSpec

_PAGES = (".md", ".html", ".htm")


def acquire_notion(spec: SourceSpec, source: Source, scratch: Path) -> Acquired:
    """Return the pages of an export as Markdown, written below ``scratch``, and its other files."""
    files, findings = list_files(source, ignore_rules(spec))
    by_name = {file.path.partition("/")[2]: file for file in files}
    dropped = _twins(by_name) | ({"index.html"} & by_name.keys() if _is_html(by_name) else set())
    names = clean_paths([name for name in by_name if name not in dropped])
    texts = {
        name: text
        for name in names
        if name.lower().endswith((*_PAGES, ".csv")) and (text := _read(by_name[name])) is not None
    }
    tables = {name: read_database(text) for name, text in texts.items() if name.endswith(".csv")}
    databases = {name: table for name, table in tables.items() if table is not None}
    findings += (
        Finding("bad-csv", "error", f"{source.name}/{names[name]}", 1, "is no CSV that can be read")
        for name, table in tables.items() if table is None
    )  # fmt: skip
    notes = _read_notes(texts, databases)
    made = {name: _page_text(name, note, names) for name, note in notes.items()}
    for name, database in databases.items():
        rows = _rows_of(name, notes)
        title = posixpath.basename(names[name]).removesuffix(".md")
        with_page = {note.title for note in rows.values()}
        made[name] = database_markdown(title, database, rows, name, names)
        findings += (
            Finding("lost-row", "info", f"{source.name}/{names[name]}", 1,
                    f"the row {row!r} has no page in the export")
            for row in database.titles if row and row not in with_page
        )  # fmt: skip
    source = replace(source, root=scratch)
    kept = {name: clean for name, clean in names.items() if tables.get(name, True)}
    return source, _files(source, by_name, kept, made, scratch), findings


def _read(file: SourceFile) -> str | None:
    """Return a file's text; one that cannot be read stays as it is, and is reported as such."""
    try:
        return decode(file.disk.read_bytes()).text
    except OSError:
        return None


def _read_notes(texts: Mapping[str, str], databases: Mapping[str, Database]) -> dict[str, Note]:
    notes = {}
    for name, text in texts.items():
        if name.lower().endswith(".md"):
            columns = _columns(name, databases)
            notes[name] = read_note(text, columns)
        elif not name.endswith(".csv"):
            notes[name] = html_page(text)
    return notes


def _page_text(name: str, note: Note, names: Mapping[str, str]) -> str:
    """A heading of its own names the page, so that a title that YAML would change stays whole."""
    body = relink(note.body, name, names)
    heading = f"# {note.title}\n\n" if note.title else ""
    return f"{front_matter(note.properties)}{heading}{body.strip()}\n"


def _columns(name: str, databases: Mapping[str, Database]) -> frozenset[str]:
    """Return the columns of the database in whose folder a page lies."""
    folder = posixpath.dirname(name)
    for suffix in ("_all.csv", ".csv"):
        if folder + suffix in databases:
            return frozenset(databases[folder + suffix].columns)
    for database, content in databases.items():
        # Newer exports leave the id out of the folder's name.
        if folder and clean_paths([database])[database].removesuffix(".md") == folder:
            return frozenset(content.columns)
    return frozenset()


def _rows_of(name: str, notes: Mapping[str, Note]) -> dict[str, Note]:
    stem = name.removesuffix(".csv").removesuffix("_all")
    plain = clean_paths([f"{stem}.csv"])[f"{stem}.csv"].removesuffix(".md")
    return {path: n for path, n in notes.items() if posixpath.dirname(path) in (stem, plain)}


def _twins(by_name: Mapping[str, SourceFile]) -> set[str]:
    """Return the tables of a view that stand beside the same database's whole table."""
    return {name for name in by_name if f"{name.removesuffix('.csv')}_all.csv" in by_name}


def _is_html(by_name: Mapping[str, SourceFile]) -> bool:
    return not any(name.endswith(".md") for name in by_name)


def _files(
    source: Source, by_name: Mapping[str, SourceFile], names: Mapping[str, str],
    made: Mapping[str, str], scratch: Path,
) -> list[SourceFile]:  # fmt: skip
    scratch.mkdir(parents=True, exist_ok=True)
    files = []
    for number, (name, clean) in enumerate(sorted(names.items(), key=lambda item: item[1])):
        disk = by_name[name].disk
        if name in made:
            disk = scratch / f"{number}.md"
            disk.write_text(made[name], encoding="utf-8", newline="\n")
        files.append(SourceFile(source, f"{source.name}/{clean}", disk))
    return sorted(files, key=lambda file: file.path)
