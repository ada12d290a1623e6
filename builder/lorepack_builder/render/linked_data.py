"""What a page is, for search engines: JSON-LD in the words of schema.org."""

from __future__ import annotations

import json
from typing import Any

from lorepack_builder.render.model import SitePage

_TYPES = {"home": "WebSite", "document": "TechArticle"}
_UNSAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}
"""Signs that could end the element that holds the data."""


def linked_data(page: SitePage, site_title: str) -> str:
    """Return the JSON that stands in a page's head."""
    lore = page.lore
    crumbs = [*(folder["title"] for folder in lore.get("parents", ())), page.title]
    dates = [date[:10] for _, date in lore.get("dates", ())]
    data: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": _TYPES.get(lore["kind"], "CollectionPage"),
        "name": page.title,
        "description": page.description,
        "inLanguage": page.lang,
        "keywords": [tag["name"] for tag in lore.get("tags", ())],
        "dateModified": max(dates, default=""),
        "isPartOf": {"@type": "WebSite", "name": site_title},
        "breadcrumb": {
            "@type": "BreadcrumbList",
            "itemListElement": [
                {"@type": "ListItem", "position": number, "name": name}
                for number, name in enumerate(crumbs, 1)
            ],
        },
    }
    known = {key: value for key, value in data.items() if value}
    return json.dumps(known, ensure_ascii=False).translate(_UNSAFE)
