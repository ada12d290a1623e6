"""What Obsidian adds to Markdown, as the site shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.vaults import open_vault


def shown(tmp_path: Path, text: str, **others: str) -> str:
    files = {f"{name}.md": body for name, body in others.items()}
    return open_vault(tmp_path, {**files, "a.md": text}).html("a.md")


def test_callouts(tmp_path: Path) -> None:
    html = shown(tmp_path, "> [!warning] Own **title**\n> body\n> > [!tip]- \n> > inner\n")
    assert '<div class="admonition warning warning">' in html
    assert "Own <strong>title</strong></p>" in html
    assert '<details class="tip tip">' in html and "<summary>Tip</summary>" in html
    assert shown(tmp_path / "2", "> [!faq]+ T").count('<details class="question faq" open') == 1
    assert "<blockquote>" in shown(tmp_path / "3", "> just a quote")
    assert "admonition note my-own" in shown(tmp_path / "4", "> [!my-own]\n> x")


def test_inline_marks(tmp_path: Path) -> None:
    html = shown(tmp_path, "==a **b** c== ~~d~~ 1==2 x[^n] $e^x$ $5 to $6\n\n[^n]: foot\n")
    assert "<mark>a <strong>b</strong> c</mark>" in html
    assert "<s>d</s>" in html and "1==2" in html
    assert "foot" in html and "footnote" in html
    assert html.count("arithmatex") == 1 and "$5 to $6" in html


@pytest.mark.parametrize(("mark", "checked"), [("x", True), (" ", False), ("/", True), ("?", True)])
def test_tasks_with_any_mark(tmp_path: Path, mark: str, checked: bool) -> None:
    html = shown(tmp_path, f"- [{mark}] do it\n- plain [x] text\n")
    assert html.count("<input") == 1 and f'data-task="{mark}"' in html
    assert ("checked" in html) is checked


TAGS = {
    "#a": ("a",), "x #a/b, #c.": ("a/b", "c"), "#123 #1/2": (), "#fff #a1b2c3": (),
    "# heading": (), "x#y": (), "https://x.example/#frag": (), "(#no)": (),
    "#Ünlü #标签": ("Ünlü", "标签"), "[l #in](u)": (), "**#bold**": ("bold",),
    "#2026-plan": ("2026-plan",), "- [ ] #task": ("task",),
}  # fmt: skip


@pytest.mark.parametrize(("text", "tags"), TAGS.items(), ids=TAGS)
def test_what_is_a_tag(tmp_path: Path, text: str, tags: tuple[str, ...]) -> None:
    assert open_vault(tmp_path, {"a.md": text})["a.md"].tags == tags


SECRET = "hunter2"
COMMENTS = {
    "inline": f"a %%{SECRET}%% b",
    "lines": f"a\n\n%%\n{SECRET}\n\n# {SECRET}\n\n[[{SECRET}]]\n%%\n\nb",
    "html": f"a <!-- {SECRET} --> b",
    "html lines": f"a\n\n<!--\n{SECRET}\n\n{SECRET}\n-->\nb",
    "in a list": f"- a %%{SECRET}%%\n- b",
    "in a quote": f"> %% {SECRET} %%\n> b",
    "holds a fence": f"%%\n```\n{SECRET}\n```\n%%\nb",
    "to the end": f"b\n\n%%\n{SECRET}",
    "after code": f"`%%` b %%{SECRET}%%",
}


@pytest.mark.parametrize("text", COMMENTS.values(), ids=COMMENTS)
def test_a_comment_is_nowhere(build, text: str) -> None:  # type: ignore[no-untyped-def]
    built = build({"a.md": text, "b.md": "![[a]]"})
    pack = built.path.read_bytes()
    assert SECRET.encode() not in pack
    connection = built.mount().connection()
    assert connection.execute("SELECT * FROM terms WHERE term LIKE ?", (SECRET,)).fetchall() == []
    from lorepack_server.http.site import read_file

    for (name,) in connection.execute("SELECT name FROM sqlar").fetchall():
        file = read_file(built.mount(), name)
        assert file and SECRET.encode() not in file.plain(), name
    assert "b" in connection.execute("SELECT markdown FROM pages").fetchone()[0]


NOT_COMMENTS = [
    "```mermaid\n%% a mermaid comment\ngraph LR\n```",
    "```python\n# %%\nx = 5 %% 2\n```",
    "    indented %% code %%",
    "`50%%` or `%%x%%`",
    "$$\n% latex %% x\n$$",
]


@pytest.mark.parametrize("text", NOT_COMMENTS)
def test_the_same_signs_in_code_stay(tmp_path: Path, text: str) -> None:
    vault = open_vault(tmp_path, {"a.md": text})
    assert vault["a.md"].body == text


def test_an_open_comment_is_reported(tmp_path: Path) -> None:
    vault = open_vault(tmp_path, {"a.md": "one\n\n%%\nhidden"})
    assert [(f.rule, f.line) for f in vault.findings] == [("open-comment", 3)]


def test_embeds_are_transcluded(tmp_path: Path) -> None:
    note = "Top.\n\n## Part\n\nPart text.\n\n### Sub\n\nSub text.\n\n## Next\n\nNext text. ^id1\n\n- item ^id2\n- other\n"
    html = shown(tmp_path / "all", "![[n]]", n=note)
    assert all(text in html for text in ("Top.", "Part text.", "Next text."))
    part = shown(tmp_path / "part", "![[n#Part]]", n=note)
    assert "Sub text." in part and "Top." not in part and "Next text." not in part
    block = shown(tmp_path / "block", "![[n#^id1]]", n=note)
    assert "Next text." in block and "item" not in block and "Top." not in block
    item = shown(tmp_path / "item", "![[n#^id2]]", n=note)
    assert "<li" in item and "item" in item and "other" not in item
    amid = shown(tmp_path / "amid", "before ![[n#^id1]] after\n\n- item ![[n#^id2]]", n=note)
    assert amid.count('class="lore-embed"') == 2 and "before" in amid and "after" in amid
    assert "id=" not in re.sub(r'class="[^"]*"', "", html), "ids stay unique in the page"


def test_embed_cycles_and_depth_end(tmp_path: Path) -> None:
    cycle = open_vault(tmp_path / "1", {"a.md": "A\n\n![[a]]\n\n![[b]]", "b.md": "B\n\n![[a]]"})
    assert cycle.html("a.md").count("lore-embed-stop") == 2
    deep = {f"n{i}.md": f"level {i}\n\n![[n{i + 1}]]" for i in range(9)}
    html = open_vault(tmp_path / "2", {**deep, "n9.md": "end"}).html("n0.md")
    assert "level 4" in html and "level 6" not in html


def test_code_of_plugins_is_shown_as_code(tmp_path: Path) -> None:
    html = shown(tmp_path, "```dataview\nTABLE x\n```\n\n```query\ntag:#x\n```\n")
    assert html.count("<pre><code>") == 2 and "TABLE x" in html and "tag:#x" in html


def test_canvas_cards_become_text_and_arrows_a_diagram(tmp_path: Path) -> None:
    canvas = """{"nodes": [
      {"id": "1", "type": "text", "text": "First [[Note]]", "x": 0, "y": 0, "width": 1, "height": 1},
      {"id": "2", "type": "file", "file": "Note.md", "x": 0, "y": 9, "width": 1, "height": 1},
      {"id": "3", "type": "link", "url": "https://x.example", "x": 0, "y": 20}],
      "edges": [{"id": "e", "fromNode": "1", "toNode": "2", "label": "leads"}]}"""
    vault = open_vault(
        tmp_path, {"Note.md": "note", "c.canvas": canvas, "bad.canvas": "{", "e.canvas": ""}
    )
    page = vault["c.canvas"]
    assert vault.targets("c.canvas")[:2] == ["Note.md", "Note.md"]
    assert [(e.src, e.dst, e.label) for e in page.diagrams[0].edges] == [("1", "2", "leads")]
    assert vault.rules() == ["bad-file"]


def test_attachments_are_shipped_only_when_shown(build) -> None:  # type: ignore[no-untyped-def]
    built = build(
        {
            "a.md": "![[pic.png]] ![x](sub/b%20c.svg)",
            "pic.png": b"1",
            "sub/b c.svg": b"<svg/>",
            "unused.png": b"2",
        }
    )
    names = [
        r[0]
        for r in built.mount()
        .connection()
        .execute("SELECT name FROM sqlar WHERE name LIKE 'files/%'")
    ]
    assert len(names) == 2 and not any("unused" in name for name in names)


def test_image_sizes(tmp_path: Path) -> None:
    vault = open_vault(
        tmp_path,
        {"p.png": b"1", "a.md": "![[p.png|300]] ![[p.png|30x20]] ![alt|50](p.png) ![[p.png|text]]"},
    )
    html = vault.html("a.md")
    assert 'width="300"' in html and 'width="30" height="20"' in html and 'alt="alt"' in html
    assert 'alt="text"' in html


HOSTILE = [
    "<script>alert(1)</script>", '<img src=x onerror="alert(1)">', "[x](javascript:alert(1))",
    "<iframe src='https://e.example'></iframe>", '<a href="javascript:alert(1)">x</a>',
    "![x](https://evil.example/pixel.png)", '<img src="//evil.example/p.png">',
    "<svg onload=alert(1)>", "[[x|<script>alert(1)</script>]]", "#<script>",
    '<style>body{background:url(https://evil.example)}</style>', "```<script>\nx\n```",
    '<video src="https://evil.example/v.mp4"></video>', "## <script>alert(1)</script>",
    '<form action="https://evil.example"><button>x</button></form>', '<base href="https://e.example">',
    '<p style="background:url(https://evil.example)">x</p>', "<object data='https://e.example'></object>",
]  # fmt: skip


OPEN_HTML = [
    "<script>", "<style>", "<textarea>", "<title>", "<svg>", "<template>", "<select>", "<plaintext>",
    '<a href="', "<div class='", "<!-- open", "<table><tr>", "<details>", "<b", "<?php", "<![CDATA[",
]  # fmt: skip


@pytest.mark.parametrize("text", OPEN_HTML)
@pytest.mark.parametrize("place", ["{}\n\n## After\n\nrest", "a {}\n\n## After\n\nrest"])
def test_html_left_open_swallows_nothing(tmp_path: Path, text: str, place: str) -> None:
    """By CommonMark some openers reach to the end of a page, which then has no heading below."""
    vault = open_vault(tmp_path, {"a.md": place.format(text)})
    html = vault.html("a.md")
    assert all(f'id="{heading.anchor}"' in html for heading in vault["a.md"].headings)
    assert "rest" in html or vault.rules() == ["open-comment"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markup_is_taken_out(tmp_path: Path, text: str) -> None:
    html = shown(tmp_path, text).lower()
    assert not re.search(r"<(script|iframe|style|svg|form|base|object)\b", html)
    assert not re.search(r"<[^>]*\son\w+=", html)
    assert not re.search(r'(href|src|action)="(javascript:)', html)
    assert not re.search(r'<(img|video|audio|source)[^>]*src="(https?:)?//', html)
    assert not re.search(r"url\(", html)
