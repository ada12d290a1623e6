"""What is fuzzed: each parser of untrusted input, as a function of bytes that must just return."""

from __future__ import annotations

import atexit
import gzip
import io
import json
import lzma
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lorepack.clients.jsonc import parse, put
from lorepack.errors import LorepackError
from lorepack.manifests.read import Unreadable
from lorepack.manifests.tree import READERS, WORKSPACES
from lorepack.pack.delta import apply_delta, make_delta
from lorepack_builder.acquire.archive import unpack
from lorepack_builder.acquire.codewiki.live.sections import wiki_documents
from lorepack_builder.acquire.codewiki.modules import module_tree
from lorepack_builder.acquire.codewiki.qoder import METADATA, repowiki
from lorepack_builder.acquire.notion.api.blocks import block_markdown
from lorepack_builder.acquire.notion.api.text import property_text
from lorepack_builder.acquire.notion.database import database_markdown, read_database
from lorepack_builder.acquire.notion.html import html_page
from lorepack_builder.acquire.notion.page import front_matter, read_note
from lorepack_builder.chunk import chunk_pages
from lorepack_builder.chunk.tokens import estimated_offsets
from lorepack_builder.convert.decode import decode
from lorepack_builder.link import link_pages
from lorepack_builder.lint.hygiene import hygiene_findings
from lorepack_builder.model import Source, SourceFile
from lorepack_builder.parse import parse_data
from lorepack_builder.parse.frontmatter import read_frontmatter
from lorepack_builder.parse.mermaid import parse_mermaid
from lorepack_builder.recipe import read_recipe
from lorepack_builder.render.html import render_page
from lorepack_builder.render.model import SiteMap
from lorepack_builder.render.urls import page_urls

SCRATCH = Path(tempfile.mkdtemp())
"""Where inputs that must be files lie, until the process ends."""
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


@dataclass(frozen=True)
class Target:
    """A parser, inputs to begin with, what its inputs are made of, its share of all inputs."""

    run: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    words: tuple[str, ...] = ()
    share: int = 4


def _text(data: bytes) -> str:
    return decode(data).text


def _source(layout: str) -> Source:
    return Source("v", layout, "v", SCRATCH, layout=layout, code=True)


def _parse(suffix: str, layout: str = "vault") -> Callable[[bytes], object]:
    source = _source(layout)
    file = SourceFile(source, f"v/a{suffix}", SCRATCH / f"a{suffix}")
    return lambda data: parse_data(file, data)


def _whole_page(data: bytes) -> None:
    """Take a page from its bytes to its HTML, as a build does."""
    file = SourceFile(_source("vault"), "v/a.md", SCRATCH / "a.md")
    page, _ = parse_data(file, data)
    if page is None:
        return
    list(hygiene_findings(page))
    linked, _ = link_pages([page], [file])
    chunk_pages([page], estimated_offsets, 64)
    render_page("v/a.md", SiteMap({"v/a.md": linked[0]}, page_urls(["v/a.md"])))


def _code(data: bytes) -> None:
    suffixes = (".py", ".js", ".ts", ".go", ".rs", ".java", ".c", ".cpp", ".cs", ".rb", ".php")
    suffix = suffixes[data[0] % len(suffixes)] if data else ".py"
    _parse(suffix, "repo")(data[1:])


def _manifest(pattern: str) -> Callable[[bytes], object]:
    path = SCRATCH / pattern.replace("*", "")
    uses = [table[pattern] for table in (READERS, WORKSPACES) if pattern in table]

    def read(data: bytes) -> None:
        path.write_bytes(data)
        for use in uses:
            with suppress(Unreadable):
                list(use(path))

    return read


def _archive(data: bytes) -> None:
    path, into = SCRATCH / "a.zip", SCRATCH / "unpacked"
    path.write_bytes(data)
    into.mkdir()
    try:
        with suppress(LorepackError):
            unpack(path, into)
        assert {entry.name for entry in SCRATCH.iterdir()} >= {"a.zip", "unpacked"}
    finally:
        shutil.rmtree(into)


def _csv(data: bytes) -> None:
    text = _text(data)
    if database := read_database(text):
        note = read_note(text, frozenset(database.columns))
        database_markdown("d", database, {"d/n.md": note}, "d.csv", {"d.csv": "d.md", "d/n.md": "d/n.md"})  # fmt: skip


def _notion(data: bytes) -> None:
    front_matter(read_note(_text(data), frozenset({"Tags", "Created", "Status"})).properties)
    front_matter(html_page(_text(data)).properties)


