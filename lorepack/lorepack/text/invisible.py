"""Characters that a reader does not see, and a machine reads all the same.

Letters of the tag block and runs of variation selectors spell whole sentences invisibly;
bidirectional controls show text in another order than it has (https://trojansource.codes).
"""

from __future__ import annotations

import re

_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_BIDI = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff"
    r"\uffa0\ufff0-\ufffb"
)
_TAGS = r"\U000e0000-\U000e0fff"
_SUSPECT = re.compile(rf"[{_CONTROL}{_BIDI}{_INVISIBLE}{_TAGS}\u200c\u200d\ufe00-\ufe0f]")
"""Whether there is anything to look at; a class of characters alone is fast."""
_HIDDEN = re.compile(
    rf"[{_CONTROL}{_BIDI}{_INVISIBLE}{_TAGS}]"
    # Joiners belong between letters of some scripts and inside emoji; next to ASCII they hide.
    r"|(?:(?<![^\x00-\x7f\u200c\u200d])|(?<=[\u200c\u200d]))[\u200c\u200d]"
    r"|[\u200c\u200d](?![^\x00-\x7f\u200c\u200d])"
    # One selector chooses how the character before it looks; more of them carry something else.
    r"|(?:(?<=[\ufe00-\ufe0f])|(?<![^\x00-\x1f ]))[\ufe00-\ufe0f]"
)
_TELLING = re.compile(
    # Flags of regions are tags behind a black flag; variants of Han letters have one selector.
    r"(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]|[\U000e0100-\U000e01ef]{2}"
    r"|[\u202d\u202e\u2066-\u2069]|[\u200b-\u200d\u2060-\u2064]{4}"
)
"""What nobody writes by accident, as soft hyphens and byte order marks are."""


def without_hidden(text: str) -> str:
    """Return ``text`` without characters that cannot be seen, and without controls.

    Line ends and tabs stay, joiners between letters that they join, and a selector after what it
    selects.
    """
    return _HIDDEN.sub("", text) if _SUSPECT.search(text) else text


def first_hidden(text: str) -> int | None:
    """Return where text is hidden on purpose, as it seems; None if nowhere."""
    found = _TELLING.search(text) if _SUSPECT.search(text) else None
    return found.start() if found else None
