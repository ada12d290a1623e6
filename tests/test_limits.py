"""What a server does under more than it can take; real processes, real calls."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from pathlib import Path

import httpx

from tests.conftest import serve


async def ask_at_once(address: str, count: int) -> Counter[int]:
    """Ask as many different questions at the same time; return the statuses."""
    async with httpx.AsyncClient(base_url=address, timeout=30) as client:
        answers = await asyncio.gather(
            *(
                client.get("/api/demo/search", params={"query": f"why is pack {n} a file"})
                for n in range(count)
            )
        )
    for answer in answers:
        if answer.status_code == 503:
            assert answer.headers["retry-after"] == "1"
            assert answer.json()["error"]["code"] == "busy"
    return Counter(answer.status_code for answer in answers)


def test_one_call_too_many_is_told_to_come_again(demo_pack: Path) -> None:
    with serve(demo_pack, options=["--max-calls", "2"]) as address:
        statuses = asyncio.run(ask_at_once(address, 40))
        assert set(statuses) == {200, 503} and statuses[200] >= 2
        assert httpx.get(f"{address}/healthz").json()["inFlight"] == 0
        assert httpx.get(f"{address}/api/demo/search?query=pack").status_code == 200


def test_a_call_that_takes_too_long_is_given_up(demo_pack: Path) -> None:
    """The first question waits for the model, which takes far longer than this."""
    with serve(demo_pack, options=["--no-warm", "--timeout", "0.05"]) as address:
        late = httpx.get(f"{address}/api/demo/search?query=pack", timeout=30)
        assert late.status_code == 504 and late.json()["error"]["code"] == "timeout"
        for _ in range(100):
            if httpx.get(f"{address}/api/demo/search?query=pack", timeout=30).is_success:
                break
            time.sleep(0.1)
        else:
            raise AssertionError("it did not recover")
        assert httpx.get(f"{address}/healthz").json()["inFlight"] == 0


def test_clients_that_leave_cost_nothing(demo_pack: Path) -> None:
    running = serve(demo_pack)
    with running as address:
        for number in range(60):
            with socket.create_connection(("127.0.0.1", running.port)) as client:
                question = f"GET /api/demo/search?query=leaving+{number} HTTP/1.1\r\n"
                client.sendall(f"{question}Host: 127.0.0.1\r\n\r\n".encode())
            with socket.create_connection(("127.0.0.1", running.port)) as client:
                head = "POST /mcp/demo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n"
                client.sendall(f"{head}Content-Type: application/json\r\n\r\n{{".encode())
        for _ in range(50):
            if httpx.get(f"{address}/healthz").json()["inFlight"] == 0:
                break
            time.sleep(0.1)
        else:
            raise AssertionError("calls are still in flight")
        assert httpx.get(f"{address}/api/demo/search?query=pack").is_success


def test_health_is_told_while_questions_are_answered(demo_pack: Path) -> None:
    """How fast is for `benchmarks/serve.py`; here, that it is not after them."""

    async def both(address: str) -> tuple[list[float], float]:
        began = time.monotonic()
        asking = asyncio.create_task(ask_at_once(address, 60))
        times = []
        async with httpx.AsyncClient(base_url=address) as client:
            while not asking.done():
                start = time.monotonic()
                assert (await client.get("/healthz")).is_success
                times.append(time.monotonic() - start)
        return times, time.monotonic() - began

    with serve(demo_pack) as address:
        httpx.get(f"{address}/api/demo/search?query=pack", timeout=30)
        times, all_of_them = asyncio.run(both(address))
    assert len(times) > 3 and sorted(times)[len(times) // 2] < all_of_them / 4
