"""What both sides share, by example: texts, tags, versions, addresses, graphs, configurations."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lorepack.clients import jsonc
from lorepack.clients.targets import TARGETS
from lorepack.forges import blob_url, repo_name, source_url
from lorepack.index.postings import decode_postings, encode_postings, impacts
from lorepack.manifests.repos import repo_of_url
from lorepack.pack.diff.model import HOWS, KINDS, Change, Difference
from lorepack.pack.diff.report import as_changelog, as_text, numbers
from lorepack.pack.export import WRITERS
from lorepack.pack.export.model import Edge, Graph, Node
from lorepack.pack.rules import as_severe_as
from lorepack.pack.site import at_address, is_addressed
from lorepack.pack.taxonomy import read_taxonomy
from lorepack.text.comments import strip_comments
from lorepack.text.invisible import first_hidden, without_hidden
from lorepack.text.language import guess_language, question_language
from lorepack.text.tokenize import is_plain_word, segment, segment_query
from lorepack.text.xml import xml_text
from lorepack.util.temporary import is_running, own_folder, own_name, remove_abandoned
from lorepack.util.untrusted import dicts, items, tables, texts
from lorepack.versions import version_key

# Texts


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("HALYARD_DISPATCH_TIMEOUT", "halyard_dispatch_timeout halyard dispatch timeout",
         ["halyard_dispatch_timeout halyard dispatch timeout"]),
        ("getHTTPServer", "gethttpserver get http server", ["gethttpserver get http server"]),
        ("std::vector", "std::vector std vector", ["std::vector std vector"]),
        ("--dry-run v3.1.0", "--dry-run dry-run dri run v3.1.0 v3 v 3 1 0",
         ["--dry-run dry-run dri run", "v3.1.0 v3 v 3 1 0"]),
        ("don't running", "don run", ["don", "run running"]),
        ("İstanbul ışık Iğdır", "istanbul isik igdir", ["istanbul", "isik", "igdir"]),
        ("怎样观察", "怎样 样观 观察 察", ["怎样 样观 观察"]),
        ("東京a", "東京 京 a", ["東京", "a"]), ("東", "東", ["東"]),
        ("C++ C# .NET @x ~/x $HOME", "c++ c c# c .net net @x x ~/x x $home home",
         ["c++ c", "c# c", ".net net", "@x x", "~/x x", "$home home"]),
        ("naïve café", "naiv cafe", ["naiv naive", "cafe"]), ("", "", []), ("— !", "", []),
        ("x" * 70, "x" * 64, [f"{'x' * 64} {'x' * 64}"]),
        ("getName.js", "getname.js getname get name js", ["getname.js getname get name js"]),
    ],
)  # fmt: skip
def test_tokens(text: str, tokens: str, words: list[str]) -> None:
    assert segment(text) == tokens.split()
    assert [" ".join(word) for word in segment_query(text)] == words


def test_plain_words_and_identifiers() -> None:
    for word in ("don't", "running", "ışık", "東京"):
        assert all(is_plain_word(tokens) for tokens in segment_query(word)), word
    for identifier in ("getHTTPServer", "--dry-run", "C#", "v3.1.0", "a_b"):
        assert not any(is_plain_word(tokens) for tokens in segment_query(identifier)), identifier


@pytest.mark.parametrize(
    ("text", "guess", "asked"),
    [
        ("", "xx", "en"), ("the cat", "xx", "en"), ("the and of to", "en", "en"),
        ("ve bir bu için", "tr", "tr"), ("これは", "ja", "ja"), ("안녕하세요 여러분", "ko", "ko"),
        ("привет мир", "ru", "ru"), ("der die das ist", "de", "de"), ("怎样", "zh", "zh"),
        ("ğ ş ğ ş ğ ş ğ ş", "tr", "tr"), ("ğ ş ğ ş ğ ş", "xx", "tr"), ("שלום", "he", "he"),
        ("สวัสดี", "th", "th"), ("é", "xx", ""), ("مرحبا", "ar", "ar"), ("Ελλάδα", "el", "el"),
        ("नमस्ते", "hi", "hi"), ("le les des et", "fr", "fr"), ("il di che non", "it", "it"),
        ("el los las y", "es", "es"), ("os e uma para", "pt", "pt"), ("het een en van", "nl", "nl"),
        ("a" * 4000 + " ve bir bu için olarak", "xx", ""),
        ("The English text says 怎 once, and that is not enough", "en", "en"),
    ],
)  # fmt: skip
def test_languages(text: str, guess: str, asked: str) -> None:
    assert guess_language(text, "xx") == guess and question_language(text) == asked
    assert guess_language(text) == ("en" if guess == "xx" else guess)


def test_hidden_characters() -> None:
    told = {"a\u202eb": 1, "a\u200bb": None, "x\u200b\u200b\u200b\u200b": 1, "\U000e0041": 0,
            "plain": None, "\ufeffx": None, "z\U000e0100": None, "zz\U000e0100\U000e0101": 2,
            "🏴\U000e0067\U000e0062": None, "": None}  # fmt: skip
    assert {text: first_hidden(text) for text in told} == told
    kept = {"a\u200db\u200c\x07c\td\n": "abc\td\n", "❤\ufe0f\ufe0f": "❤\ufe0f", "\ufe0fx": "x",
            "न\u200dम": "न\u200dम", "x \u200d": "x ", "a\u00adb": "ab", "plain\r\n": "plain\r\n",
            "漢\U000e0100": "漢", "👩\u200d👩": "👩\u200d👩"}  # fmt: skip
    assert {text: without_hidden(text) for text in kept} == kept
    assert xml_text("a\0b\ud800\tc\uffff😀") == "a�b�\tc�😀"


@pytest.mark.parametrize(
    ("text", "left", "unclosed"),
    [
        ("a %%b%% c", "a  c", None), ("a <!--b--> c", "a  c", None), ("%%a\nb", "\n", 0),
        ("x\n%%a\nb%%c", "x\n\nc", None), ("x\n<!-- a\nb", "x\n\n", 1), ("a %%b\n\nc%%", "a %%b\n\nc%%", None),
        ("a %%b\nc%% d", "a \n d", None), ("`%%a%%` b", "`%%a%%` b", None), ("``a`%%b%%`` %%c%%", "``a`%%b%%`` ", None),
        ("```\n%%a%%\n```\n%%b%%", "```\n%%a%%\n```\n", None), ("~~~\n%%a%%\n~~~~\n%%b%%", "~~~\n%%a%%\n~~~~\n", None),
        ("$$\n%%a%%\n$$\n%%b%%", "$$\n%%a%%\n$$\n", None), ("    %%a%%", "    %%a%%", None),
        ("x\n    %%a%%", "x\n    ", None), ("- x\n\n    %%a%%", "- x\n\n    ", None),
        ("- ```\n  %%a%%\n  ```\n%%b%%", "- ```\n  %%a%%\n  ```\n", None), ("> ~~~\n> %%a%%", "> ~~~\n> %%a%%", None),
        ("a\n\n    b\n    %%c%%\n\n%%d%%", "a\n\n    b\n    %%c%%\n\n", None), ("`a %%b%%", "`a ", None),
        ("1. x\n\n    %%a%%\n\ny\n\n    %%b%%", "1. x\n\n    \n\ny\n\n    %%b%%", None),
        ("%%a%%%%b%%c", "c", None), ("> %%a\n> b%%", "> \n", None), ("", "", None), ("50%", "50%", None),
    ],
)  # fmt: skip
def test_comments(text: str, left: str, unclosed: int | None) -> None:
    assert strip_comments(text) == (left, unclosed)
    if "%%" in text and "<!--" not in text:
        assert strip_comments(text, percent=False) == (text, None)


# Tags, versions, shapes


def test_taxonomies() -> None:
    text = ("- #sea: all of it\n* [x] `ports` (also: `harbour`, #haven): where ships land\n"
            "  - piers — of wood\n\t\t- old/\n  - ports/quay\n+ *c*\nno item\n- sea: again\n- a b\n")  # fmt: skip
    assert [(t.tag, t.about, t.also) for t in read_taxonomy(text)] == [
        ("sea", "all of it", ()), ("ports", "where ships land", ("harbour", "haven")),
        ("ports/piers", "of wood", ()), ("ports/piers/old", "", ()), ("ports/quay", "", ()),
        ("c", "", ()),
    ]  # fmt: skip
    assert read_taxonomy("no list") == []


def test_versions_are_ordered_by_their_numbers() -> None:
    ordered = ["1.0.0-a.2", "1.0.0-rc1", "1.0.0", "1.2", "1.10", "v2", "2024.01"]
    assert sorted(set(ordered), key=version_key) == ordered
    assert [as_severe_as(s) for s in ("error", "warning", "info")] == [
        ("error",), ("error", "warning"), ("error", "warning", "info"),
    ]  # fmt: skip


def test_shapes_that_nobody_vouches_for() -> None:
    odd = [{"a": 1}, "b", 3, None, ["c"]]
    assert (dicts(odd), texts(odd), items(odd)) == ([{"a": 1}], ["b"], odd)
    for other in (None, "x", 3, {"a": "b"}):
        assert [*dicts(other), *texts(other), *items(other)] == []
    assert tables({"a": 1}) == {"a": 1} and tables([1]) == tables(None) == {}


def test_postings() -> None:
    floats = [np.array(values, np.float32) for values in ([1, 2, 9], [1, 10, 100])]
    found = impacts(floats[0], floats[1], 10.0)
    assert found.tolist() == [183, 159, 125] and found.dtype == np.uint8
    assert impacts(floats[0][:1], floats[1][:1], 0.0).tolist() == [116]
    data = encode_postings(np.array([1, 70_000], np.uint32), np.array([3, 255], np.uint8))
    assert data == b"\x01\0\0\0\x70\x11\x01\0\x03\xff"
    assert [part.tolist() for part in decode_postings(data)] == [[1, 70_000], [3, 255]]
    with pytest.raises(ValueError, match=r"^postings of 9 bytes$"):
        decode_postings(data[:-1])


# Addresses


@pytest.mark.parametrize(
    ("host", "path", "one", "more"),
    [
        ("github.com", "/blob/abc/", "#L1", "#L2-L5"), ("gitlab.com", "/-/blob/abc/", "#L1", "#L2-5"),
        ("gitlab.own.org", "/-/blob/abc/", "#L1", "#L2-5"), ("other.org", "/blob/abc/", "#L1", "#L2-L5"),
        ("bitbucket.org", "/src/abc/", "#lines-1:1", "#lines-2:5"),
        ("codeberg.org", "/src/commit/abc/", "#L1", "#L2-L5"),
    ],
)  # fmt: skip
def test_files_at_a_commit(host: str, path: str, one: str, more: str) -> None:
    web = f"https://{host}/o/r"
    whole = f"{web}{path}a%20b/c%23.md"
    assert blob_url(web, "abc", "a b/c#.md") == whole
    assert blob_url(web, "abc", "a b/c#.md", (1, 1)) == whole + one
    assert blob_url(web, "abc", "a b/c#.md", (2, 5)) == whole + more
    assert blob_url(web, "", "a") == blob_url("", "abc", "a") == ""
    assert repo_name(f"{web}/") == "o/r" and repo_name("") == ""


def test_sources_of_pages() -> None:
    source = {"kind": "repo", "web": "https://github.com/o/r", "revision": "c", "subdir": "docs"}
    base = "https://github.com/o/r/blob/c"
    assert source_url(source, "s/a.md", (1, 2)) == f"{base}/docs/a.md#L1-L2"
    assert source_url({**source, "subdir": ""}, "s/x/a.md") == f"{base}/x/a.md"
    for name in ("a.ipynb", "a.HTML", "a.htm"):
        assert source_url(source, f"s/{name}", (1, 2)) == f"{base}/docs/{name}"
    for kind in ("codewiki", "notion", "archive"):
        assert source_url({**source, "kind": kind}, "s/a.md") == ""


def test_repositories_by_address() -> None:
    for url in ("https://github.com/o/r", "git+ssh://git@gitlab.com/o/r.git#x", "github.com:o/r?x",
                "scm:git:https://www.bitbucket.org/o/r.git", "git@github.com:o/r.git",
                'see "https://codeberg.org/o/r"', "https://GitHub.com/o/r/tree/main"):  # fmt: skip
        assert repo_of_url(url) == "o/r", url
    for url in ("https://github.com/sponsors/x", "https://github.com/Orgs/x", "https://x.y/o/r",
                "https://codeberg.org/o/..", "https://github.com/o", ""):  # fmt: skip
        assert repo_of_url(url) == "", url


def test_files_of_a_site_with_addresses() -> None:
    assert [is_addressed(n) for n in ("robots.txt", "atom.xml", "404.html", "sitemap-1.xml")] == [
        True
    ] * 4
    assert not is_addressed("index.html") and not is_addressed("a/robots.txt")
    robots = b"Sitemap: https://lorepack.invalid/sitemap.xml"
    assert at_address("robots.txt", robots, "https://h", "/d/") == (
        b"Sitemap: https://h/d/sitemap.xml"
    )
    page = b'<a href="/x"><img src="/y"><a href="z"><script>{"base": "/"}</script>'
    assert at_address("404.html", page, "", "/d/") == (
        b'<a href="/d/x"><img src="/d/y"><a href="z"><script>{"base": "/d/"}</script>'
    )
    assert at_address("sitemap.xml", page, "", "/d/") == page


# Graphs and differences

GRAPH = Graph("g", "1", [
    Node(1, "page", "a.md", "A", "T", "en", "c", "draft"),
    Node(2, "diagram_node", 'x"', "", "", "", "", ""),
], [Edge(3, 1, 2, "wikilink", "l", 7), Edge(4, 1, 2, "tag", "", 0)])  # fmt: skip


def written(form: str) -> str:
    out = io.StringIO()
    WRITERS[form](GRAPH, out)
    return out.getvalue()


def test_a_graph_in_cypher() -> None:
    assert written("cypher").splitlines() == [
        "CREATE CONSTRAINT lore_id IF NOT EXISTS FOR (n:Lore) REQUIRE n.id IS UNIQUE;",
        'UNWIND [{id: 2, kind: "diagram_node", name: "x\\"", label: "", title: "", lang: "", '
        'category: "", lifecycle: ""}] AS row CREATE (n:Lore:DiagramNode) SET n = row;',
        'UNWIND [{id: 1, kind: "page", name: "a.md", label: "A", title: "T", lang: "en", '
        'category: "c", lifecycle: "draft"}] AS row CREATE (n:Lore:Page) SET n = row;',
        'UNWIND [{src: 1, dst: 2, label: "", line: 0}] AS row MATCH (a:Lore {id: row.src}) MATCH '
        "(b:Lore {id: row.dst}) CREATE (a)-[r:TAG]->(b) SET r.label = row.label, r.line = row.line;",
        'UNWIND [{src: 1, dst: 2, label: "l", line: 7}] AS row MATCH (a:Lore {id: row.src}) MATCH '
        "(b:Lore {id: row.dst}) CREATE (a)-[r:WIKILINK]->(b) SET r.label = row.label, "
        "r.line = row.line;",
    ]


def test_a_graph_in_json_and_graphml() -> None:
    data = json.loads(written("json"))
    assert data["directed"] is data["multigraph"] is True
    assert data["graph"] == {"name": "g", "version": "1"}
    assert data["edges"][0] == {
        "source": 1, "target": 2, "key": 3, "kind": "wikilink", "label": "l", "line": 7,
    }  # fmt: skip
    assert data["nodes"][0]["title"] == "T" and written("json").endswith("}\n")
    lines = written("graphml").splitlines()
    assert lines[:2] == [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ]
    assert lines[2] == '<key id="node-kind" for="node" attr.name="kind" attr.type="string" />'
    assert lines[11] == '<key id="edge-line" for="edge" attr.name="line" attr.type="int" />'
    assert lines[12] == '<graph id="g" edgedefault="directed">'
    assert lines[14] == (
        '<node id="n2"><data key="node-kind">diagram_node</data>'
        '<data key="node-name">x"</data></node>'
    )
    assert (
        lines[16] == '<edge id="e4" source="n1" target="n2"><data key="edge-kind">tag</data></edge>'
    )
    assert lines[17:] == ["</graph>", "</graphml>"]


def test_differences_in_words() -> None:
    changes = [
        Change("page", "added", "v/n.md", "New [x]"), Change("page", "changed", "v/c.md", "C"),
        Change("section", "changed", "v/c.md#part", "Part"), Change("page", "removed", "v/r.md", "R"),
        Change("edge", "added", "a → b (tag)"),
    ]  # fmt: skip
    difference = Difference({"name": "p", "version": "1"}, {"name": "p", "version": "2"}, changes)
    assert as_text(difference).splitlines() == [
        "p 1 → p 2", "pages: 1 added, 1 changed, 1 removed", "sections: 1 changed",
        "links: 1 added", "+ page v/n.md (New [x])", "~ page v/c.md (C)",
        "~ section v/c.md#part (Part)", "- page v/r.md (R)", "+ edge a → b (tag)",
    ]  # fmt: skip
    assert as_changelog(difference) == (
        "## 2\n\nSince 1: pages: 1 added, 1 changed, 1 removed; sections: 1 changed; "
        "links: 1 added.\n\n### Added\n\n- New \\[x\\] (`v/n.md`)\n\n### Changed\n\n- C (`v/c.md`)\n"
        "  - changed: Part\n\n### Removed\n\n- R (`v/r.md`)\n"
    )
    same = Difference(difference.old, difference.new, [])
    assert as_changelog(same) == "## 2\n\nNothing differs from 1.\n"
    assert numbers({}) == [] and {"page", "section"} <= set(KINDS) and "moved" in HOWS


# Configurations


@pytest.mark.parametrize(
    ("text", "put", "removed"),
    [
        ("{}", '{\n  "s": {\n    "x": {\n      "c": 1\n    }\n  }\n}', "{}"),
        ('{"s": {}}', '{"s": {\n  "x": {\n    "c": 1\n  }\n}}', '{"s": {}}'),
        ('{\n\t"s": {\n\t\t"y": 1\n\t}\n}',
         '{\n\t"s": {\n\t\t"y": 1,\n\t\t"x": {\n\t\t\t"c": 1\n\t\t}\n\t}\n}', None),
        ('{\n    "s": {\n        "y": 1, // why\n    },\n}',
         '{\n    "s": {\n        "y": 1, // why\n        "x": {\n            "c": 1\n        },\n    },\n}',
         None),
        ('{\r\n "s": {"y": 1}\r\n}', '{\r\n "s": {"y": 1,\r\n  "x": {\r\n   "c": 1\r\n  }\r\n }\r\n}', None),
        ('{"s": {"x": 5, "y": 1}}', '{"s": {"x": {\n  "c": 1\n}, "y": 1}}', '{"s": { "y": 1}}'),
        ('{"s": {"y": 1, "x": 5}}', '{"s": {"y": 1, "x": {\n  "c": 1\n}}}', '{"s": {"y": 1}}'),
        ('{\n"s": {\n"x": 5\n}\n}', None, '{\n"s": {\n}\n}'),
        ('{\n"s": {\n"x": 5,\n"y": 1\n}\n}', None, '{\n"s": {\n"y": 1\n}\n}'),
        ('\ufeff{"s": {"x": {"c": 1}}}', '\ufeff{"s": {"x": {"c": 1}}}', '\ufeff{"s": {}}'),
    ],
)  # fmt: skip
def test_a_member_of_json(text: str, put: str | None, removed: str | None) -> None:
    if put is not None:
        assert jsonc.put(text, ("s", "x"), {"c": 1}) == put
        assert jsonc.parse(put)["s"]["x"] == {"c": 1}
    assert jsonc.remove(text, ("s", "x")) == (text if removed is None else removed)
    assert jsonc.remove(text, ("none", "x")) == jsonc.remove(text, ("s", "none")) == text


ENTRIES: Mapping[str, Any] = {
    "claude-code": {"type": "stdio", "command": "l", "args": ["mcp", "p"]},
    "vscode": {"type": "stdio", "command": "l", "args": ["mcp", "p"]},
    "cursor": {"command": "l", "args": ["mcp", "p"]},
    "opencode": {"type": "local", "command": ["l", "mcp", "p"], "enabled": True},
    "copilot-cli": {"type": "local", "command": "l", "args": ["mcp", "p"], "tools": ["*"]},
    "goose": {"enabled": True, "type": "stdio", "name": "n", "cmd": "l", "args": ["mcp", "p"],
              "envs": {}, "timeout": 300},
}  # fmt: skip
REMOTE: Mapping[str, Any] = {
    "claude-code": {"type": "http", "url": "u"}, "cursor": {"url": "u"}, "codex": {"url": "u"},
    "gemini": {"httpUrl": "u"}, "opencode": {"type": "remote", "url": "u", "enabled": True},
    "windsurf": {"serverUrl": "u"}, "cline": {"type": "streamableHttp", "url": "u", "disabled": False},
    "continue": {"type": "streamable-http", "url": "u"}, "zed": {"url": "u"},
    "goose": {"enabled": True, "type": "streamable_http", "name": "n", "uri": "u", "timeout": 300},
    "crush": {"type": "http", "url": "u"}, "amp": {"url": "u"}, "jetbrains": {"url": "u"},
}  # fmt: skip
FILES: Mapping[str, Sequence[str]] = {
    "claude-code": (".claude.json", ".mcp.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", ".cursor/mcp.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", ".vscode/mcp.json", "servers"),
    "codex": (".codex/config.toml", ".codex/config.toml", "mcp_servers"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json", "mcpServers"),
    "qwen": (".qwen/settings.json", ".qwen/settings.json", "mcpServers"),
    "opencode": (".config/opencode/opencode.json", "opencode.json", "mcp"),
    "windsurf": (".codeium/windsurf/mcp_config.json", "", "mcpServers"),
    "antigravity": (".gemini/antigravity/mcp_config.json", "", "mcpServers"),
    "copilot-cli": (".copilot/mcp-config.json", "", "mcpServers"),
    "cline": (".cline/data/settings/cline_mcp_settings.json", "", "mcpServers"),
    "continue": (".continue/config.yaml", ".continue/mcpServers/{name}.yaml", "mcpServers"),
    "zed": (".config/zed/settings.json", ".zed/settings.json", "context_servers"),
    "goose": (".config/goose/config.yaml", "", "extensions"),
    "crush": (".config/crush/crush.json", "crush.json", "mcp"),
    "amp": (".config/amp/settings.json", ".amp/settings.json", "amp.mcpServers"),
    "jetbrains": (".junie/mcp/mcp.json", ".junie/mcp/mcp.json", "mcpServers"),
}


def test_files_and_entries_of_agents() -> None:
    assert {n: (t.user, t.project, *t.path) for n, t in TARGETS.items()} == FILES
    assert {n: TARGETS[n].entry(["l", "mcp", "p"], "n") for n in ENTRIES} == ENTRIES
    assert {n: TARGETS[n].entry("u", "n") for n in REMOTE} == REMOTE
    home, project = Path("/h"), Path("/p")
    assert TARGETS["cursor"].file("user", project, home) == home / ".cursor/mcp.json"
    assert TARGETS["cursor"].file("project", project, home) == project / ".cursor/mcp.json"


# What processes leave behind


def test_what_the_dead_left_goes_and_nothing_else(tmp_path: Path) -> None:
    dead = next(pid for pid in range(4_000_000, 4_100_000) if not is_running(pid))
    assert is_running(os.getpid()) and not is_running(10**30) and is_running(1)
    assert own_name("x", "y") == f"x-{os.getpid()}-y"
    mine = tmp_path / own_name("x")
    for name in (f"x-{dead}-a", f"y-{dead}-a", "x-no-a", "x-1-a", f"z{dead}-", f"x-{dead}-link"):
        (tmp_path / name).mkdir() if "link" not in name else (tmp_path / name).symlink_to(tmp_path)
    (tmp_path / f"x-{dead}-a" / "in").write_text("it")
    (tmp_path / f"x-{dead}-file").write_text("it")
    mine.mkdir()
    with own_folder(tmp_path, "x") as folder:
        assert folder.parent == tmp_path and re.match(rf"x-{os.getpid()}-", folder.name)
        kept = {path.name for path in tmp_path.iterdir()} - {folder.name}
        assert kept == {f"y-{dead}-a", "x-no-a", "x-1-a", f"z{dead}-", mine.name}
    assert not folder.exists()
    remove_abandoned(tmp_path / "none", "x")
