"""Documents that are no Markdown: reStructuredText, notebooks, HTML; and what links between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorepack_builder.convert.html import read_html
from lorepack_builder.parse.admonitions import convert_admonitions
from lorepack_builder.parse.notebook import notebook_markdown
from lorepack_builder.parse.rst import rst_to_markdown
from tests.conftest import write_files
from tests.vaults import Vault, read_vault


def folder(tmp_path: Path, files: dict[str, str | bytes], kind: str = "folder") -> Vault:
    return read_vault(write_files(tmp_path / "docs", files), kind=kind)


RST = {
    "heading": ("Title\n=====\n\nPart\n----\n", "# Title\n\n\n## Part\n\n"),
    "overline": ("=====\nTitle\n=====\n\nPart\n====\n", "\n# Title\n\n\n## Part\n\n"),
    "literal": ("``a_b`` and :meth:`~a.B.c`\n", "`a_b` and `a.B.c`\n"),
    "link": ("See `the site <https://x.org/a b>`_ now\n", "See [the site](https://x.org/ab) now\n"),
    "named link": ("`Here`_ x\n\n.. _here: https://x.org\n", "[Here](https://x.org) x\n\n\n"),
    "ref": (":ref:`all of it <that-label>`\n", "[all of it](lore-label:that-label)\n"),
    "doc": (":doc:`/a/b`\n", "[b](/a/b)\n"),
    "code": (
        ".. code-block:: python\n   :linenos:\n\n   x = 1\n\nend\n",
        "\n\n```python\nx = 1\n```\nend\n",
    ),
    "literal block": ("So::\n\n    x = 1\n\nend\n", "So:\n```\nx = 1\n```\nend\n"),
    "note": (".. note::\n\n   Mind *it*.\n\nend\n", "> [!note]\n>\n> Mind *it*.\n\nend\n"),
    "changed": (".. versionadded:: 1.2\n   More.\n", "> [!info] New in version 1.2\n> More.\n"),
    "comment": ("a\n\n.. hidden words\n   and more\n\nb\n", "a\n\n\n\n\nb\n"),
    "list": ("-   a\n    b\n\n#. one\n#. two\n", "- a\n  b\n\n1. one\n1. two\n"),
    "definition": ("term\n    What it is.\n", "- **term**\n  What it is.\n"),
    "grid": (
        "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n\n",
    ),
    "simple": (
        "=== ===\na   b\n=== ===\n1   2\n=== ===\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n\n",
    ),
    "image": (".. image:: a.png\n   :alt: A picture\n", "![A picture](a.png)\n\n"),
    "substitution": (".. |x| replace:: the text\n\nIt is |x|.\n", "\n\nIt is the text.\n"),
    "footnote": ("Yes [1]_.\n\n.. [1] Why.\n", "Yes [^1].\n\n[^1]: Why.\n"),
    "toctree": (
        ".. toctree::\n   :maxdepth: 2\n\n   a/index\n   The end <end>\n",
        "\n\n\n- [index](a/index)\n- [The end](end)\n",
    ),
    "object": ("T\n=\n\n.. data:: SECRET_KEY\n\n   Secret.\n", "T\n=\n\n"),
    "signs": ("a < b and [x] and $5\n", "a \\< b and \\[x\\] and \\$5\n"),
}


@pytest.mark.parametrize("name", [n for n in RST if n != "object"])
def test_rst_becomes_markdown_line_by_line(name: str) -> None:
    text, expected = RST[name]
    assert rst_to_markdown(text).text == expected


def test_a_described_object_becomes_a_section() -> None:
    text = "Keys\n====\n\n.. py:data:: SECRET_KEY\n\n   Keep it secret.\n"
    assert rst_to_markdown(text).text == "# Keys\n\n\n## `SECRET_KEY`\n\nKeep it secret.\n"


@given(st.text(alphabet=".:_*`|=-+# \n\tab1\\<>[]", max_size=300))
def test_any_rst_keeps_its_lines(text: str) -> None:
    assert rst_to_markdown(text).text.count("\n") == text.count("\n")


def test_the_real_docs_leave_no_markup(corpora: Path) -> None:
    for file in sorted((corpora / "repos").rglob("*.rst")):
        text = file.read_text()
        converted = rst_to_markdown(text).text
        assert converted.count("\n") == text.count("\n"), file
        fenced = False
        for line in converted.split("\n"):
            fenced ^= line.lstrip("> ").startswith("```")
            assert fenced or not line.lstrip("> ").startswith(".. "), (file, line)
            assert fenced or (":ref:`" not in line and ":func:`" not in line), (file, line)


def test_rst_pages_have_titles_anchors_and_links(tmp_path: Path) -> None:
    docs = folder(tmp_path, {
        "docs/index.rst": "Start\n=====\n\n:doc:`sub/more`, :ref:`deep`, :doc:`/sub/more`, :ref:`gone`\n",
        "docs/sub/more.rst": "More\n====\n\n.. _deep:\n\nDeep part\n---------\n\nText.\n",
    })  # fmt: skip
    assert docs["docs/index.rst"].title == "Start"
    more = "docs/sub/more.rst"
    assert docs.targets("docs/index.rst") == [more, f"{more}#deep-part", more, None]
    assert docs.rules("docs/index.rst") == ["broken-link"]
    assert [(h.text, h.line) for h in docs[more].headings] == [("More", 1), ("Deep part", 6)]
    assert docs.chunks(more)[-1].last_line == 9


def notebook(*cells: dict[str, object]) -> str:
    info = {"language_info": {"name": "python"}}
    return json.dumps({"nbformat": 4, "metadata": info, "cells": list(cells)})


def test_a_notebook_shows_its_cells_and_what_they_printed() -> None:
    text = notebook(
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "words"]},
        {"cell_type": "code", "source": "print(1)", "outputs": [
            {"output_type": "stream", "text": ["1\n"]},
            {"output_type": "execute_result", "data": {"text/plain": "42"}},
            {"output_type": "display_data", "data": {"image/png": "A" * 10_000}},
            {"output_type": "error", "traceback": ["\u001b[31mValueError\u001b[0m"]},
        ]},
    )  # fmt: skip
    assert notebook_markdown(text) == (
        "# Title\n\nwords\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n```text\n42\n```\n\n"
        "*(a picture, image/png)*\n\n```text\nValueError\n```\n"
    )


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": 3}', "{nonsense", "[" * 100_000])
def test_what_is_no_notebook_is_reported(tmp_path: Path, text: str) -> None:
    docs = folder(tmp_path, {"a.md": "ok", "bad.ipynb": text})
    assert docs.rules() == ["bad-file"]
    assert [item.page.path for item in docs.linked] == ["v/a.md"]


def test_html_gives_its_main_content(tmp_path: Path) -> None:
    page = (
        '<html lang="tr"><head><title>Kılavuz</title><script>evil()</script></head><body><nav>menu</nav>'
        '<main><h1>Kılavuz</h1><section id="kur"><h2>Kur<a class="headerlink" href="#kur">¶</a></h2>'
        '<p>Önce <a href="b.html#son">oku</a>.</p><pre><code class="language-sh">make</code></pre>'
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></section></main>"
        "<footer>foot</footer></body></html>"
    )
    docs = folder(tmp_path, {"a.html": page, "b.md": "# B\n\n## Son\n\nx [a](a.html#kur)\n"})
    own = docs["a.html"]
    assert (own.title, own.lang) == ("Kılavuz", "tr")
    for shown in ("## Kur\n", "```sh\nmake", "| a | b |", "| 1 | 2 |"):
        assert shown in own.body
    for hidden in ("evil", "menu", "foot", "¶"):
        assert hidden not in own.body
    assert docs.targets("a.html") == ["b.md#son"]
    assert docs.targets("b.md") == ["a.html#kur"]


def test_a_template_is_no_document(tmp_path: Path) -> None:
    docs = folder(tmp_path, {"a.html": "{% extends 'base' %}<p>x</p>", "b.md": "x"})
    assert (docs.rules(), len(docs.linked)) == (["left-out"], 1)


@given(st.text(alphabet="<>/abph1 \n\"'=&;!-", max_size=200))
def test_any_html_is_read_or_refused(text: str) -> None:
    read_html(text)


def test_admonitions_of_python_markdown_become_callouts() -> None:
    text = '!!! warning "Mind"\n    It is\n\n    hot.\n\nend\n\n```\n!!! note\n```\n'
    assert convert_admonitions(text) == (
        "> [!warning] Mind\n> It is\n>\n> hot.\n\nend\n\n```\n!!! note\n```\n"
    )


def test_a_vault_keeps_html_and_rst_as_attachments(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.md": "[[b.html]] [[c.rst]]",
        "b.html": "<p>x</p>",
        "c.rst": "x",
    }
    vault = folder(tmp_path, files, kind="vault")
    assert [item.page.path for item in vault.linked] == ["v/a.md"]
    assert vault.targets("a.md") == ["b.html", "c.rst"]


def test_a_repositorys_markdown_has_no_tags_and_no_percent_comments(tmp_path: Path) -> None:
    text = "100%% sure, #no-tag, 50%% off [[nodiscard]]\nnext line\n"
    repo = folder(tmp_path, {"a.md": text}, kind="repo")
    assert (repo["a.md"].tags, repo["a.md"].body) == ((), text)
    assert repo.rules() == []
    html = repo.html("a.md")
    assert "<br" not in html and "<a " not in html
