"""The glossary: what the diagrams of all pages name, and where."""

from __future__ import annotations

from collections import defaultdict

from lorepack_builder.model import Diagram
from lorepack_builder.render.generated.page import generated_page
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.urls import relative_url

GLOSSARY_URL = "glossary/"
_SHOWN = 20
_MAX_NAMES = 2000


def glossary_page(given: SiteInput) -> SitePage:
    """Return the page of all diagram nodes by name, with the pages and what they lead to."""
    places: defaultdict[str, dict[str, str]] = defaultdict(dict)
    leads: defaultdict[str, dict[str, None]] = defaultdict(dict)
    names: dict[str, str] = {}
    for linked in given.pages:
        for diagram in linked.page.diagrams:
            labels = dict(diagram.nodes)
            for label in labels.values():
                names.setdefault(label.casefold(), label)
                places[label.casefold()][linked.page.path] = linked.page.title
            for src, dst in _arrows(diagram, labels):
                leads[src.casefold()][dst] = None
    rows = [
        {
            "name": names[key],
            "leads": list(leads[key])[:_SHOWN],
            "pages": [
                {"title": title, "url": relative_url(given.urls[path], GLOSSARY_URL)}
                for path, title in list(places[key].items())[:_SHOWN]
            ],
        }
        for key in sorted(names)[:_MAX_NAMES]
    ]
    context = {"rows": rows, "more": len(names) - len(rows)}
    return generated_page(
        GLOSSARY_URL, "Glossary", "glossary.html.j2", context, in_nav=bool(rows),
        description=f"{len(names)} names in diagrams",
    )  # fmt: skip


def _arrows(diagram: Diagram, labels: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (labels[edge.src], labels[edge.dst])
        for edge in diagram.edges
        if edge.src in labels and edge.dst in labels
    ]