def _object(data: bytes) -> dict[str, object]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _notion_blocks(data: bytes) -> None:
    if block := _object(data):
        block_markdown([block], lambda _: "", lambda _: "")
        property_text(block)


def _module_tree(data: bytes) -> None:
    source = _source("codewiki")
    files = [SourceFile(source, f"v/{name}.md", SCRATCH / name) for name in ("overview", "core")]
    module_tree(source, _object(data), files)


def _repowiki(data: bytes) -> None:
    root = SCRATCH / "wiki"
    (root / "content").mkdir(parents=True, exist_ok=True)
    source = Source("v", "codewiki", "v", root)
    files = [SourceFile(source, "v/content/A.md", root / "content" / "A.md")]
    repowiki(source, files, lambda path: _object(data) if METADATA in str(path) else {})


def _recipe(data: bytes) -> None:
    path = SCRATCH / "r.toml"
    path.write_bytes(data)
    with suppress(LorepackError):
        read_recipe(path)


def _delta(data: bytes) -> None:
    _old_and_delta()
    (SCRATCH / "d.delta").write_bytes(data)
    with suppress(LorepackError):
        apply_delta(SCRATCH / "old", SCRATCH / "d.delta", SCRATCH / "new")


def _old_and_delta() -> bytes:
    old, new, delta = SCRATCH / "old", SCRATCH / "next", SCRATCH / "made.delta"
    if not delta.exists():
        old.write_bytes(b"SQLite format 3\0" + b"old page " * 400)
        new.write_bytes(b"SQLite format 3\0" + b"new page " * 400)
        make_delta(old, new, delta)
    return delta.read_bytes()


def _settings(data: bytes) -> None:
    with suppress(LorepackError, ValueError):
        text = _text(data)
        parse(put(text, ("mcpServers", "lorepack"), {"command": "lorepack", "args": ["mcp"]}))


