"""Clients that behave badly: a few of the many that ``clients`` and ``lines`` play."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.reliability import clients, lines
from tests.reliability.mutants import base_pack

PATIENCE = 5.0
"""Seconds; how fast it really is stands in ``docs/reliability.md``."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[clients.Server]:
    running = clients.serve_small(tmp_path_factory.mktemp("clients"))
    with running:
        served = clients.Server(running.port, running.process.pid, PATIENCE)
        clients.warm(served)
        yield served


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lines.Session]:
    folder = tmp_path_factory.mktemp("lines")
    with lines.session(base_pack(folder), folder / "log") as served:
        yield served
    assert "traceback" not in (folder / "log").read_text()


@pytest.mark.parametrize("kind", clients.KINDS, ids=lambda kind: kind.__name__)
def test_a_good_client_is_served_after(server: clients.Server, kind: clients.Kind) -> None:
    clients.play(server, kind, max(20, clients.KINDS[kind] // 20))


def test_those_who_hold_a_server_up_make_room(server: clients.Server) -> None:
    """More than are served at all: without making room, no good client would be."""
    clients.play(server, clients.slow_bodies, 400)


@pytest.mark.parametrize("kind", lines.KINDS, ids=lambda kind: kind.__name__)
def test_a_good_line_is_answered_after(session: lines.Session, kind: lines.Kind) -> None:
    lines.play(session, kind, max(50, lines.KINDS[kind] // 20), PATIENCE)
