"""The sections of a page, told apart by digests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def section_digests(
    body: str, body_line: int, headings: Sequence[tuple[str, int]]
) -> dict[str, str]:
    """Return a digest of the text from each heading to the next, by anchor; '' is the page's top.

    Args:
        body_line: the body's first line in the file.
        headings: anchors and lines in the file, in order.
    """
    lines = body.split("\n")
    starts = [("", body_line), *headings]
    ends = [line for _, line in headings] + [body_line + len(lines)]
    return {
        anchor: hashlib.sha256(
            "\n".join(lines[start - body_line : end - body_line]).encode("utf-8", "replace")
        ).hexdigest()
        for (anchor, start), end in zip(starts, ends, strict=True)
    }
