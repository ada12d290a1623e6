"""The wire of a stdio server: what a client asks first is answered before the rest is loaded.

Clients ask ``initialize`` and ``tools/list`` while they start, and some do not wait: what is not
there in time is not offered to their model. Neither answer needs the SDK, numpy or a model.
"""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from lorepack_server.mcp.offer import Offer

PROTOCOLS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions of the protocol that begin with ``initialize``; one that is not known gets the last."""

_FIRST_SECONDS, _IDLE_SECONDS = 0.5, 0.25
"""How long the rest waits for a first question, and, after that, for the next one."""
_CHUNK = 1 << 16


class Wire:
    """Standard input and output, taken away from everything else in the process.

    Descriptor 0 reads nothing any more, and 1 writes to stderr, so that only JSON-RPC goes out.
    """

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._input, self._output = os.dup(0), os.dup(1)
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._handed_over = False
        self._handshake: list[str] = []
        self._initialize_id: Any = None
        self._answered_twice = False
        threading.Thread(target=self._read, daemon=True).start()

    def wait(self) -> None:
        """Return when more is asked than is answered here, or nothing for a while."""
        self._wanted.wait(_FIRST_SECONDS)
        if self._handshake:
            self._wanted.wait(_IDLE_SECONDS)

    def hand_over(self) -> Iterator[str | None]:
        """Yield what the rest of the server has to read from now on; None at the end.

        The handshake comes first, so that it knows its client; `write` drops its answer.
        """
        with self._lock:
            self._handed_over = True
            self._answered_twice = bool(self._handshake)
        yield from self._handshake
        while True:
            yield self._lines.get()

    def write(self, line: str) -> None:
        """Send one line, unless it answers the handshake again."""
        if self._answered_twice:
            message = json.loads(line)
            if message.get("id") == self._initialize_id and "method" not in message:
                self._answered_twice = False
                return
        self._send(line)

    def _send(self, line: str) -> None:
        data = line.rstrip("\n").encode("utf-8", "replace") + b"\n"
        with self._lock:
            while data:
                data = data[os.write(self._output, data) :]

    def _read(self) -> None:
        rest = b""
        # A client that is gone, or a descriptor that is closed, is the end of input.
        with suppress(OSError):
            while chunk := os.read(self._input, _CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._take(line.decode("utf-8", "replace"))
        if rest.strip():
            self._take(rest.decode("utf-8", "replace"))
        self._lines.put(None)
        self._wanted.set()

    def _take(self, line: str) -> None:
        if not line.strip():
            return
        answer = None if self._handed_over else self._early(line)
        if answer is None:
            self._lines.put(line)
            self._wanted.set()
        elif answer:
            self._send(json.dumps(answer))

    def _early(self, line: str) -> dict[str, Any] | None:
        """Return the answer to ``line``, {} where it wants none, None where it is not for here."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return None
        method, number = message.get("method"), message.get("id")
        if not self._handshake:
            return self._initialized(line, message) if method == "initialize" else None
        if method == "notifications/initialized":
            self._handshake.append(line)
            return {}
        if isinstance(number, bool) or not isinstance(number, int | str):
            return None
        if method == "ping":
            return {"jsonrpc": "2.0", "id": number, "result": {}}
        if method == "tools/list":
            # The rest is loaded as soon as this is sent.
            threading.Timer(0.01, self._wanted.set).start()
            return {"jsonrpc": "2.0", "id": number, "result": {"tools": self._offer.listed}}
        return None

    def _initialized(self, line: str, message: Mapping[str, Any]) -> dict[str, Any] | None:
        sent, number = message.get("params"), message.get("id")
        client = sent.get("clientInfo") if isinstance(sent, dict) else None
        if not isinstance(sent, dict) or not isinstance(number, int | str):
            return None
        asked, capabilities = sent.get("protocolVersion"), sent.get("capabilities")
        if not isinstance(asked, str) or not isinstance(capabilities, dict):
            return None
        if not isinstance(client, dict) or not isinstance(client.get("name"), str):
            return None
        self._handshake.append(line)
        self._initialize_id = number
        protocol = asked if asked in PROTOCOLS else PROTOCOLS[-1]
        result = self._offer.initialize(protocol, list_changed=False)
        return {"jsonrpc": "2.0", "id": number, "result": result}
