"""Obsidian's canvas files (JSON Canvas 1.0): cards become text, arrows a diagram."""

from __future__ import annotations

import json
from typing import Any

from lorepack.util.untrusted import dicts
from lorepack_builder.model import Diagram, DiagramEdge


def read_canvas(text: str) -> tuple[str, Diagram]:
    """Return the cards as Markdown, in reading order, and the arrows.

    Raises:
        ValueError: the text is not a JSON Canvas.
    """
    data = json.loads(text or "{}")
    if not isinstance(data, dict):
        raise ValueError("is not a JSON Canvas")
    cards = [node for node in dicts(data.get("nodes")) if isinstance(node.get("id"), str)]
    cards.sort(key=lambda card: (_number(card.get("y")), _number(card.get("x")), card["id"]))
    markdown = "\n\n".join(part for card in cards if (part := _card_markdown(card)))
    known = {card["id"] for card in cards}
    edges = [
        DiagramEdge(edge["fromNode"], edge["toNode"], str(edge.get("label") or ""), 1)
        for edge in dicts(data.get("edges"))
        if edge.get("fromNode") in known and edge.get("toNode") in known
    ]
    labels = tuple((card["id"], _label(card)) for card in cards)
    return markdown + "\n", Diagram("canvas", 1, labels, tuple(edges))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _card_markdown(card: dict[str, Any]) -> str:
    match card.get("type"):
        case "text":
            return str(card.get("text") or "").strip()
        case "file":
            return f"![[{card.get('file', '')}{card.get('subpath', '')}]]"
        case "link":
            return f"<{card.get('url', '')}>"
        case "group":
            label = str(card.get("label") or "").strip()
            return f"**{label}**" if label else ""
    return ""


def _label(card: dict[str, Any]) -> str:
    text = str(card.get("text") or card.get("file") or card.get("url") or card.get("label") or "")
    return " ".join(text.split())[:80] or str(card["id"])
