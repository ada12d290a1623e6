"""What a server counts, as Prometheus text."""

from __future__ import annotations

from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from lorepack_server.retrieve.search import answers

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass
class Metrics:
    """Counters of one server."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    def __post_init__(self) -> None:
        """Register every metric."""
        self.requests = Counter(
            "lorepack_http_requests", "HTTP requests", ("area", "status"), registry=self.registry
        )
        self.calls = Histogram(
            "lorepack_tool_seconds", "Tool calls", ("tool", "outcome"), buckets=_SECONDS,
            registry=self.registry,
        )  # fmt: skip
        self.in_flight = Gauge("lorepack_in_flight", "Calls being answered", registry=self.registry)
        self.packs = Gauge("lorepack_packs", "Packs mounted", registry=self.registry)
        hits = Gauge("lorepack_answers_remembered", "Answers given from memory",
                     registry=self.registry)  # fmt: skip
        hits.set_function(lambda: answers.hits)
        misses = Gauge("lorepack_answers_made", "Answers made", registry=self.registry)
        misses.set_function(lambda: answers.misses)
        rss = Gauge("lorepack_rss_bytes", "Resident memory", registry=self.registry)
        rss.set_function(resident_bytes)

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)


def resident_bytes() -> float:
    """Return the resident memory of this process, in bytes; 0 where it cannot be known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            return float(int(file.read().split()[1]) * 4096)
    except (OSError, ValueError, IndexError):
        return 0.0
