"""The search box, over HTTP and from file://, in three languages at once."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lorepack.pack.open import open_pack
from lorepack.pack.site import site_files, unpack_site
from lorepack.text.tokenize import UNSPACED, fold
from tests.conftest import ROOT, Built, errors_of, serve, write_files, write_recipe

FILES = {
    "Depo.md": "---\nlang: tr\ntags: [araç]\nlifecycle: verified\n---\n# Depo\n\nİstanbul'da ışık "
    "yandı. ISPARTA ve Diyarbakır.\n\n## Kısayol tuşları\n\nIŞIK kısayolu budur.\n",
    "库.md": "---\nlang: zh\ntags: [工具]\nlifecycle: draft\n---\n# 工作原理\n\n这个**数据库**把知识编译成一个文件。"
    "链接到vault内的文件。\n\n## 同步设置\n\n打开设置，然后同步笔记。\n",
    "Store.md": "---\nlang: en\ntags: [tool]\n---\n# Store\n\nA database in one file. It holds "
    "`HALYARD_DISPATCH_TIMEOUT`.\n\n## Sync settings\n\nRunning the vault, naïve or not.\n",
    **{f"many/{n}.md": f"Kasa{n} kasalar kasanızdaki. Number {n}." for n in range(30)},
}
COUNTS = {
    "数据": 1, "据库": 1, "数据库": 1, "库据": 0, "同步": 1, "设": 1, "文件": 1, "件然": 0,
    "istanbul": 1, "İSTANBUL": 1, "ışık": 1, "IŞIK": 1, "isik": 1, "isparta": 1, "ısparta": 1,
    "diyarbakir": 1, "DİYARBAKIR": 1, "kısayol": 1, "kasa": 30, "database": 1, "databases": 1,
    "halyard_dispatch_timeout": 1, "vaults": 2, "runs": 0, "running": 1, "vault": 2, "naive": 1, "文件 vault": 1, '"one file"': 1,
    '"file one"': 0, "zebra": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from lorepack_builder.build import build_pack
    from lorepack_builder.recipe import read_recipe

    folder = tmp_path_factory.mktemp("search")
    recipe = write_recipe(folder, write_files(folder / "vault", FILES))
    return Path(build_pack(read_recipe(recipe), folder / "out")[0].pack)


@pytest.fixture(params=["http", "file"])
def opened(request: Any, browser: Any, pack: Path, tmp_path: Path) -> Iterator[Any]:
    yield from open_site(browser, pack, tmp_path, request.param)


def open_site(browser: Any, pack: Path, folder: Path, scheme: str) -> Iterator[Any]:
    """Give a browser page at the site's start; any error in its console fails the test."""
    page = browser.new_context(viewport={"width": 1000, "height": 800}).new_page()
    problems = errors_of(page)
    if scheme == "file":
        unpack_site(pack, folder / "site")
        page.goto((folder / "site" / "index.html").as_uri())
        yield page
    else:
        with serve(pack) as server:
            page.goto(f"{server}/site/{pack.name.split('-')[0]}/")
            yield page
    page.context.close()
    assert problems == []


def found(page: Any, query: str) -> list[int]:
    """The numbers of the pages that a query finds, without the box around it."""
    numbers: list[int] = page.evaluate(
        """async (query) => {
            const { search, local, script } = window.lorepack;
            await script("search/pages.js");
            const results = await (local ? search.embedded : search.pagefind).find(query);
            return results.map((r) => r.number ?? search.fragments.get(r.fragment));
        }""",
        query,
    )
    return numbers


def test_each_language_finds_its_words(opened: Any) -> None:
    assert {query: len(found(opened, query)) for query in COUNTS} == COUNTS


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_as_many_pages_as_hold_the_words(
    scheme: str, browser: Any, three_languages: Built, tmp_path: Path
) -> None:
    """Words drawn from Obsidian's help in three languages; pages counted by substring."""
    texts = shown_texts(three_languages.path)
    folded = {number: fold(text) for number, text in texts.items()}
    chosen = [*chinese_words(texts, 40), *turkish_words(texts, 40)]
    wrong = {}
    for page in open_site(browser, three_languages.path, tmp_path, scheme):
        for word in chosen:
            begin = "" if "\u4e00" <= word[0] <= "\u9fff" else r"(?<![^\W_])"
            pattern = re.compile(begin + re.escape(fold(word)))
            holding = {number for number, text in folded.items() if pattern.search(text)}
            given = set(found(page, word))
            if given != holding:
                wrong[word] = (len(given), len(holding))
    assert wrong == {}


def shown_texts(pack: Path) -> dict[int, str]:
    """The text of each page, as the index from file:// holds it."""
    with closing(open_pack(pack)) as connection:
        files = dict(site_files(connection))
    titles = [row[0] for row in _argument(files["search/pages.js"])["rows"]]
    texts = {}
    for name, data in files.items():
        if name.startswith("search/text-"):
            for number, sections in _argument(data):
                parts = [f"{heading} {text}" for _, heading, text in sections]
                texts[number] = " ".join([titles[number], *parts])
    return texts


