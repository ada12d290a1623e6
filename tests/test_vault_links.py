"""Links as Obsidian resolves them."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from tests.vaults import open_vault

NOTE = "# Note\n\n## A\n\ntext ^block\n\n### B\n\n## C / D!\n\n### B\n"
VAULT = {
    "Note.md": NOTE,
    "deep/er/Far.md": "far",
    "deep/Alias.md": "---\naliases: [Other name, Third]\n---\n",
    "my note.md": "spaced",
    "pic one.png": b"png",
}
LINKS = {
    "[[Note]]": "Note.md",
    "[[note]]": "Note.md",
    "[[Note.md]]": "Note.md",
    "[[deep/er/Far]]": "deep/er/Far.md",
    "[[er/Far]]": "deep/er/Far.md",
    "[[Far]]": "deep/er/Far.md",
    "[[/deep/er/Far]]": "deep/er/Far.md",
    "[[Note|alias]]": "Note.md",
    r"[[Note\|alias]]": "Note.md",
    "[[Note#A]]": "Note.md#a",
    "[[Note#a]]": "Note.md#a",
    "[[Note#A#B]]": "Note.md#b",
    "[[Note#C D#B]]": "Note.md#c-d-b",
    "[[Note#C / D!]]": "Note.md#c-d",
    "[[Note#^block]]": "Note.md#^block",
    "[[Note#^none]]": "Note.md",
    "[[#Here]]": "Start.md#here",
    "[[Other name]]": "deep/Alias.md",
    "![[Note]]": "Note.md",
    "![[Note#A]]": "Note.md#a",
    "![[pic one.png|300]]": "pic one.png",
    "[t](Note.md)": "Note.md",
    "[t](Note)": "Note.md",
    "[t](./Note.md)": "Note.md",
    "[t](my note.md)": "my note.md",
    "[t](my%20note.md)": "my note.md",
    "[t](<my note.md>)": "my note.md",
    "[t](my%20note.md 'title')": "my note.md",
    "[t](Note.md#C%20/%20D!)": "Note.md#c-d",
    "[t](Note.md#c-d)": "Note.md#c-d",
    "[t][ref]\n\n[ref]: deep/er/Far.md": "deep/er/Far.md",
    "![a](pic%20one.png)": "pic one.png",
    "![a|100](<pic one.png>)": "pic one.png",
    "[t](obsidian://open?vault=V&file=deep%2Fer%2FFar)": "deep/er/Far.md",
    "[t](obsidian://show-plugin?id=x)": None,
    "[t](https://example.org/Note.md)": None,
    "[t](mailto:a@b.c)": None,
    "[UB #1/3](https://u.example)": None,
    "[[Nowhere]]": "missing:Nowhere",
    "[t](gone.md)": "missing:gone.md",
}


@pytest.mark.parametrize(("written", "leads_to"), LINKS.items(), ids=LINKS)
def test_a_link_leads_where_its_author_meant(
    tmp_path: Path, written: str, leads_to: str | None
) -> None:
    vault = open_vault(tmp_path, {**VAULT, "Start.md": f"{written}\n\n## Here\n"})
    assert vault.targets("Start.md") == [leads_to]


NO_LINKS = {
    "fence": "```sh\nif [[ -f x ]]; then\n[[Note]] #tag\n```",
    "tilde fence": "~~~\n[[Note]] #tag\n~~~",
    "indented": "text\n\n    [[Note]] #tag\n",
    "inline code": "`[[Note]] #tag` and ``a ` [[Note]]``",
    "math": "$[[Note]]$ and\n\n$$\n[[Note]] #tag\n$$",
    "comment": "%%[[Note]] #tag%%",
    "comment over lines": "%%\n[[Note]]\n\n#tag\n%%",
    "html comment": "<!-- [[Note]] #tag -->",
    "escaped": r"\[[Note]] \#tag",
    "empty": "[[]] [[ ]] [[|x]]",
}


@pytest.mark.parametrize("text", NO_LINKS.values(), ids=NO_LINKS)
def test_nothing_in_code_math_or_comments_is_a_link_or_tag(tmp_path: Path, text: str) -> None:
    page = open_vault(tmp_path, {"Note.md": "", "a.md": text})["a.md"]
    assert [link for link in page.links if link.target] == []
    assert page.tags == ()


def test_links_in_a_table_keep_their_alias(tmp_path: Path) -> None:
    table = "| a | b |\n|---|---|\n| [[Note\\|one]] | [[Note|two]] |\n| `x` | ![[Note\\|three]] |\n"
    vault = open_vault(tmp_path, {"Note.md": "", "a.md": table})
    assert [link.label for link in vault["a.md"].links] == ["one", "two", "three"]
    html = vault.html("a.md")
    assert html.count("<td>") == 4 and ">one</a>" in html and ">two</a>" in html


def test_a_link_knows_its_line(tmp_path: Path) -> None:
    text = "---\na: 1\n---\none\ntwo [[Note]]\n\n- x\n- y\n  [[Note]]\n\n> q\n> [[Note]]\n"
    page = open_vault(tmp_path, {"Note.md": "", "a.md": text})["a.md"]
    assert [link.line for link in page.links] == [5, 9, 12]


def test_case_decides_between_names_that_differ_in_it(tmp_path: Path) -> None:
    files = {"Foo.md": "", "FOO.md": "", "a.md": "[[Foo]] [[FOO]] [[foo]]"}
    vault = open_vault(tmp_path, files)
    assert vault.targets("a.md") == ["Foo.md", "FOO.md", "FOO.md"]
    assert vault.rules() == ["ambiguous-link"]


def test_two_notes_of_one_name(tmp_path: Path) -> None:
    files = {
        "x/index.md": "",
        "y/z/index.md": "[[index]]",
        "y/index.md": "[[index]]",
        "b.md": "[[index]]",
    }
    vault = open_vault(tmp_path, files)
    assert vault.targets("b.md") == ["x/index.md"]
    assert vault.targets("y/index.md") == ["y/index.md"]
    assert vault.targets("y/z/index.md") == ["y/z/index.md"]
    assert set(vault.rules()) == {"ambiguous-link"}
    exact = open_vault(tmp_path / "2", {**files, "index.md": ""})
    assert exact.targets("b.md") == ["index.md"]
    assert exact.rules("b.md") == []


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_unicode_forms_meet(tmp_path: Path, form: str) -> None:
    name = unicodedata.normalize("NFC" if form == "NFD" else "NFD", "Çalışma é.md")
    link = unicodedata.normalize(form, "[[Çalışma é]]")
    vault = open_vault(tmp_path, {name: "x", "a.md": link})
    assert vault.targets("a.md") == ["Çalışma é.md"]


ODD_NAMES = [
    "🐘.md",
    "°.md",
    "----=-.md",
    "{.md",
    "a&b.md",
    "what?.md",
    "50%.md",
    "a#b.md",
    "dot..md",
    "[x].md",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_become_pages_with_an_address(tmp_path: Path, name: str) -> None:
    from urllib.parse import quote

    vault = open_vault(tmp_path, {name: "# H\n\ntext", "a.md": f"[t]({quote(name)})"})
    assert vault.targets("a.md") == [name]
    assert 'href="#"' not in vault.html("a.md")


def test_resolving_again_changes_nothing(tmp_path: Path) -> None:
    """A link written as the full path that it resolved to leads to the same place."""
    files = {**VAULT, "a.md": "[[Far]] [[Other name]] [[Note#A]] [[my note]]"}
    first = open_vault(tmp_path / "1", files).targets("a.md")
    again = " ".join(f"[[{target}]]" for target in first)
    assert open_vault(tmp_path / "2", {**files, "a.md": again}).targets("a.md") == first


def test_a_view_of_a_base_is_a_place(tmp_path: Path) -> None:
    base = "views:\n  - type: table\n    name: Last seen\n"
    vault = open_vault(
        tmp_path, {"Films.base": base, "a.md": "![[Films.base#Last seen]] [[Films.base#No]]"}
    )
    assert vault.targets("a.md") == ["Films.base", "Films.base"]
    assert vault.rules() == ["missing-anchor"]


_MEDIA = (".png", ".svg", ".jpg", ".jpeg", ".mp4", ".ogg", ".pdf", ".gif")


@pytest.mark.parametrize(
    ("lang", "wikilinks", "broken_notes"), [("en", 1807, 5), ("tr", 1810, 8), ("zh", 1792, 31)]
)
def test_help_vaults_resolve(corpora: Path, lang: str, wikilinks: int, broken_notes: int) -> None:
    """Numbers that an independent, approximate resolver gave, within what it cannot see."""
    from tests.vaults import read_vault

    vault = read_vault(corpora / "vaults" / f"obsidian-help-{lang}")
    links = [
        (link, target)
        for item in vault.linked
        for link, target in zip(item.page.links, item.targets, strict=True)
        if link.syntax == "wikilink"
    ]
    assert len(links) == wikilinks
    missing = [
        (item.page.path, link.line, link.target)
        for item in vault.linked
        for link, target in zip(item.page.links, item.targets, strict=True)
        if target and target.kind == "missing" and not link.target.endswith(_MEDIA)
    ]
    assert abs(len(missing) - broken_notes) <= 2
