"""Attachments in a page: pictures, sound, film, PDF, or a link."""

from __future__ import annotations

import posixpath
import re
from html import escape

_IMAGES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp"})
_AUDIO = frozenset({".mp3", ".wav", ".m4a", ".ogg", ".3gp", ".flac", ".opus"})
_VIDEO = frozenset({".mp4", ".webm", ".ogv", ".mov", ".mkv"})
_SIZE = re.compile(r"(\d{1,5})(?:x(\d{1,5}))?")


def media_html(path: str, url: str, size: str, alt: str) -> str:
    """Return the element for an embedded file.

    Args:
        size: ``300`` or ``300x200`` in pixels; anything else is no size.
        alt: text for those who cannot see it; a bare size is none.
    """
    suffix = posixpath.splitext(path)[1].lower()
    name = posixpath.basename(path)
    match = _SIZE.fullmatch(size.strip())
    dimensions = ""
    if match:
        dimensions = f' width="{match[1]}"' + (f' height="{match[2]}"' if match[2] else "")
    text = name if _SIZE.fullmatch(alt.strip() or "0") else alt
    if suffix in _IMAGES:
        return f'<img src="{url}" alt="{escape(text)}" loading="lazy"{dimensions}>'
    if suffix in _AUDIO:
        return f'<audio src="{url}" controls preload="none" aria-label="{escape(name)}"></audio>'
    if suffix in _VIDEO:
        label = f' aria-label="{escape(name)}"'
        return f'<video src="{url}" controls preload="none"{label}{dimensions}></video>'
    link = f'<a class="lore-file" href="{url}">{escape(name)}</a>'
    if suffix == ".pdf":
        # A browser that shows no PDF shows the link.
        return (
            f'<object class="lore-pdf" type="application/pdf" data="{url}" '
            f'aria-label="{escape(name)}"{dimensions}>{link}</object>'
        )
    return link