_MARKDOWN = (
    b"---\ntitle: A\ntags: [x, 'y']\naliases: b\n---\n# A ^id\n\n[[b#c|d]] ![[p.png|20]] #tag\n\n"
    b"> [!note]- T\n> x\n\n- [x] a\n  1. b\n\n| a | b |\n|---|---|\n| `c` | [[d\\|e]] |\n",
    b"%% c %%\n<!-- d -->\n\n```mermaid\ngraph TD\nA[x] -->|y| B\n```\n\n$$\nx^2\n$$\n\n[a]: b\n[^1]: n\n"
    b"<details><b>x</b></details>\n\n==m== ~~s~~ **b** _i_ https://x.example/y 'z'\n\nT\n===\n",
    "# 安装 İı 🐘\n\n如何[[安装]]？\u200b\u202e\n\n!!! note \"T\"\n    x\n\n::: tip\ny\n:::\n".encode(),
)  # fmt: skip
_MARKDOWN_WORDS = (
    "[[", "]]", "![[", "|", "#^", "```", "~~~", "%%", "<!--", "-->", "$$", "> [!note]", "- [ ] ",
    "---\n", "===\n", "|---|", "^id", "[^1]", "](", "<b>", "</b>", "<script>", "&amp;", "\\", "==",
    "**", "https://", "\n\n", "    ", "\t", "::: ", "!!! ", "{", "}", "tags:", "aliases:", "&a", "*a",
    "!!python/object", "\u2028", "\x00", "\r",
)  # fmt: skip
_MERMAID = (
    b"graph TD\nsubgraph S\nA[x] -->|y| B{z}\nend\nA & B --> C",
    b"sequenceDiagram\nparticipant A as B\nA->>B: m",
    b"classDiagram\nclass A{\n+x()\n}\nA <|-- B : c",
    b"stateDiagram-v2\n[*] --> A\nstate A {\nB --> C\n}",
    b"erDiagram\nA ||--o{ B : c",
)
_RST = (
    b"=====\nTitle\n=====\n\n.. _l:\n\nA\n-\n\n:ref:`l` |s| `x <y_>`__ ``c`` [1]_\n\n.. |s| replace:: t\n"
    b".. code-block:: py\n   :linenos:\n\n   x = 1\n\n.. note:: n\n\n* a\n\n  * b\n\n#. c\n\nterm\n  def\n\n.. [1] f\n",
    b"+---+---+\n| a | b |\n+===+===+\n| c | d |\n+---+---+\n\n=== ===\na   b\n=== ===\nc   d\n=== ===\n\n"
    b".. toctree::\n   :glob:\n\n   x\n   y <z>\n\n.. list-table::\n\n   * - a\n     - b\n\n.. function:: f(x)\n\n   d\n",
)  # fmt: skip
_HTML = (
    b"<html lang=tr><title>T</title><body><h1 id=a>A</h1><p>x <a href='#a'>y</a><ul><li>b<ul><li>c</ul></ul>"
    b"<table><tr><th>h<td>d</table><pre><code class='language-py'>x</code></pre><img src=x><script>s</script>",
)  # fmt: skip
_WIKI = (
    b"<h1 id='o'>O</h1><p>x <a href='#s'>s</a> <a href='/github.com/a/b#s'>t</a><h2 id=s>S</h2>"
    b"<img src='data:image/svg+xml;base64,PHN2Zz48ZyBjbGFzcz0ibm9kZSI+PHRpdGxlPmE8L3RpdGxlPjwvZz48L3N2Zz4='>"
    b"<svg><g class='node'><title>a</title><ellipse cx='1' cy='2' rx='3' ry='4'/><text>A</text></g>"
    b"<g class='edge'><title>a&#45;&gt;b</title></g><g class='cluster'><polygon points='0,0 9,9'/></g></svg>",
)  # fmt: skip
_MANIFESTS: Mapping[str, bytes] = {
    "pom.xml": b"<project xmlns='x'><modules><module>m</module></modules><properties><v>1</v></properties>"
               b"<dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId><version>${v}</version>"
               b"</dependency></dependencies></project>",
    "*.csproj": b"<Project><ItemGroup><PackageReference Include='A' Version='1'/></ItemGroup></Project>",
    "Directory.Packages.props": b"<Project><ItemGroup><PackageVersion Include='A' Version='1'/></ItemGroup></Project>",
    "*.sln": b'Project("{F}") = "A", "a\\a.csproj", "{G}"\nEndProject\n',
    "Cargo.toml": b"[workspace]\nmembers=['a/*']\n[dependencies]\na='1'\nb={git='https://x/y',version='2'}\n",
    "composer.json": b'{"require": {"a/b": "^1"}, "repositories": [{"type": "vcs", "url": "https://x/y"}]}',
    "go.mod": b"module a\n\nrequire (\n\tgithub.com/a/b v1.2.3 // indirect\n)\nreplace c => ../d\n",
    "go.work": b"go 1.21\nuse (\n\t./a\n\t./b\n)\n",
    "pyproject.toml": b"[project]\ndependencies=['a>=1','b @ git+https://x/y@z']\n[tool.poetry.dependencies]\nc='^1'\n",
    "requirements*.txt": b"a==1\n-r other.txt\nb[c]>=2; python_version<'3'\n-e git+https://x/y.git@z#egg=d\n",
    "package.json": b'{"workspaces": ["a/*"], "dependencies": {"b": "^1", "c": "github:x/y#z"}}',
    "pnpm-workspace.yaml": b"packages:\n  - 'a/*'\ncatalog:\n  b: ^1\n",
    "Gemfile.lock": b"GIT\n  remote: https://x/y\n  revision: z\n  specs:\n    a (1)\n\nGEM\n  specs:\n    b (2)\n\nDEPENDENCIES\n  b\n",
    "build.gradle": b"dependencies {\n  implementation 'g:a:1'\n  api(group: 'g', name: 'b', version: v)\n}\n",
    "build.gradle.kts": b'dependencies {\n  implementation("g:a:1")\n}\n',
}  # fmt: skip
_JSON_WORDS = ('"', "{", "}", "[", "]", ":", ",", "null", "true", "1e999", "-", "\\u0000", "\\ud800",
               "9" * 30)  # fmt: skip
_XML_WORDS = ("<", "</", "/>", "='", "<!DOCTYPE", "<!ENTITY", "&x;", "<![CDATA[", "]]>", "xmlns")


