"""Concepts that occur together in many pages while no page joins them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

from ahocorasick_rs import AhoCorasick

from lorepack.text.tokenize import fold
from lorepack_builder.link.outgoing import outgoing
from lorepack_builder.maintenance.mentions import Mentions
from lorepack_builder.maintenance.model import ConceptGroup, Passage
from lorepack_builder.model import Chunk, LinkedPage

MIN_PAGES = 3
"""Pages that hold two concepts in one passage each, at least."""
_SURE = 10.83
"""The log-likelihood ratio above which chance is less likely than 1 in 1,000 (χ², one degree)."""
_IN_CHUNK = 25
"""Concepts of a chunk that are paired: the rarest, as a list of links holds all pairs."""
_IN_GROUP = 5
_GROUPS = 200
_PASSAGES = 6

Place = tuple[str, int]
"""A page's path and the number of its chunk."""


@dataclass(frozen=True)
class _Occurrences:
    """Where each concept occurs: chunks, and how many of those there are in all."""

    chunks: Mapping[str, frozenset[Place]]
    total: int

    def together(self, concepts: Sequence[str]) -> frozenset[Place]:
        first, *others = (self.chunks[concept] for concept in concepts)
        return first.intersection(*others)

    def lift(self, concepts: Sequence[str]) -> float:
        """Return how much oftener concepts share a chunk than if each stood where it liked."""
        chance = float(self.total)
        for concept in concepts:
            chance *= len(self.chunks[concept]) / self.total
        return len(self.together(concepts)) / chance if chance else 0.0


def find_concepts(
    pages: Sequence[LinkedPage], chunks: Sequence[Sequence[Chunk]], mentions: Mentions
) -> list[ConceptGroup]:
    """Return pairs and groups of pages' names, those that least are chance first.

    A name occurs where it is mentioned or linked. Two are joined if one's page links to the other's
    or a title holds both; then nothing is missing.
    """
    occurrences = _occurrences(pages, chunks, mentions)
    titles = {item.page.path: item.page.title for item in pages}
    joined = _Joined(pages, titles)
    scores: dict[tuple[str, str], float] = {}
    for (one, other), both in _pairs(occurrences).items():
        if both < MIN_PAGES or joined(one, other):
            continue
        together = occurrences.together((one, other))
        if len({path for path, _ in together}) < MIN_PAGES:
            continue
        score = _likelihood(
            len(together), len(occurrences.chunks[one]), len(occurrences.chunks[other]),
            occurrences.total,
        )  # fmt: skip
        if score > _SURE:
            scores[one, other] = score
    groups = _grow(scores, occurrences)
    texts = {item.page.path: own for item, own in zip(pages, chunks, strict=True)}
    return [_group(targets, scores, occurrences, titles, texts) for targets in groups]


def _occurrences(
    pages: Sequence[LinkedPage], chunks: Sequence[Sequence[Chunk]], mentions: Mentions
) -> _Occurrences:
    found: defaultdict[str, set[Place]] = defaultdict(set)
    for item, own in zip(pages, chunks, strict=True):
        page = item.page
        for line, target in _places(item, mentions):
            for number, chunk in enumerate(own):
                if chunk.first_line <= line <= chunk.last_line:
                    found[target].add((page.path, number))
    total = sum(map(len, chunks))
    return _Occurrences({target: frozenset(places) for target, places in found.items()}, total)


