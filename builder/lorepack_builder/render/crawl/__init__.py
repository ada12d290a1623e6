"""Files for agents, crawlers and feed readers."""

from __future__ import annotations

from lorepack.pack.site import NOWHERE
from lorepack_builder.render.crawl.atom import atom_feed
from lorepack_builder.render.crawl.llms import llms_files
from lorepack_builder.render.crawl.markdown import markdown_files
from lorepack_builder.render.crawl.sitemap import robots_txt, sitemaps
from lorepack_builder.render.model import SiteInput, SitePage


def crawl_files(given: SiteInput, pages: list[SitePage]) -> dict[str, bytes]:
    """Return the files by their path in the site.

    Args:
        pages: all pages of the site, generated ones too.
    """
    address = given.address or NOWHERE
    return {
        **markdown_files(given),
        **llms_files(given),
        **sitemaps(given, pages, address),
        "robots.txt": robots_txt(address),
        "atom.xml": atom_feed(given, address),
    }
