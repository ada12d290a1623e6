"""The end of a server: soon, whatever its threads are doing."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

GRACE_SECONDS = 1.0
"""How long calls that run may go on once the end was asked for."""

_log = logging.getLogger("lorepack.server.shutdown")
SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    if hasattr(signal, name)
)


def on_signals(stop: Callable[[], None], instance: Path | None) -> None:
    """Call ``stop`` when a signal asks for the end, and see to it that the end comes."""

    def told(number: int, frame: object) -> None:
        end_soon(signal.Signals(number).name, instance)
        stop()

    for number in SIGNALS:
        signal.signal(number, told)


def end_soon(reason: str, instance: Path | None) -> None:
    """End the process after `GRACE_SECONDS`, if it has not ended by itself.

    A thread that loads a model or runs a query cannot be stopped, and Python would wait for it.
    """
    _log.info("stopping", extra={"reason": reason})
    timer = threading.Timer(GRACE_SECONDS, _end, (instance,))
    timer.daemon = True
    timer.start()


def end_now() -> NoReturn:
    """End the process, which has done its work, though a model may still be loading.

    Python would stop that thread in the middle of native code, which aborts.
    """
    logging.shutdown()
    os._exit(0)


def _end(instance: Path | None) -> None:
    if instance is not None:
        instance.unlink(missing_ok=True)
    end_now()