def _places(item: LinkedPage, mentions: Mentions) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page on which another page is named, with that page."""
    page = item.page
    line, counted = page.body_line, 0
    for mention in mentions.by_page.get(page.path, ()):
        line += page.body.count("\n", counted, mention.start)
        counted = mention.start
        yield line, mention.target
    for link, target in zip(page.links, item.targets, strict=True):
        if target and target.kind == "page" and target.path != page.path and not link.embed:
            yield link.line, target.path


def _pairs(occurrences: _Occurrences) -> Counter[tuple[str, str]]:
    """Return in how many chunks two concepts stand together."""
    inside: defaultdict[Place, list[str]] = defaultdict(list)
    for concept, places in occurrences.chunks.items():
        for place in places:
            inside[place].append(concept)
    found: Counter[tuple[str, str]] = Counter()
    for concepts in inside.values():
        rarest = sorted(concepts, key=lambda c: (len(occurrences.chunks[c]), c))[:_IN_CHUNK]
        found.update(combinations(sorted(rarest), 2))
    return found


class _Joined:
    """Knows which concepts a page joins already."""

    def __init__(self, pages: Sequence[LinkedPage], titles: Mapping[str, str]) -> None:
        self._links = {item.page.path: set(outgoing(item)) for item in pages}
        self._titles = {path: fold(title).strip() for path, title in titles.items()}
        self._together = _named_together(self._titles.values())

    def __call__(self, one: str, other: str) -> bool:
        if other in self._links[one] or one in self._links[other]:
            return True
        first, second = self._titles[one], self._titles[other]
        return first in second or second in first or frozenset((first, second)) in self._together


def _named_together(titles: Collection[str]) -> set[frozenset[str]]:
    """Return the pairs of titles that stand in one title, found by one automaton."""
    names = sorted({title for title in titles if title})
    automaton = AhoCorasick(names)
    found: set[frozenset[str]] = set()
    for title in names:
        matches = automaton.find_matches_as_indexes(title, overlapping=True)
        inside = {names[number] for number, *_ in matches}
        found.update(frozenset(pair) for pair in combinations(sorted(inside), 2))
    return found


def _likelihood(both: int, one: int, other: int, total: int) -> float:
    """Return the log-likelihood ratio G² of a two by two table (Dunning 1993); 0 below chance."""
    if both * total <= one * other:
        return 0.0
    cells = (
        (both, one * other),
        (one - both, one * (total - other)),
        (other - both, (total - one) * other),
        (total - one - other + both, (total - one) * (total - other)),
    )
    return 2 * sum(seen * log(seen * total / chance) for seen, chance in cells if seen > 0)


def _grow(
    scores: Mapping[tuple[str, str], float], occurrences: _Occurrences
) -> list[tuple[str, ...]]:
    """Return groups, each pair in the first that takes it: a group grows while its members are
    found together in enough pages.
    """
    partners: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in scores:
        partners[one].add(other)
        partners[other].add(one)
    taken: set[tuple[str, str]] = set()
    groups: list[tuple[str, ...]] = []
    for pair in sorted(scores, key=lambda pair: (-scores[pair], pair)):
        if pair in taken or len(groups) == _GROUPS:
            continue
        group = list(pair)
        while len(group) < _IN_GROUP:
            candidates = set.intersection(*(partners[member] for member in group))
            rated = [(-_pages_with([*group, c], occurrences), c) for c in sorted(candidates)]
            if not rated or -min(rated)[0] < MIN_PAGES:
                break
            group.append(min(rated)[1])
        taken.update(combinations(sorted(group), 2))
        groups.append(tuple(group))
    return groups


def _pages_with(concepts: Sequence[str], occurrences: _Occurrences) -> int:
    return len({path for path, _ in occurrences.together(concepts)})


def _group(
    targets: Sequence[str], scores: Mapping[tuple[str, str], float], occurrences: _Occurrences,
    titles: Mapping[str, str], chunks: Mapping[str, Sequence[Chunk]],
) -> ConceptGroup:  # fmt: skip
    together = sorted(occurrences.together(targets))
    first: dict[str, int] = {}
    for path, number in together:
        first.setdefault(path, number)
    lift = occurrences.lift(targets)
    names = [titles[target] for target in targets]
    shown = ", ".join(f"“{name}”" for name in names)
    message = (
        f"{shown}: together in {len(first)} pages, {_shown(lift)} times as often as by chance; "
        "no page joins them"
    )
    pairs = combinations(sorted(targets), 2)
    return ConceptGroup(
        names, targets, len(first), round(lift, 2), round(max(scores[p] for p in pairs), 2),
        message, [_passage(chunks[path][n], path, n) for path, n in first.items()][:_PASSAGES],
    )  # fmt: skip


def _passage(chunk: Chunk, path: str, number: int) -> Passage:
    return Passage(path, number, chunk.anchor, chunk.first_line, chunk.text)


def _shown(lift: float) -> str:
    return f"{lift:.1f}" if lift < 100 else "more than 100"
