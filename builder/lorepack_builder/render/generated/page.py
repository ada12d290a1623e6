"""Make a page of the site from a template and what it shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from lorepack_builder.model import Heading
from lorepack_builder.render.model import SiteMap, SitePage
from lorepack_builder.render.urls import relative_url

_PLAIN: Mapping[str, Any] = {"kind": "generated", "source": "", "has_title": False, "lists": []}


def generated_page(
    url: str,
    title: str,
    template: str,
    context: Mapping[str, Any],
    *,
    description: str = "",
    in_nav: bool = False,
    headings: Sequence[Heading] = (),
    **lore: Any,
) -> SitePage:
    """Return the page that ``template`` makes of ``context``, which is plain data."""
    shown = json.dumps([template, context], sort_keys=True, ensure_ascii=False)
    return SitePage(
        url=url,
        title=title,
        body=partial(_render, template, context),
        inputs=hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest(),
        headings=tuple(headings),
        description=description,
        in_nav=in_nav,
        lore={**_PLAIN, **lore},
    )


def page_link(path: str, site: SiteMap, base: str) -> dict[str, str]:
    """Return title, summary and address of a document, as seen from the page at ``base``."""
    page = site.pages[path].page
    url = relative_url(site.urls[path], base)
    return {"title": page.title, "summary": page.summary, "url": url, "lang": page.lang}


def _render(template: str, context: Mapping[str, Any]) -> str:
    return _templates().get_template(template).render(context)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("lorepack_templates", ""), autoescape=True, undefined=StrictUndefined
    )
