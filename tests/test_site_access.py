"""The site for everybody: axe-core's rules, the keyboard, small screens, slow lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from lorepack_builder.convert.anchors import unique_anchors
from lorepack_builder.render.urls import page_urls
from tests.conftest import Built, serve
from tests.vaults import open_vault

KINDS = [
    "", "hot/", "tags/", "tags/guide/", "graph/", "glossary/", "lint/", "changes/", "guide/",
    "upkeep/", "upkeep/links/", "upkeep/concepts/", "upkeep/memory/",
    "guide/start-here/", "guide/guides/markdown-tour/", "guide/concepts/stages.canvas/",
    "guide/diller/工作原理/", "code/", "code/clients/", "clients/src/ask.py/", "nothing/here/",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(
    browser: Any, demo_server: str, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce",
        bypass_csp=True,
    )  # fmt: skip
    page = context.new_page()
    faults = []
    for kind in KINDS:
        page.goto(f"{demo_server}/site/demo/{kind}")
        page.wait_for_load_state("networkidle")
        faults += [(kind, *fault) for fault in _serious(Axe().run(page))]
    page.keyboard.press("/")
    page.keyboard.type("pack")
    page.locator(".lore-search li a").first.wait_for()
    faults += [("search box", *fault) for fault in _serious(Axe().run(page))]
    context.close()
    assert faults == []


def _serious(results: Any) -> list[tuple[str, str]]:
    return [
        (violation["id"], violation["nodes"][0]["html"][:200])
        for violation in results.response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]


@pytest.mark.slow
def test_nothing_is_wider_than_a_phone(browser: Any, demo_server: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    for kind in KINDS:
        page.goto(f"{demo_server}/site/demo/{kind}")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, kind
    page.close()


def test_the_start_page_is_light_and_asks_nobody_else(browser: Any, demo_server: str) -> None:
    """Less than 300 kB on the wire, without fonts, and none of it from elsewhere."""
    context = browser.new_context()
    page = context.new_page()
    client = context.new_cdp_session(page)
    client.send("Network.enable")
    sizes: list[float] = []
    asked: list[str] = []
    client.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{demo_server}/site/demo/")
    page.wait_for_load_state("networkidle")
    assert sum(sizes) < 300_000
    for kind in KINDS:
        page.goto(f"{demo_server}/site/demo/{kind}")
        page.wait_for_load_state("networkidle")
    context.close()
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(demo_server).netloc}


def test_focus_can_be_seen(browser: Any, demo_server: str) -> None:
    page = browser.new_page()
    page.goto(f"{demo_server}/site/demo/guide/start-here/")
    seen = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        # The switch of colours is a hidden radio button, shown by its label.
        seen.add(
            page.evaluate(
                """(() => { const at = document.activeElement;
                    const shown = at.type === "radio" ? at.nextElementSibling : at;
                    return getComputedStyle(shown).outlineStyle !== "none"; })()"""
            )
        )
    page.close()
    assert seen == {True}


def test_anchors_depend_on_headings_alone() -> None:
    texts = ["Intro", "设置", "设置", "😀", "🎉", "Intro", "Intro 2", "Café", "Cafe\u0301", "Notes"]
    before = unique_anchors(texts, [2] * len(texts))
    assert before[:5] == ["intro", "设置", "设置-2", before[3], before[4]]
    assert before[3] != before[4] and len(set(before)) == len(before)
    assert before[6] == "intro-2"  # a real heading keeps its slug, whoever came first
    grown = unique_anchors([*texts[:9], "New", "Another", texts[9]], [2] * 12)
    assert [grown[i] for i in (*range(9), 11)] == before


def test_addresses_depend_on_paths_alone() -> None:
    paths = ["v/A b.md", "v/a-b.md", "v/A-B.txt", "v/设置.md", "v/😀.md", "v/" + "😀" * 90 + ".md",
             "v/x.md.md", "v/x.md", "tags/x.md", "v/c#.md", "v/c.md"]  # fmt: skip
    urls = page_urls(paths)
    assert len(set(urls.values())) == len(paths)
    assert urls["v/a-b.md"] == "v/a-b/" and urls["v/设置.md"] == "v/设置/"
    assert urls["tags/x.md"] == "tags-source/x/"
    assert all(len(part.encode()) < 250 for url in urls.values() for part in url.split("/"))
    alone = {path: page_urls([path])[path] for path in paths}
    for path in ("v/设置.md", "v/😀.md", "v/x.md.md", "v/x.md", "v/c#.md", "v/c.md", "v/a-b.md"):
        assert alone[path] == urls[path]
    assert page_urls(list(reversed(paths))) == urls


def test_one_anchor_for_links_citations_and_search(tmp_path: Path) -> None:
    text = "# 😀\n\nx\n\n## 设置\n\ny\n\n## 设置\n\nz\n\n## Same `code`\n\nw\n"
    vault = open_vault(tmp_path, {"A.md": text, "B.md": "[[A#设置]] [[A#Same code]] [[A#😀]]\n"})
    html = vault.html("A.md")
    anchors = [heading.anchor for heading in vault["A.md"].headings]
    assert all(f'id="{anchor}"' in html for anchor in anchors)
    assert vault.targets("B.md") == [
        f"A.md#{anchors[1]}",
        f"A.md#{anchors[3]}",
        f"A.md#{anchors[0]}",
    ]
    assert {chunk.anchor for chunk in vault.chunks("A.md")} <= {"", *anchors}


def test_a_new_version_keeps_addresses(build: Callable[..., Built]) -> None:
    def places(built: Built) -> set[tuple[str, str]]:
        rows = built.mount().connection().execute(
            "SELECT pages.url, headings.anchor FROM headings JOIN pages ON pages.id = page_id"
        )  # fmt: skip
        return {tuple(row) for row in rows}

    first = places(build({"A.md": "## One\n\nx\n\n## One\n\ny\n", "Z.md": "# 题\n"}))
    second = places(
        build({"A.md": "## One\n\nx\n\n## One\n\ny\n\n## Zero\n\nq\n", "B.md": "# N\n", "Z.md": "# 题\n"},
              version="1.1.0")
    )  # fmt: skip
    assert first < second


def test_a_broken_address_says_so(browser: Any, demo_pack: Path) -> None:
    with serve(demo_pack) as server:
        page = browser.new_page()
        page.goto(f"{server}/site/demo/guide/no/such/page/")
        assert page.locator("h1").inner_text() == "Page not found"
        page.keyboard.press("/")
        page.keyboard.type("atomic")
        page.locator(".lore-search li a").first.wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url("**/concepts/**")
        assert unquote(page.url).startswith(f"{server}/site/demo/guide/concepts/")
        page.close()
