"""Frontmatter of any shape: what can be read is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from lorepack_builder.parse.frontmatter import read_frontmatter
from tests.vaults import open_vault

SHAPES = {
    "date": ("created: 2026-04-05", "created", "2026-04-05"),
    "zone": ("updated: 2026-04-05T10:00:00+03:00", "updated", "2026-04-05T10:00:00+03:00"),
    "number": ("title: 2024", "title", "2024"),
    "yes": ("tags: yes", "tags", ("yes",)),
    "list": ("tags: [a, b/c]", "tags", ("a", "b/c")),
    "lines": ("tags:\n  - a\n  - b", "tags", ("a", "b")),
    "comma": ("tags: a, b", "tags", ("a", "b")),
    "space": ("tags: a b", "tags", ("a", "b")),
    "hash": ("tags: ['#a', '#b']", "tags", ("a", "b")),
    "alias": ("aliases: One two, Three", "aliases", ("One two", "Three")),
    "alias list": ("alias: [A]", "aliases", ("A",)),
    "numbers": ("aliases: [2024, true]", "aliases", ("2024", "true")),
    "nothing": ("tags:", "tags", ()),
    "wrong type": ("tags: {a: b}\ntitle: [x]", "tags", ()),
    "colon": ("title: Part: one", "title", "Part: one"),
    "tabs": ("tags:\n\t- a\n\t- b", "tags", ("a", "b")),
    "template": ("title: {{title}}\ntags: [a]", "tags", ("a",)),
    "twice": ("title: one\ntitle: two", "title", "two"),
    "lifecycle": ("status: Verified", "lifecycle", "verified"),
    "unknown status": ("status: whatever", "lifecycle", ""),
    "lang": ("lang: pt-BR", "lang", "pt"),
    "lang of a film": ("language: English, French", "lang", "en"),
    "quote": ("title: 'it''s'\nauthor: \"[[A]]\"", "title", "it's"),
    "unclosed": ('title: "x\ntags: [a]\naliases: B', "aliases", ("B",)),
}


@pytest.mark.parametrize(("yaml", "field", "value"), SHAPES.values(), ids=SHAPES)
def test_what_a_page_says_of_itself(tmp_path: Path, yaml: str, field: str, value: object) -> None:
    vault = open_vault(tmp_path, {"a.md": f"---\n{yaml}\n---\nbody [[a]]\n"})
    page = vault["a.md"]
    assert getattr(page, field) == value
    assert page.body == "body [[a]]\n"
    assert page.links[0].line == page.body_line == yaml.count("\n") + 4


PROBLEMS = {
    "bad yaml": ("a: 1\nb: [", 4),
    "twice": ("a: 1\na: 2", 3),
    "a list": ("- a\n- b", 2),
    "colon": ("x: 1\nt: a: b", 3),
}


@pytest.mark.parametrize(("yaml", "line"), PROBLEMS.values(), ids=PROBLEMS)
def test_a_problem_names_its_line(tmp_path: Path, yaml: str, line: int) -> None:
    vault = open_vault(tmp_path, {"a.md": f"---\n{yaml}\n---\nbody"})
    assert [(f.rule, f.path, f.line) for f in vault.findings] == [
        ("bad-frontmatter", "v/a.md", line)
    ]


def test_anchors_that_explode_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    yaml = "\n".join([*lines, "title: kept"])
    vault = open_vault(tmp_path, {"a.md": f"---\n{yaml}\n---\nbody"})
    assert vault.rules() == ["bad-frontmatter"]
    assert "expand" in vault.findings[0].message
    assert vault["a.md"].title == "kept"
    assert len(vault["a.md"].frontmatter) < 20_000


EDGES = {
    "none": ("text", "text", 1),
    "empty": ("---\n---\ntext", "text", 3),
    "ends at the end of the file": ("---\na: 1\n---", "", 4),
    "never closes": ("---\na: 1\ntext", "---\na: 1\ntext", 1),
    "pair in the body": ("text\n\n---\n\na: 1\n\n---\n", "text\n\n---\n\na: 1\n\n---\n", 1),
    "after a blank line": ("\n---\na: 1\n---\n", "\n---\na: 1\n---\n", 1),
    "rule inside": ("---\na: 1\n---\nx\n---\ny", "x\n---\ny", 4),
    "dots": ("---\na: 1\n...\ntext", "text", 4),
}


@pytest.mark.parametrize(("text", "body", "line"), EDGES.values(), ids=EDGES)
def test_where_frontmatter_begins_and_ends(text: str, body: str, line: int) -> None:
    read = read_frontmatter(text)
    assert (read.body, read.body_line) == (body, line)


def test_a_note_of_properties_only_is_found_by_them(tmp_path: Path) -> None:
    vault = open_vault(tmp_path, {"a.md": "---\nauthor: Ursula\nyear: 1969\n---\n"})
    (chunk,) = vault.chunks("a.md")
    assert "Ursula" in chunk.text and (chunk.first_line, chunk.last_line) == (2, 3)


def test_real_templates_keep_their_pages(corpora: Path) -> None:
    from tests.vaults import read_vault

    vault = read_vault(corpora / "vaults" / "kepano")
    assert len(vault.linked) == 133
