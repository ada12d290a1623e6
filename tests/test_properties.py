"""What must hold for any text at all."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lorepack.text.comments import strip_comments
from lorepack.text.tokenize import fold, is_plain_word, segment, segment_query
from lorepack_builder.chunk import chunk_pages
from lorepack_builder.chunk.tokens import estimated_offsets
from lorepack_builder.convert.anchors import unique_anchors
from lorepack_builder.link import link_pages
from lorepack_builder.model import Source, SourceFile
from lorepack_builder.parse import parse_file
from lorepack_builder.parse.frontmatter import read_frontmatter
from lorepack_builder.parse.mermaid import parse_mermaid
from lorepack_builder.render.urls import page_urls
from tests.vaults import Vault

PIECES = st.sampled_from(
    ["# ", "## h\n", "[[", "]]", "![[a]]", "|", "\\", "`", "```\n", "~~~\n", "%%", "<!--", "-->", "$$\n", "$",
     "> ", "> [!note]- ", "- [x] ", "- ", "1. ", "    ", "\t", "---\n", "===\n", "| a | b |\n|---|---|\n",
     "^id", "#tag", "==", "**", "[a](b c)", "[x]: y\n", "[^1]", "[^1]: n\n", "\n", "\n\n", "word ", "字",
     "İı", "🐘", "\0", "\u2028", "<b>", "</div>", "<script>", "https://x.y/#z ", "a" * 300]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("".join))
FAST = settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def parsed(folder: Path, text: str) -> Vault:
    path = folder / "a.md"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    source = Source("v", "vault", "v", folder)
    file = SourceFile(source, "v/a.md", path)
    page, findings = parse_file(file)
    pages = [page] if page else []
    linked, odd = link_pages(pages, [file])
    return Vault(linked, [file], findings + odd)


@FAST
@given(text=TEXTS)
def test_any_text_parses_chunks_and_renders(tmp_path: Path, text: str) -> None:
    vault = parsed(tmp_path, text)
    for item in vault.linked:
        page = item.page
        lines = page.body.split("\n")
        for limit in (32, 256):
            (chunks,) = chunk_pages([page], estimated_offsets, limit)
            seen = {n for c in chunks for n in range(c.first_line, c.last_line + 1)}
            assert all(i + page.body_line in seen for i, line in enumerate(lines) if line.strip())
            assert all(chunk.text.strip() for chunk in chunks)
            words = set(" ".join(chunk.text for chunk in chunks).split())
            assert all(word in words or len(word) > 20 for word in page.body.split()) or limit == 32
        html = vault.html("a.md")
        for heading in page.headings:
            assert html.count(f' id="{heading.anchor}"') == 1


@FAST
@given(text=TEXTS)
def test_taking_comments_keeps_lines_and_is_done_once(text: str) -> None:
    stripped, _ = strip_comments(text)
    assert stripped.count("\n") == text.count("\n")
    if "%%" not in text and "<!--" not in text:
        assert stripped == text


@FAST
@given(text=st.one_of(TEXTS, TEXTS.map(lambda body: f"---\n{body}\n---\nrest")))
def test_frontmatter_and_body_make_up_the_text(text: str) -> None:
    read = read_frontmatter(text)
    assert text.endswith(read.body)
    assert text.count("\n") - read.body.count("\n") == read.body_line - 1 or not read.body


@FAST
@given(st.lists(st.tuples(st.text(max_size=12), st.integers(1, 6)), max_size=12))
def test_anchors_are_unique_and_a_heading_below_changes_none(
    headings: list[tuple[str, int]],
) -> None:
    texts, levels = [text for text, _ in headings], [level for _, level in headings]
    anchors = unique_anchors(texts, levels)
    assert len(set(anchors)) == len(anchors)
    more = unique_anchors([*texts, "entirely new heading"], [*levels, 2])
    assert more[:-1] == anchors


@FAST
@given(
    st.lists(
        st.text(
            st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]),
            min_size=1,
            max_size=12,
        ),
        max_size=12,
        unique=True,
    )
)
def test_addresses_are_unique_and_steady(names: list[str]) -> None:
    paths = [f"v/{name}.md" for name in names]
    urls = page_urls(paths)
    assert len(set(urls.values())) == len(paths)
    assert page_urls(list(reversed(paths))) == urls
    assert all(url.endswith("/") and ".." not in url.split("/") for url in urls.values())


@FAST
@example("0'0")
@example("Obsidian's")
@given(st.text(max_size=300))
def test_segmenting_never_fails_and_folds_once(text: str) -> None:
    tokens = segment(text)
    assert all(token and " " not in token for token in tokens)
    assert fold(fold(text)) == fold(text)
    for run in segment_query(text):
        # A plain word is asked for as it stands too.
        assert set(run[:1] if is_plain_word(run) else run) <= set(tokens)


@FAST
@given(
    st.sampled_from(["graph LR\n", "sequenceDiagram\n", "classDiagram\n", "stateDiagram\n"]), TEXTS
)
def test_any_diagram_parses(head: str, text: str) -> None:
    diagram = parse_mermaid(head + text, 1)
    assert diagram is not None
