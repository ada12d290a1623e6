"""Answers that were given before, for as long as the pack is the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Value = TypeVar("Value")

MOST_ANSWERS = 512


@dataclass
class AnswerCache(Generic[Value]):
    """Keeps the ``most`` answers that were last asked for. Calls may come from several threads."""

    most: int = MOST_ANSWERS
    hits: int = 0
    misses: int = 0
    _answers: OrderedDict[Hashable, Value] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def get(self, key: Hashable, make: Callable[[], Value], keep: Callable[[Value], bool]) -> Value:
        """Return what is known under ``key``, or make it; it is remembered if ``keep`` says so."""
        with self._lock:
            if key in self._answers:
                self.hits += 1
                self._answers.move_to_end(key)
                return self._answers[key]
            self.misses += 1
        value = make()
        if keep(value):
            with self._lock:
                self._answers[key] = value
                while len(self._answers) > self.most:
                    self._answers.popitem(last=False)
        return value
