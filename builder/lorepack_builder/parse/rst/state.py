"""What is known while a document is converted."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from lorepack_builder.parse.rst.inline import Names

ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*")


@dataclass
class State:
    """Names of the document, and the styles of its headings in the order of their levels."""

    names: Names
    styles: list[str] = field(default_factory=list)
    level: int = 0
    """That of the heading above."""

    def heading_level(self, style: str) -> int:
        """Return the level, from 1, of a heading with this sign (twice, if it has an overline)."""
        if style not in self.styles:
            self.styles.append(style)
        self.level = min(6, self.styles.index(style) + 1)
        return self.level


def is_underline(line: str, title: str) -> bool:
    """Say whether ``line`` underlines ``title``."""
    return (
        bool(title.strip())
        and title[0] not in " \t"
        and ADORNMENT.fullmatch(line) is not None
        and len(line.rstrip()) >= min(4, _width(title.rstrip()))
        and len(line.rstrip()) >= _width(title.rstrip()) - 2
        and ADORNMENT.fullmatch(title) is None
    )


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)
