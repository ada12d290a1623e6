"""The options of all commands that run until they are told to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from lorepack_server.limits import HEARTBEAT_SECONDS, MAX_CALLS, TIMEOUT_SECONDS

_LEVELS = ("debug", "info", "warning", "error")
REQUIRE_SIGNATURE = click.option(
    "--require-signature",
    metavar="KEY",
    help="Mount only packs signed by this minisign public key, its file or its text.",
)


def process_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--timeout``, ``--max-calls``, ``--log-level`` and ``--heartbeat``."""
    timeout = click.option(
        "--timeout",
        default=TIMEOUT_SECONDS,
        show_default=True,
        type=click.FloatRange(min=0.01),
        metavar="SECONDS",
        help="How long a call may take.",
    )
    most = click.option(
        "--max-calls",
        default=MAX_CALLS,
        show_default=True,
        type=click.IntRange(1, 10_000),
        help="Calls answered or waiting at a time; one more is told to come again.",
    )
    level = click.option(
        "--log-level",
        default="info",
        show_default=True,
        type=click.Choice(_LEVELS),
        help="What is logged, on stderr and in the user's state folder; questions only at debug.",
    )
    heartbeat = click.option(
        "--heartbeat",
        default=HEARTBEAT_SECONDS,
        show_default=True,
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="Log memory and running calls this often; 0 is never.",
    )
    return timeout(most(level(heartbeat(command))))
