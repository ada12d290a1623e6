"""The errors that a user of Lorepack sees."""

from __future__ import annotations


class LorepackError(Exception):
    """What went wrong, in one sentence, and how to mend it.

    The command line prints it without a traceback and exits with code 2.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message}: {remedy}" if remedy else message)
        self.message = message
        self.remedy = remedy


class PackDamagedError(LorepackError):
    """A pack cannot be read: it is no pack, of a newer format, or not what was written."""
