"""Which pages each page mentions, and which names are words like others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lorepack_builder.acquire.documents import is_markdown
from lorepack_builder.maintenance.boundaries import Company
from lorepack_builder.maintenance.model import Mention
from lorepack_builder.maintenance.names import find_mentions, link_text, read_names
from lorepack_builder.maintenance.normalize import fold_in_place
from lorepack_builder.maintenance.prose import running_text
from lorepack_builder.model import LinkedPage

_COMMON = 0.05
"""A name said in more than this share of a source's pages is a word like others…"""
_FEW = 20
"""… if more pages than these say it, and …"""
_LINKED = 0.1
"""… if less than this share of them links it."""


@dataclass(frozen=True)
class Mentions:
    """The mentions in each page, in order, without names that are common words.

    ``said`` counts the pages that say a name, linked or not, ``linked`` those that link it.
    """

    by_page: Mapping[str, Sequence[Mention]]
    said: Mapping[str, int]
    linked: Mapping[str, int]

    def keyphraseness(self, mention: Mention) -> float:
        """Return the chance that a page that says a name links it (Mihalcea and Csomai 2007)."""
        name = mention.name
        return (self.linked[name] + 0.5) / (self.said[name] + 1)


def mentions_of_pages(pages: Sequence[LinkedPage]) -> Mentions:
    """Find the names of pages in the running text of all Markdown documents."""
    documents = [item for item in pages if not item.page.code and is_markdown(item.page.path)]
    texts = {item.page.path: fold_in_place(running_text(item.page)) for item in documents}
    company, names = Company(texts.values()), read_names(pages)
    found = {
        item.page.path: list(find_mentions(texts[item.page.path], item.page, names, company))
        for item in documents
    }
    linked, said = _counts(pages, found)
    sizes = Counter(item.page.source.name for item in pages)
    kept = {
        path: [
            mention for mention in mentions
            if not _is_common(mention, said, linked, sizes[path.partition("/")[0]])
        ]
        for path, mentions in found.items()
    }  # fmt: skip
    return Mentions(kept, said, linked)


def _counts(
    pages: Sequence[LinkedPage], found: Mapping[str, Sequence[Mention]]
) -> tuple[Counter[str], Counter[str]]:
    """Return how many pages link each name, and how many say it at all."""
    linked: Counter[str] = Counter()
    said: Counter[str] = Counter()
    for item in pages:
        links = {
            link_text(link)
            for link, target in zip(item.page.links, item.targets, strict=True)
            if target and target.kind == "page" and not link.embed
        }
        linked.update(links)
        said.update(links | {mention.name for mention in found.get(item.page.path, ())})
    return linked, said


def _is_common(
    mention: Mention, said: Mapping[str, int], linked: Mapping[str, int], pages: int
) -> bool:
    """Say whether a name is a word like others, in a source of so many pages."""
    often = said[mention.name]
    return often > max(_FEW, _COMMON * pages) and linked[mention.name] < _LINKED * often