def _argument(script: bytes) -> Any:
    text = script.decode()
    return json.loads(text[text.index("(") + 1 : text.rindex(")")])


def chinese_words(texts: dict[int, str], count: int) -> list[str]:
    runs = [run for text in texts.values() for run in re.findall("[\u4e00-\u9fff]{2,}", text)]
    lot = random.Random(1)
    starts = [(run, lot.randrange(len(run) - 1)) for run in lot.choices(runs, k=count)]
    return [run[at : at + lot.choice((2, 2, 3))] for run, at in starts]


def turkish_words(texts: dict[int, str], count: int) -> list[str]:
    words = sorted({w for t in texts.values() for w in re.findall(r"\b[a-zçğıöşü]{6,14}\b", t)})
    return random.Random(2).sample([word for word in words if not word.isascii()], count)


def test_keyboard_alone(opened: Any) -> None:
    opened.keyboard.press("Control+k")
    opened.keyboard.type("sync set")
    first = opened.locator(".lore-search li a").first
    first.wait_for()
    assert "Sync settings" in first.inner_text()
    opened.keyboard.press("ArrowDown")
    opened.keyboard.press("Escape")
    assert not opened.locator("dialog.lore-search").evaluate("dialog => dialog.open")
    opened.keyboard.press("/")
    opened.keyboard.press("ArrowDown")
    opened.keyboard.press("Enter")
    opened.wait_for_url("**/v/store/**")
    assert opened.url.endswith("#sync-settings")
    assert opened.locator("#sync-settings").is_visible()


def test_words_stay_marked_on_arrival(opened: Any) -> None:
    opened.keyboard.press("/")
    opened.keyboard.type("同步 笔记")
    opened.locator(".lore-search li a").first.wait_for()
    opened.keyboard.press("Enter")
    opened.wait_for_url("**highlight=**")
    opened.locator("article").wait_for()
    assert opened.evaluate("CSS.highlights.get('lore-search').size") == 3


def test_excerpts_read_as_their_pages_do(opened: Any) -> None:
    for query, excerpt in (
        ("数据库", "这个数据库把知识"),
        ("ışık", "ışık yandı"),
        ("database", "A database in"),
    ):
        opened.keyboard.press("/")
        opened.locator(".lore-search input").fill(query)
        shown = opened.locator(".lore-search li", has_text=excerpt)
        shown.first.wait_for()
        marked = shown.locator("mark").first.inner_text()
        assert fold(marked).startswith(fold(query))
        opened.keyboard.press("Escape")


def test_filters(opened: Any) -> None:
    from playwright.sync_api import expect

    opened.keyboard.press("/")
    selects = opened.locator(".lore-search select")
    selects.first.wait_for()
    # There is but one source to choose from.
    names = selects.evaluate_all("all => all.map(e => e.name)")
    assert names == ["language", "lifecycle", "tag"]
    status = opened.locator(".lore-search [role=status]")
    results = opened.locator(".lore-search li")
    for name, value in (("language", "zh"), ("lifecycle", "draft"), ("tag", "工具")):
        opened.locator(".lore-search input").fill("vault")
        expect(status).to_have_text("2 pages")
        opened.locator(f".lore-search select[name={name}]").select_option(label=value)
        expect(status).to_have_text("1 page")
        expect(results).to_have_attribute("lang", "zh")
        opened.locator(".lore-search input").fill("")
        expect(results).to_contain_text("库")  # filters alone list what passes
        opened.locator(f".lore-search select[name={name}]").select_option("")
        expect(status).to_have_text("")


def test_results_lead_to_the_anchors_of_chunks(browser: Any, pack: Path, tmp_path: Path) -> None:
    """What the box finds and what a citation names are one address."""
    with closing(open_pack(pack)) as connection:
        cited = set(
            connection.execute(
                "SELECT pages.url, headings.anchor FROM headings JOIN chunks"
                " ON chunks.id = headings.chunk_id JOIN pages ON pages.id = headings.page_id"
            ).fetchall()
        )
    for scheme in ("http", "file"):
        for page in open_site(browser, pack, tmp_path / scheme, scheme):
            for query in ("同步笔记", "kısayolu", "running"):
                hits = page.evaluate(
                    """async (query) => {
                        const { search, local, script } = window.lorepack;
                        await script("search/pages.js");
                        const [best] = await (local ? search.embedded : search.pagefind).find(query);
                        const row = search.table.rows[best.number ?? search.fragments.get(best.fragment)];
                        return (await best.hits()).map((hit) => [row[1], hit.anchor]);
                    }""",
                    query,
                )
                assert {tuple(hit) for hit in hits} <= {tuple(row) for row in cited}


def test_both_sides_hold_the_same_scripts_for_unspaced() -> None:
    script = (ROOT / "site" / "lorepack_site" / "assets" / "lorepack.js").read_text()
    written = re.search(r'const UNSPACED = "(.*)";', script)
    assert written
    ranges = re.sub(r"\\\\u\{?([0-9a-f]+)\}?", lambda m: chr(int(m[1], 16)), written[1])
    assert ranges == UNSPACED
