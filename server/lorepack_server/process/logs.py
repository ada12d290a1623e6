"""Logs: JSON lines on stderr, and in a file that rotates."""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

FILE_BYTES, FILES = 10 << 20, 3
_KNOWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """One JSON object a record: time (UTC), level, logger, message, and whatever came as extra."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in _KNOWN}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = record.stack_info
        return json.dumps(line, ensure_ascii=False, default=str)


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """A client that leaves in the middle of its request is no error of ours."""
    return not (record.exc_info and type(record.exc_info[1]).__name__ == "ClientDisconnect")


def state_folder() -> Path:
    """Return where a server keeps its log and its instance file: the user's state folder (XDG)."""
    return user_state_path("lorepack")


def start_logs(level: str) -> None:
    """Send all logs of at least ``level`` to stderr and to a file of 10 MiB, two older ones kept.

    Where no file can be written, stderr has to do.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    path = state_folder() / "lorepack.log"
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(
            RotatingFileHandler(path, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8")
        )
    for handler in handlers:
        handler.setFormatter(JsonLines())
        handler.addFilter(_is_worth_a_line)
    root = logging.getLogger()
    root.handlers[:] = handlers
    root.setLevel(logging.WARNING)
    logging.getLogger("lorepack").setLevel(level.upper())
    logging.captureWarnings(True)
