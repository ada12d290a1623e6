"""Embeddings over HTTP, in the form of OpenAI's ``POST /embeddings``.

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` say where and as whom, as in OpenAI's own client;
``LOREPACK_OPENAI_BATCH`` how many texts go in one request (default 64).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2 as httpx
import numpy as np
import numpy.typing as npt

from lorepack.errors import LorepackError
from lorepack.models.registry import OPENAI, ModelSpec

ATTEMPTS = 5
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 30.0
_TIMEOUT_SECONDS = 60.0
_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Endpoint:
    """A model behind an address. ``key`` is sent to nobody else and never shown."""

    spec: ModelSpec
    url: str
    key: str = field(repr=False)
    batch: int
    sleep: Callable[[float], None] = time.sleep

    @classmethod
    def from_environment(cls, spec: ModelSpec) -> Endpoint:
        """Return the endpoint that the environment names. Raises `LorepackError` without one."""
        base, key = os.environ.get("OPENAI_BASE_URL", ""), os.environ.get("OPENAI_API_KEY", "")
        if not base.startswith(("http://", "https://")):
            raise LorepackError(
                f"{spec.id} has no endpoint", "set OPENAI_BASE_URL, and OPENAI_API_KEY if it asks"
            )
        batch = os.environ.get("LOREPACK_OPENAI_BATCH", "64")
        if not batch.isdigit() or not 1 <= int(batch) <= 2048:
            raise LorepackError(f"LOREPACK_OPENAI_BATCH is {batch!r}", "give 1 to 2048")
        return cls(spec, f"{base.rstrip('/')}/embeddings", key, int(batch))

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the unit vector of a question, float32 (dims,)."""
        vector: npt.NDArray[np.float32] = self._embed([self.spec.query_prefix + text])[0]
        return vector

    def encode_passages(
        self, texts: Sequence[str], on_done: Callable[[int], None] = lambda _: None
    ) -> npt.NDArray[np.float32]:
        """Return the unit vectors of passages, float32 (len(texts), dims)."""
        rows = []
        for start in range(0, len(texts), self.batch):
            batch = texts[start : start + self.batch]
            rows.append(self._embed([self.spec.passage_prefix + text for text in batch]))
            on_done(start + len(batch))
        return np.concatenate(rows) if rows else np.zeros((0, self.spec.dims), np.float32)

    def _embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        data: Any = self._post({"model": self.spec.id.removeprefix(OPENAI), "input": list(texts)})
        try:
            rows = sorted(data["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise LorepackError(
                f"{self.url} answers in another form ({error!r})", "check OPENAI_BASE_URL"
            ) from error
        wanted = (len(texts), self.spec.dims or vectors.shape[-1])
        if vectors.shape != wanted:
            raise LorepackError(
                f"{self.url} gave vectors of shape {vectors.shape}, not {wanted}",
                "check the model's name",
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: npt.NDArray[np.float32] = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
        return unit

    def _post(self, body: dict[str, object]) -> object:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        problem = ""
        for attempt in range(ATTEMPTS):
            wait = min(_FIRST_WAIT_SECONDS * 2**attempt, _LONGEST_WAIT_SECONDS)
            try:
                response = httpx.post(
                    self.url, json=body, headers=headers, timeout=_TIMEOUT_SECONDS
                )
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            else:
                if response.is_success:
                    return response.json()
                problem = f"status {response.status_code}: {response.text[:200]}"
                if response.status_code not in _AGAIN:
                    break
                asked = response.headers.get("retry-after", "")
                wait = min(float(asked), _LONGEST_WAIT_SECONDS) if asked.isdigit() else wait
            if attempt + 1 < ATTEMPTS:
                self.sleep(wait)
        raise LorepackError(f"{self.url} does not answer ({problem})", "check it, then try again")


def endpoint_model(name: str) -> ModelSpec:
    """Return the model ``openai:NAME``, its dimensions asked of the endpoint.

    Raises:
        LorepackError: no endpoint is set, or it does not answer.
    """
    blank = ModelSpec(name, 0, 0, "", "", "none", "")
    return replace(blank, dims=len(Endpoint.from_environment(blank).encode_query("dimensions")))
