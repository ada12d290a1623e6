"""The names of all pages, found in all texts by one automaton."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ahocorasick_rs import AhoCorasick

from lorepack_builder.acquire.documents import is_markdown
from lorepack_builder.maintenance.boundaries import Company, is_word, word_end, word_start
from lorepack_builder.maintenance.inflect import is_form, root
from lorepack_builder.maintenance.model import Mention
from lorepack_builder.maintenance.normalize import fold_in_place
from lorepack_builder.model import Link, LinkedPage, Page

_SHORTEST = 3
"""Characters of a name in ASCII; two of other scripts tell as much."""
_LABELS = 2
"""Pages that call another by a name that is not its own, for it to count as one."""
_AGREED = 0.8
"""The share of links with a label that must lead to one page, for the label to be its name."""


@dataclass(frozen=True)
class Name:
    """A name, folded, with its last word and its language, and the page it means in each source."""

    name: str
    last: str
    lang: str
    targets: Mapping[str, str]


@dataclass(frozen=True)
class Names:
    """An automaton of names, and of what their forms begin with.

    ``meanings`` are what each of its patterns may stand for.
    """

    automaton: AhoCorasick
    meanings: Sequence[Sequence[Name]]


def read_names(pages: Sequence[LinkedPage]) -> Names:
    """Return the names of all documents: titles, aliases, in vaults what files are called, and
    words by which several pages link to one. What could be two pages is no name.
    """
    owners: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    langs: dict[str, str] = {}
    for item in pages:
        if not item.page.code:
            for name in page_names(item.page):
                owners[name][item.page.source.name].add(item.page.path)
                langs.setdefault(name, item.page.lang)
    own = set(owners)
    for (source, name), (path, lang) in _labels(pages).items():
        if name not in own:
            owners[name][source].add(path)
            langs.setdefault(name, lang)
    patterns: defaultdict[str, list[Name]] = defaultdict(list)
    for name, of_source in sorted(owners.items()):
        targets = {source: min(p) for source, p in of_source.items() if len(p) == 1}
        if _tells(name) and targets:
            last = name[word_start(name, len(name)) :]
            meaning = Name(name, last, langs[name], targets)
            for pattern in {name, name.removesuffix(last) + root(last, langs[name])}:
                patterns[pattern].append(meaning)
    return Names(AhoCorasick(list(patterns)), list(patterns.values()))


def page_names(page: Page) -> list[str]:
    """Return what a page is called, folded."""
    written = [page.title, *page.aliases]
    if page.source.layout == "vault" and is_markdown(page.path):
        written.append(posixpath.splitext(posixpath.basename(page.path))[0])
    return list(dict.fromkeys(fold_in_place(name).strip() for name in written))


def link_text(link: Link) -> str:
    """Return the words of a link, folded: its label, or the name of its target."""
    return fold_in_place(link.label or posixpath.basename(link.target)).strip()


def _labels(pages: Sequence[LinkedPage]) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the page, and its language, that links of a source with the same words lead to."""
    found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    langs = {item.page.path: item.page.lang for item in pages}
    for item in pages:
        links = {
            (link_text(link), target.path)
            for link, target in zip(item.page.links, item.targets, strict=True)
            if target and target.kind == "page" and not link.embed
        }
        for text, path in links:
            found[item.page.source.name, text][path] += 1
    agreed = {}
    for key, paths in found.items():
        path, count = paths.most_common(1)[0]
        if count >= _LABELS and count >= _AGREED * paths.total():
            agreed[key] = path, langs[path]
    return agreed


def _tells(name: str) -> bool:
    """Say whether a name is more than a sign, a number or a date."""
    letters = sum(char.isalpha() for char in name)
    return letters >= 2 and "\n" not in name and (len(name) >= _SHORTEST or not name.isascii())


def find_mentions(folded: str, page: Page, names: Names, company: Company) -> Iterator[Mention]:
    """Yield all mentions of other pages in a page's folded running text; longer names first.

    Of names that overlap, the one that begins first counts, and of these the longest.
    """
    end_of_last = 0
    found = names.automaton.find_matches_as_indexes(folded, overlapping=True)
    for pattern, start, end in sorted(found, key=lambda match: (match[1], -match[2])):
        if start < end_of_last:
            continue
        whole = word_end(folded, end)
        if not is_word(folded, start, whole, company):
            continue
        name = _meant(page, folded[start:whole], names.meanings[pattern])
        if name is None:
            continue
        end_of_last = whole
        target = name.targets[page.source.name]
        if target != page.path:
            yield Mention(target, start, whole, name.name)


def _meant(page: Page, said: str, meanings: Sequence[Name]) -> Name | None:
    """Return the name that is said, word for word or with its last word in another form."""
    here = [name for name in meanings if page.source.name in name.targets]
    for name in here:
        if said == name.name:
            return name
    last = said[word_start(said, len(said)) :]
    same = (name for name in here if name.lang == page.lang and is_form(last, name.last, name.lang))
    return next(same, None)
