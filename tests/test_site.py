"""The site as a reader sees it: a real browser against a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import pytest

from lorepack_server.http.site import read_file
from lorepack_server.packs.mount import mount_pack
from tests.conftest import errors_of


@pytest.fixture
def page(browser: Any, demo_server: str) -> Any:
    """A browser page that fails its test on any console error or request elsewhere."""
    opened = browser.new_page()
    problems = errors_of(opened)
    opened.on(
        "request",
        lambda r: (
            problems.append(r.url)
            if not r.url.startswith((demo_server, "data:", "blob:"))
            else None
        ),
    )
    yield opened
    opened.close()
    assert problems == []


def test_follow_a_link_and_search(page: Any, demo_server: str) -> None:
    page.goto(f"{demo_server}/site/demo/")
    page.get_by_role("link", name="Start here").first.click()
    page.get_by_role("link", name="Build your own").click()
    assert page.title() == "Build a pack - Lorepack demo"
    page.locator(".lore-search-open").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("immutable file")
    hit = page.locator(".lore-search li a", has_text="Packs").first
    hit.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/concepts/packs/**")
    assert page.locator("h1").inner_text() == "Packs"


def test_a_page_shows_what_its_author_wrote(page: Any, demo_server: str) -> None:
    page.goto(f"{demo_server}/site/demo/guide/guides/markdown-tour/")
    assert page.locator("mark", has_text="Highlights").count() == 1
    assert page.locator("details.warning summary").inner_text().strip() == "Folded"
    assert page.locator("details.warning .admonition.note").count() == 1
    assert "Sealing is atomic" in page.locator(".lore-embed").inner_text()
    picture = page.locator("img[src$='.svg'][width='120']")
    picture.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('article img[width]').naturalWidth > 0")
    assert page.locator(".highlight .k", has_text="def").count() == 1
    assert page.locator("a.lore-tag", has_text="#lorepack/markdown").count() >= 1
    assert "This comment" not in page.content()


def test_backlinks_lead_back(page: Any, demo_server: str) -> None:
    page.goto(f"{demo_server}/site/demo/guide/concepts/packs/")
    page.locator(".lore-backlinks a", has_text="Start here").click()
    assert page.locator("h1").inner_text() == "Start here"


def test_every_link_of_the_site_leads_somewhere(demo_pack: Path) -> None:
    """Crawl all pages of the pack: each internal link names a file, each fragment an id."""
    import re

    mount = mount_pack(demo_pack)
    rows = mount.connection().execute("SELECT name FROM sqlar WHERE name LIKE '%.html'")
    pages = {row["name"]: read_file(mount, row["name"]) for row in rows}
    html = {name: file.plain().decode() for name, file in pages.items() if file}
    ids = {name: set(re.findall(r'\bid="([^"]*)"', text)) for name, text in html.items()}
    broken = []
    for name, text in html.items():
        for href in re.findall(r'<a[^>]*\bhref="([^"]*)"', text):
            parts = urlsplit(href.replace("&amp;", "&"))
            if parts.scheme or name == "404.html":
                continue
            joined = httpx.URL(f"http://x/{name}").join(parts.path or "").path.lstrip("/")
            target = name if not parts.path else joined
            target += "index.html" if target.endswith("/") or not target else ""
            fragment = unquote(parts.fragment)
            missing = bool(fragment) and fragment not in ids.get(target, set())
            if missing or read_file(mount, target) is None:
                broken.append((name, href))
    assert broken == []


def test_every_citation_leads_to_an_id(demo_pack: Path) -> None:
    mount = mount_pack(demo_pack)
    rows = mount.connection().execute(
        "SELECT pages.url, chunks.anchor FROM chunks JOIN pages ON pages.id = chunks.page_id"
    )
    for url, anchor in rows:
        file = read_file(mount, url)
        assert file is not None
        assert not anchor or f'id="{anchor}"' in file.plain().decode()


def test_site_over_http(demo_server: str) -> None:
    with httpx.Client(base_url=f"{demo_server}/site/demo") as client:
        first = client.get("/")
        assert first.headers["content-type"] == "text/html; charset=utf-8"
        assert first.headers["x-content-type-options"] == "nosniff"
        again = client.get("/", headers={"If-None-Match": first.headers["etag"]})
        assert again.status_code == 304
        missing = client.get("/no/such/page/")
        assert missing.status_code == 404 and "Page not found" in missing.text
        assert client.get("/guide/concepts/packs").headers["location"].endswith("/packs/")
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd"):
            assert client.get(path).status_code in (404, 400)


def test_index_lists_packs_and_foreign_hosts_are_refused(demo_server: str) -> None:
    index = httpx.get(demo_server)
    assert "Lorepack demo" in index.text and f"{demo_server}/mcp/demo" in index.text
    assert httpx.get(demo_server, headers={"Host": "evil.example"}).status_code == 400
    refused = httpx.post(
        f"{demo_server}/mcp/demo", headers={"Origin": "http://evil.example"}, json={}
    )
    assert refused.status_code == 403
    assert httpx.get(f"{demo_server}/site/other/").status_code == 404
    assert httpx.post(f"{demo_server}/mcp/other", json={}).status_code == 404
