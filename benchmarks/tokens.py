"""What an agent pays in tokens: for the list of tools, and for what answers add to passages.

``python benchmarks/tokens.py PACK [--questions FILE] [--lorepack COMMAND]`` asks a server over
stdio, as agents do. With ``--lorepack`` it asks another version's, to compare the two.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from lorepack_server.tools.tokens import count_tokens

QUESTIONS = (
    "how do I link to a heading of another note", "embed an image with a given size",
    "change the colour theme", "sync notes between devices", "what are aliases",
    "create a callout", "publish a vault as a website", "install community plugins",
    "search for a tag", "export a note as PDF", "split the window in two",
    "recover a deleted note",
)  # fmt: skip
HITS = 8
_FENCE = re.compile(r"^(~{4,})document\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)


async def measure(command: str, pack: Path, questions: list[str]) -> dict[str, float]:
    """Return tokens of the core tools and of answers, and what is around their passages."""
    server = StdioServerParameters(
        command=command, args=["mcp", str(pack)], env=dict(os.environ)
    )  # fmt: skip
    whole = passages = hits = 0
    async with Client(server) as client:
        listed = (await client.list_tools()).tools
        tools = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
        for question in questions:
            arguments = {"query": question, "limit": HITS, "maxTokens": 20_000}
            answer = await client.call_tool("find_chunks", arguments)
            text = answer.content[0].text  # type: ignore[union-attr]
            found = _FENCE.findall(text)
            whole += count_tokens(text)
            passages += sum(
                count_tokens(f"{fence}document\n{passage}\n{fence}\n") for fence, passage in found
            )
            hits += len(found)
    return {
        "tools": count_tokens(json.dumps(tools)),
        "answer": whole / len(questions),
        "hits": hits / len(questions),
        "headings and citations %": 100 * (whole - passages) / whole,
    }


def main() -> None:
    """Print one line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--questions", type=Path, help="one a line")
    parser.add_argument("--lorepack", default=shutil.which("lorepack") or "lorepack")
    given = parser.parse_args()
    questions = given.questions.read_text().splitlines() if given.questions else list(QUESTIONS)
    for name, value in asyncio.run(measure(given.lorepack, given.pack, questions)).items():
        print(f"{name:26} {value:8.1f}")


if __name__ == "__main__":
    main()