def _archives() -> tuple[bytes, ...]:
    """A zip, a tar and three packed ones, each with a folder, a file and a link."""
    zipped, plain = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b.md", "# B\n" * 20)
        archive.writestr("a/ü.md", "x")
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name, kind in (("a/b.md", tarfile.REGTYPE), ("a/l", tarfile.SYMTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "b.md"
            archive.addfile(member)
    tar = plain.getvalue()[:3072]
    return zipped.getvalue(), tar, gzip.compress(tar), lzma.compress(tar), gzip.compress(b"# A")


TARGETS: Mapping[str, Target] = {
    "frontmatter": Target(lambda data: read_frontmatter(f"---\n{_text(data)}\n---\nx"),
                          (b"title: A\ntags: [x, 'y']\na: &b {c: 1}\nd: *b\n? e\n: - f\n", b"date: 2026-01-02\n"),
                          _MARKDOWN_WORDS),
    "markdown": Target(_parse(".md"), _MARKDOWN, _MARKDOWN_WORDS),
    "markdown_repo": Target(_parse(".md", "repo"), _MARKDOWN, _MARKDOWN_WORDS),
    "whole_page": Target(_whole_page, _MARKDOWN, _MARKDOWN_WORDS),
    "mermaid": Target(lambda data: parse_mermaid(_text(data), 1), _MERMAID),
    "canvas": Target(_parse(".canvas"), (
        b'{"nodes": [{"id": "a", "type": "text", "text": "[[x]]", "x": 1, "y": 2, "width": 3, "height": 4},'
        b'{"id": "g", "type": "group", "label": "G", "x": 0, "y": 0, "width": 9, "height": 9}],'
        b'"edges": [{"id": "e", "fromNode": "a", "toNode": "g", "label": "l"}]}',), _JSON_WORDS),
    "notebook": Target(_parse(".ipynb"), (
        b'{"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": [{"cell_type": "code",'
        b'"source": ["x"], "outputs": [{"output_type": "stream", "text": "y"}, {"data": {"text/plain": ["z"]}}]},'
        b'{"cell_type": "markdown", "source": "# A"}]}',), _JSON_WORDS),
    "base": Target(_parse(".base"), (b"views:\n  - type: table\n    name: A\n    filters:\n      and: [x]\n",)),
    "rst": Target(_parse(".rst", "repo"), _RST, ("::", ".. ", "``", "`_", ":ref:`", "+--", "+==", "====", "|x|")),
    "html": Target(_parse(".html", "folder"), _HTML, ("<table>", "<td>", "<li>", "<pre>", "&#", "<!--")),
    "code": Target(_code, (
        b"\0'''d'''\nclass A:\n    def f(self): 'x'\n", b"\1/** d */ export class A { f() {} }",
        b"\3package a\n// d\nfunc F() {}\n", b"\5/** d */ class A { void f() {} }", b"\6/* d */ int f(void) {}"),
        ("class ", "def ", "{", "}", "(", ")", "/*", "*/", "'''", '"', "#", "//")),
    "csv": Target(_csv, (b'Name,Tags,R\nA,"x, y",B (d/n.md)\n"q""r",,\n', b"\xef\xbb\xbfa\r\n"), ('"', ",", "\r", "\n")),
    "notion_page": Target(_notion, (b"# T\n\nTags: a, b\nCreated: January 1, 2024 9:00 AM\n\n<aside>\nx\n</aside>\n",
                                    *_HTML), _MARKDOWN_WORDS),
    "notion_blocks": Target(_notion_blocks, (
        b'{"type": "paragraph", "id": "a", "paragraph": {"rich_text": [{"plain_text": "x", "href": "y",'
        b'"annotations": {"bold": true}}]}}', b'{"type": "table_row", "table_row": {"cells": [[{}]]}}'), _JSON_WORDS),
    "module_tree": Target(_module_tree, (b'{"core": {"components": ["a.b"], "children": {"x": {"components": []}}}}',),
                          _JSON_WORDS),
    "repowiki": Target(_repowiki, (
        b'{"wiki_catalogs": [{"id": "1", "name": "A", "parent_id": "2"}], "knowledge_relations":'
        b'[{"source_id": "1", "target_id": "1"}]}',), _JSON_WORDS),
    "codewiki_page": Target(lambda data: list(wiki_documents([_text(data), _text(data)])), _WIKI,
                            ("<h1>", "<svg>", "<g class='edge'>", "<title>", "points='", "data:image/svg+xml,")),
    "archive": Target(_archive, _archives(), ("PK\x03\x04", "PK\x05\x06", "../", "ustar")),
    "recipe": Target(_recipe, (b"[pack]\nname='a'\nversion='1'\n[[source]]\nname='v'\nkind='vault'\npath='x'\n"
                               b"[chunk]\nmax_tokens=256\n[embed]\nmodel='none'\n[[eval]]\nquestion='q'\n",)),
    "delta": Target(_delta, (_old_and_delta(),)),
    "settings": Target(_settings, (b'{\n  // c\n  "mcpServers": {"a": {"b": [1, 2,],},},\n}\n',), _JSON_WORDS),
    **{f"manifest_{name.strip('*.').replace('*', '')}":
       Target(_manifest(name), (seed,), _XML_WORDS if seed.startswith(b"<") else (), share=1)
       for name, seed in _MANIFESTS.items()},
}  # fmt: skip
