"""Text for XML 1.0."""

from __future__ import annotations

import re

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Return ``text`` with a sign in place of each character that XML 1.0 cannot hold."""
    return _UNWRITABLE.sub("�", text)
