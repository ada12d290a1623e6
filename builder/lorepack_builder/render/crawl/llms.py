"""``llms.txt`` and ``llms-full.txt``: the pack for language models (llmstxt.org)."""

from __future__ import annotations

from lorepack_builder.render.model import SiteInput
from lorepack_builder.render.urls import markdown_url, relative_url

PART_BYTES = 2_000_000
"""A longer ``llms-full.txt`` is split into parts, and lists them."""


def llms_files(given: SiteInput) -> dict[str, bytes]:
    """Return the list of all pages, and their full text."""
    return {"llms.txt": _list(given).encode("utf-8", "replace"), **_full(given)}


def _list(given: SiteInput) -> str:
    lines = [
        f"# {given.title}",
        "",
        f"> {len(given.pages)} pages, version {given.version}. Each link leads to Markdown; "
        "llms-full.txt holds all of it.",
    ]
    for source in given.sources:
        lines += ["", f"## {source.name}", ""]
        for linked in given.pages:
            page = linked.page
            if page.source.name == source.name:
                url = relative_url(markdown_url(given.urls[page.path]), "")
                title = page.title.replace("[", "(").replace("]", ")")
                lines.append(f"- [{title}]({url})" + (f": {page.summary}" if page.summary else ""))
    return "\n".join(lines) + "\n"


def _full(given: SiteInput) -> dict[str, bytes]:
    parts: list[list[bytes]] = [[]]
    size = 0
    for linked in given.pages:
        page = linked.page
        url = relative_url(given.urls[page.path], "")
        text = f"# {page.title}\n\nSource: {url}\n\n{page.body.strip()}\n\n"
        entry = text.encode("utf-8", "replace")
        if size and size + len(entry) > PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(entry)
        size += len(entry)
    if len(parts) == 1:
        return {"llms-full.txt": b"".join(parts[0])}
    names = [f"llms-full-{number}.txt" for number in range(1, len(parts) + 1)]
    index = f"# {given.title}\n\nAll pages, in {len(parts)} parts:\n\n" + "".join(
        f"- [{name}]({name})\n" for name in names
    )
    full = {name: b"".join(part) for name, part in zip(names, parts, strict=True)}
    return {"llms-full.txt": index.encode("utf-8", "replace"), **full}
