"""The tags of a wiki: how often each is used, which mean the same, which break the taxonomy."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rapidfuzz import fuzz, process

from lorepack.pack.taxonomy import TaxonomyTag
from lorepack.text.tokenize import fold
from lorepack_builder.lint.report import finding
from lorepack_builder.maintenance.inflect import singulars
from lorepack_builder.maintenance.model import Tag, Twin, Why
from lorepack_builder.model import Finding, LinkedPage

_SEPARATORS = re.compile(r"[-_]+")
_ALIKE = 60
"""How much alike (of 100) an allowed tag must be to be proposed for another."""
_WHY: Mapping[str, str] = {
    "case": "only in case", "hyphen": "only in hyphens", "plural": "only in number",
    "translation": "in language, not in meaning",
}  # fmt: skip


def review_tags(
    pages: Sequence[LinkedPage],
    translations: Mapping[str, Sequence[str]],
    taxonomy: Sequence[TaxonomyTag] | None,
) -> list[Tag]:
    """Return all tags, the most used first.

    Args:
        translations: tags that mean the same in another language.
        taxonomy: the tags that are allowed; None if all are.
    """
    counts = count_tags(pages)
    twins = _twins(counts, translations)
    law = {tag.tag: tag for tag in taxonomy or ()}
    meant = {fold(word): tag.tag for tag in law.values() for word in (tag.tag, *tag.also)}
    found = []
    for tag in sorted({*counts, *law}, key=lambda tag: (-counts[tag], tag)):
        own = twins.get(tag, [])
        use = "" if tag in law else _better(tag, own, counts, law)
        message = f"#{tag} differs from #{use} {_why(own, use)}" if use else ""
        allowed = tag in law if taxonomy is not None else None
        if allowed is False:
            use = meant.get(fold(tag)) or (use if use in law else _nearest(tag, law))
            message = f"#{tag} is not in the taxonomy" + (f"; #{use} is" if use else "")
        about = law[tag].about if tag in law else ""
        found.append(Tag(tag, counts[tag], own, use, allowed, about, message))
    return found


def tag_findings(pages: Sequence[LinkedPage], tags: Sequence[Tag]) -> Iterator[Finding]:
    """Yield each page's tags that should be others, on their lines."""
    wrong = {tag.tag: tag for tag in tags if tag.message}
    for item in pages:
        page, lines = item.page, dict(reversed(item.page.tag_lines))
        for tag in (wrong[name] for name in page.tags if name in wrong):
            rule = "tag-unlisted" if tag.allowed is False else "tag-variant"
            fix = f"write #{tag.use}" if tag.use else "add it to the taxonomy, or take it out"
            yield finding(rule, page.path, lines.get(tag.tag, 1), tag.message, fix)


def count_tags(pages: Sequence[LinkedPage]) -> Counter[str]:
    """Return how many pages have each tag, as it is written."""
    return Counter(tag for item in pages for tag in item.page.tags)


def _twins(
    counts: Mapping[str, int], translations: Mapping[str, Sequence[str]]
) -> dict[str, list[Twin]]:
    """Return the tags that mean the same as each, the most used first."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    keys = {tag: _key(tag) for tag in counts}
    known = set(keys.values())
    for tag, key in keys.items():
        groups[next((one for one in _singular_keys(key) if one in known), key)].append(tag)
    found: defaultdict[str, list[Twin]] = defaultdict(list)
    for group in groups.values():
        for tag in group:
            found[tag] += [Twin(o, _difference(tag, o)) for o in group if o != tag]
    for tag, others in translations.items():
        found[tag] += [Twin(other, "translation") for other in others]
    return {
        tag: sorted(twins, key=lambda twin: (-counts[twin.tag], twin.tag))
        for tag, twins in found.items()
        if twins
    }


def _key(tag: str) -> str:
    return "/".join(_SEPARATORS.sub("", fold(part)) for part in tag.split("/"))


def _singular_keys(key: str) -> list[str]:
    above, _, last = key.rpartition("/")
    return ["/".join(filter(None, (above, one))) for one in singulars(last)]


def _difference(tag: str, other: str) -> Why:
    if fold(tag) == fold(other):
        return "case"
    if _SEPARATORS.sub("", fold(tag)) == _SEPARATORS.sub("", fold(other)):
        return "hyphen"
    return "plural"


def _better(
    tag: str, twins: Sequence[Twin], counts: Mapping[str, int], law: Mapping[str, TaxonomyTag]
) -> str:
    """Return the twin to write instead: one of the taxonomy, or the one that is used most."""
    written = [twin.tag for twin in twins if twin.why != "translation"]
    if not written:
        return ""
    best = min([tag, *written], key=lambda t: (t not in law, -counts[t], len(t), t != t.lower(), t))
    return "" if best == tag else best


def _why(twins: Sequence[Twin], use: str) -> str:
    return _WHY[next(twin.why for twin in twins if twin.tag == use)]


def _nearest(tag: str, law: Mapping[str, TaxonomyTag]) -> str:
    found = process.extractOne(tag, list(law), scorer=fuzz.ratio, score_cutoff=_ALIKE)
    return str(found[0]) if found else ""
