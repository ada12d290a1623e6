"""Links and names of code, to the letter: where they lead, and what is said of those that do not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lorepack_builder.link.anchors import find_anchor
from lorepack_builder.link.code import CodeIndex, web_target
from lorepack_builder.link.outgoing import backlinks, outgoing
from lorepack_builder.link.resolve import FileIndex
from lorepack_builder.model import (
    Heading,
    LinkedPage,
    Mention,
    Page,
    Source,
    SourceFile,
    Symbol,
    Target,
)
from tests.vaults import Vault, open_vault


def findings(vault: Vault) -> list[tuple[str, str, str, int, str, str]]:
    return [
        (f.rule, f.severity, f.path, f.line, f.message, f.fix)
        for f in vault.findings
        if f.rule in ("ambiguous-link", "broken-link", "missing-anchor", "missing-attachment")
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[[Gone]]", ("broken-link", "warning", "[[Gone]] leads nowhere", "correct the link or write the page")),
        ("[[Gone#x]]", ("broken-link", "warning", "[[Gone#x]] leads nowhere", "correct the link or write the page")),
        ("[t](gone.md)", ("broken-link", "warning", "(gone.md) leads nowhere", "correct the link or write the page")),
        ("![[gone.PNG]]", ("missing-attachment", "warning", "[[gone.PNG]] leads nowhere", "add the file, or take it out")),
        ("![a](gone.pdf)", ("missing-attachment", "warning", "(gone.pdf) leads nowhere", "add the file, or take it out")),
        ("![[gone.md]]", ("broken-link", "warning", "[[gone.md]] leads nowhere", "correct the link or write the page")),
        ("![[gone.canvas]]", ("broken-link", "warning", "[[gone.canvas]] leads nowhere", "correct the link or write the page")),
        ("[[gone.png]]", ("broken-link", "warning", "[[gone.png]] leads nowhere", "correct the link or write the page")),
        ("[[Note#None]]", ("missing-anchor", "warning", "[[Note#None]]: v/Note.md has no 'None'", "correct the heading or block")),
        ("[t](Note.md#none)", ("missing-anchor", "warning", "(Note.md#none): v/Note.md has no 'none'", "correct the heading or block")),
        ("[[Twin]]", ("ambiguous-link", "info", "[[Twin]] could be v/a/Twin.md or v/b/Twin.md, v/c/Twin.md, v/d/Twin.md; the first is taken", "write its path")),
    ],
)  # fmt: skip
def test_what_is_said_of_a_link(
    tmp_path: Path, written: str, expected: tuple[str, str, str, str]
) -> None:
    pages = {f"{n}/Twin.md": "x" for n in "abcde"}
    vault = open_vault(tmp_path, {**pages, "Note.md": "# Note\n", "S.md": f"one\n\n{written}\n"})
    rule, severity, message, fix = expected
    assert findings(vault) == [(rule, severity, "v/S.md", 3, message, fix)]


# Files


def resolved(
    layout: str, target: str, page: str = "v/d/p.md", syntax: str = "markdown"
) -> str | None:
    source = Source("v", "folder", "here", Path(), layout=layout)
    paths = ("a.md", "A/index.md", "d/p.md", "d/q.md", "d/e/f.rst", "d/page.html", "q.md",
             "x/README.md", "deep/er/only.md", "İ.md", "two/same.md", "deep/two/same.md")  # fmt: skip
    files = [SourceFile(source, f"v/{path}", Path(path)) for path in paths]
    other = replace(source, name="w")
    files.append(SourceFile(other, "w/elsewhere.md", Path("e")))
    pages = [page_of(source, "v/q.md", title="The Q", aliases=("Queue",)),
             page_of(other, "w/elsewhere.md", title="Far")]  # fmt: skip
    return FileIndex(source, pages, files).resolve(target, page, syntax).path  # type: ignore[arg-type]


def page_of(source: Source, path: str, **facts: Any) -> Page:
    empty = dict.fromkeys(
        ("title", "lang", "summary", "lifecycle", "tool", "created", "updated", "frontmatter",
         "properties", "body", "hash"), "",
    )  # fmt: skip
    plain = {"tags": (), "aliases": (), "body_line": 1}
    return Page(source=source, path=path, **{**empty, **plain, **facts})


@pytest.mark.parametrize(
    ("target", "vault", "folder", "repo", "codewiki"),
    [
        ("q.md", "d/q.md", "d/q.md", "d/q.md", "d/q.md"), ("q", "d/q.md", "d/q.md", "d/q.md", "d/q.md"),
        ("../q.md", "q.md", "q.md", "q.md", "q.md"), ("./e/f", None, "d/e/f.rst", "d/e/f.rst", "d/e/f.rst"),
        ("a.md", "a.md", "a.md", "a.md", "a.md"), ("/a.md", "a.md", "a.md", "a.md", "a.md"),
        ("/q.md", "q.md", "q.md", "q.md", "q.md"), ("/e/f.html", None, "d/e/f.rst", "d/e/f.rst", "d/e/f.rst"),
        ("../x", None, "x/README.md", "x/README.md", "x/README.md"), ("../x/", None, "x/README.md", "x/README.md", "x/README.md"),
        ("page.html", "d/page.html", "d/page.html", "d/page.html", "d/page.html"),
        ("only.md", "deep/er/only.md", "deep/er/only.md", None, "deep/er/only.md"),
        ("er/only", "deep/er/only.md", "deep/er/only.md", None, "deep/er/only.md"),
        ("wrong/only.md", None, None, None, "deep/er/only.md"), ("wrong/same.md", None, None, None, None),
        ("Queue", "q.md", "q.md", None, "q.md"), ("the q.md", "q.md", "q.md", None, "q.md"),
        ("Far", None, None, None, None), ("elsewhere", None, None, None, None),
        ("../../w/elsewhere.md", None, None, None, None), ("..", None, None, None, None), (".", None, None, None, None),
        ("e\\f.rst", "d/e/f.rst", "d/e/f.rst", "d/e/f.rst", "d/e/f.rst"), ("  q.md ", "d/q.md", "d/q.md", "d/q.md", "d/q.md"),
        ("I\u0307.md", "İ.md", "İ.md", "İ.md", "İ.md"),
    ],
)  # fmt: skip
def test_the_file_that_a_link_means(
    target: str, vault: str | None, folder: str | None, repo: str | None, codewiki: str | None
) -> None:
    wanted = {"vault": vault, "folder": folder, "repo": repo, "codewiki": codewiki}
    found = {layout: resolved(layout, target) for layout in wanted}
    assert found == {k: v and f"v/{v}" for k, v in wanted.items()}


def test_wikilinks_begin_at_the_root() -> None:
    assert resolved("vault", "q", syntax="wikilink") == "v/q.md"
    assert resolved("vault", "e/f.rst", syntax="wikilink") == "v/d/e/f.rst"
    assert resolved("vault", "two/same", syntax="wikilink") == "v/two/same.md"


# Anchors


def test_anchors() -> None:
    source = Source("v", "vault", "here", Path())
    headings = (Heading(1, "Top", "top", 1), Heading(2, "A: b", "a-b", 2), Heading(3, "Same", "same", 3),
                Heading(2, "C", "c", 4), Heading(3, "Same", "same-1", 5), Heading(4, "É x", "é-x", 6))  # fmt: skip
    page = page_of(source, "v/p.md", headings=headings, block_ids=(("^Bl-1", 7),),
                   labels=(("lab el", "same"),))  # fmt: skip
    found = {f: find_anchor(page, f) for f in (
        "Top", "#top", "A b", "A: b", "a-b", "Same", "C#Same", "Top#C#Same", "A: b#C", "C#Top", "^bl-1",
        "^none", "E\u0301 X", "same-1", "lab el", "none", "A: b#Same", "", "C#É x")}  # fmt: skip
    assert found == {
        "Top": "top", "#top": "top", "A b": "a-b", "A: b": "a-b", "a-b": "a-b", "Same": "same",
        "C#Same": "same-1", "Top#C#Same": "same-1", "A: b#C": None, "C#Top": None, "^bl-1": "^Bl-1",
        "^none": None, "E\u0301 X": "é-x", "same-1": "same-1", "lab el": "same", "none": None,
        "A: b#Same": "same", "": None, "C#É x": "é-x",
    }  # fmt: skip
    base = page_of(source, "v/p.base", block_ids=(("My view", 1),))
    assert find_anchor(base, "my  VIEW") == "" and find_anchor(base, "other") is None


# Code

REPO = Source("s", "repo", "here", Path(), revision="c1", web="https://github.com/o/r", code=True)
DOCS = Source("d", "folder", "here", Path())
OTHER = Source("lib", "repo", "here", Path(), web="https://github.com/p/lib", code=True)
CODE = page_of(REPO, "s/src/app/box.py", code="python", symbols=(
    Symbol("Box", "class", "", 3, 20, "", "box"), Symbol("Box.open", "method", "", 5, 9, "", "box-open", "Box"),
    Symbol("open", "function", "", 30, 31, "", "open"), Symbol("io", "function", "", 40, 40, "", "io"),
))  # fmt: skip
MORE = page_of(REPO, "s/src/app/lid.py", code="python", symbols=(
    Symbol("Lid.shut", "method", "", 1, 2, "", "lid-shut", "Lid"), Symbol("twice", "function", "", 8, 9, "", "twice"),
    Symbol("twice", "function", "", 10, 11, "", "twice-1"),
))  # fmt: skip
LIB = page_of(OTHER, "lib/web/route.py", code="python", symbols=(
    Symbol("Route", "class", "", 1, 9, "", "route"), Symbol("Route.shut", "method", "", 2, 3, "", "route-shut", "Route"),
))  # fmt: skip
OWN = page_of(REPO, "s/docs/a.md")
ALONE = page_of(DOCS, "d/a.md")


@cache
def code_index() -> CodeIndex:
    return CodeIndex(
        [CODE, MORE, LIB, OWN, ALONE],
        [*(SourceFile(p.source, p.path, Path("x")) for p in (CODE, MORE, LIB, OWN, ALONE)),
         SourceFile(REPO, "s/data/box.txt", Path("x")), SourceFile(REPO, "s/more/box.txt", Path("x"))],
    )  # fmt: skip


def meant(text: str, page: Page = OWN, **facts: Any) -> str | None:
    ref = code_index().resolve(Mention(text, 1, **facts), page)
    if ref is None:
        return None
    anchor = f"#{ref.target.anchor}" if ref.target.anchor else ""
    return f"{ref.target.kind} {ref.target.path}{anchor} {ref.symbol}".rstrip()


BOX, LID = "page s/src/app/box.py", "page s/src/app/lid.py"


@pytest.mark.parametrize(
    ("text", "leads"),
    [
        ("Box", f"{BOX}#box Box"), ("Box.open", f"{BOX}#box-open Box.open"), ("open", f"{BOX}#open open"),
        (".open", f"{BOX}#open open"), ("box.Box", f"{BOX}#box Box"), ("app.box.Box.open", f"{BOX}#box-open Box.open"),
        ("nobody.Box", None), ("io", None), ("box.io", f"{BOX}#io io"), ("shut", f"{LID}#lid-shut Lid.shut"),
        ("twice", f"{LID}#twice twice"), ("Route", None), ("web.Route", "page lib/web/route.py#route Route"),
        ("lib.web.Route", "page lib/web/route.py#route Route"), ("none.Route", None), ("nothing", None),
        (":box.py", BOX), (":app/box.py", BOX), (":./src/app/box.py", BOX), (":box.txt", None),
        (":data/box.txt", "file s/data/box.txt"), ("o/r:src/app/box.py", BOX), ("x/y:src/app/box.py", None), (":none.py", None),
    ],
)  # fmt: skip
def test_what_a_name_in_code_means(text: str, leads: str | None) -> None:
    assert meant(text) == leads


def test_what_a_name_means_where_it_is_certain() -> None:
    assert meant("o/r:data/box.txt", certain=True) == "file s/data/box.txt"
    assert meant(":src/app/box.py", lines=(6, 7), certain=True) == f"{BOX}#box-open"
    for line, anchor in ((3, "box"), (5, "box-open"), (9, "box-open"), (10, "box"), (20, "box")):
        assert meant(":src/app/box.py", lines=(line, 99)) == f"{BOX}#{anchor}"
    assert meant(":src/app/box.py", lines=(21, 22)) == BOX
    assert meant("src.app.box.Box", certain=True) == f"{BOX}#box Box"
    assert meant("x/y:a/b.py", certain=True) == "file x/y/a/b.py"
    assert meant("x/y:a.b.C", certain=True) == "symbol x/y::a.b.C a.b.C"
    assert meant("a.b.C", certain=True) == "symbol o/r::a.b.C a.b.C"
    assert meant("x/y:a.b.C", certain=True, lines=(1, 2)) == "file x/y/a.b.C"
    assert meant("x/y:", certain=True) == "repo x/y"
    assert meant("a.py", ALONE, certain=True) == "file d/a.py"


def test_names_in_documents_without_code_of_their_own() -> None:
    assert meant("Route", ALONE) == "page lib/web/route.py#route Route"
    assert meant("Box", ALONE) == f"{BOX}#box Box"
    assert meant("shut", ALONE) is None and meant("Route.shut", ALONE) is not None
    assert meant("Route", LIB) is None
    assert code_index().at_lines("s/none.py", (1, 2)) == Target("file", "s/none.py")
    assert code_index().at_lines("s/src/app/box.py", None) == Target("page", "s/src/app/box.py")


def test_places_on_the_web() -> None:
    mention = Mention("src/a.py", 1, lines=(2, 3))
    assert web_target(mention, REPO) == Target(
        "web", "https://github.com/o/r/blob/c1/src/a.py#L2-L3"
    )
    assert web_target(mention, DOCS) is None


def test_links_forth_and_back() -> None:
    page = LinkedPage(OWN, (Target("page", "d/a.md"), None, Target("page", OWN.path), Target("file", "s/x"),
                            Target("page", "d/a.md")), ())  # fmt: skip
    assert outgoing(page) == ["d/a.md"]
    back = LinkedPage(ALONE, (Target("page", OWN.path), Target("page", "d/b.md")), ())
    found = backlinks([page, back])
    assert {path: list(pages) for path, pages in found.items()} == {
        "d/a.md": [OWN.path], OWN.path: ["d/a.md"], "d/b.md": ["d/a.md"],
    }  # fmt: skip
