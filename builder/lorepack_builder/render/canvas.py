"""Draw a canvas as the author laid it out (JSON Canvas 1.0), as SVG."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from lorepack.util.untrusted import dicts

_HEX = re.compile(r"#[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?")
_MARKUP = re.compile(r"[*_`#>=\[\]]+|!?\[\[|\]\]")
_LINE, _PADDING, _FONT = 22, 12, 16
_MARGIN = 40
_SIDES = {"top": (0.5, 0.0), "bottom": (0.5, 1.0), "left": (0.0, 0.5), "right": (1.0, 0.5)}
_AWAY = {"top": (0, -1), "bottom": (0, 1), "left": (-1, 0), "right": (1, 0)}
_LIMIT = 1_000_000.0


def canvas_svg(text: str, title: str, urls: Mapping[str, str]) -> str:
    """Return the drawing, or '' when there is none.

    Args:
        urls: where the file of a card is shown, by the card's ``file``, as seen from the page.
    """
    data = json.loads(text or "{}")
    cards = [card for card in dicts(data.get("nodes")) if _box(card)]
    if not cards:
        return ""
    boxes = {str(card.get("id")): _box(card) for card in cards}
    left = min(x for x, *_ in boxes.values()) - _MARGIN
    top = min(y for _, y, *_ in boxes.values()) - _MARGIN
    width = max(x + w for x, _, w, _ in boxes.values()) + _MARGIN - left
    height = max(y + h for _, y, _, h in boxes.values()) + _MARGIN - top
    parts = [
        f'<svg class="lore-canvas" xmlns="http://www.w3.org/2000/svg" role="group" '
        f'aria-label="{escape(f"Canvas {title}; its cards follow as text")}" '
        f'viewBox="{left:g} {top:g} {width:g} {height:g}" width="{width:g}">',
        '<defs><marker id="lore-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z"/></marker></defs>',
        # Groups lie under the cards in them.
        *(_card(card, urls) for card in cards if card.get("type") == "group"),
        *(_edge(edge, boxes) for edge in dicts(data.get("edges"))),
        *(_card(card, urls) for card in cards if card.get("type") != "group"),
        "</svg>\n",
    ]
    return "".join(parts)


def _box(card: Mapping[str, Any]) -> tuple[float, float, float, float]:
    numbers = [card.get(key) for key in ("x", "y", "width", "height")]
    found = [float(n) for n in numbers if isinstance(n, int | float) and abs(n) < _LIMIT]
    return (found[0], found[1], found[2], found[3]) if len(found) == 4 else ()  # type: ignore[return-value]


def _colour(item: Mapping[str, Any]) -> str:
    """Return a class for one of the six presets, or the colour itself."""
    given = str(item.get("color") or "")
    if _HEX.fullmatch(given):
        return f' stroke="{given}"'
    return f' class="lore-colour-{given}"' if given in "123456" and len(given) == 1 else ""


def _card(card: Mapping[str, Any], urls: Mapping[str, str]) -> str:
    x, y, width, height = _box(card)
    kind = str(card.get("type"))
    shape = (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8"{_colour(card)}/>'
    )
    if kind == "group":
        label = escape(str(card.get("label") or ""))
        return f'<g class="lore-group">{shape}<text x="{x:g}" y="{y - 8:g}">{label}</text></g>'
    shown = card.get("text") or card.get("file") or card.get("url") or ""
    lines = "".join(
        f'<text x="{x + _PADDING:g}" y="{y + _PADDING + _FONT + _LINE * number:g}">'
        f"{escape(line)}</text>"
        for number, line in enumerate(_wrapped(str(shown), width, height))
    )
    url = urls.get(str(card.get("file"))) if kind == "file" else None
    if url:
        return f'<a class="lore-card" href="{escape(url)}">{shape}{lines}</a>'
    return f'<g class="lore-card">{shape}{lines}</g>'


def _wrapped(text: str, width: float, height: float) -> Iterator[str]:
    """Break ``text`` so that it fits; what does not is cut."""
    room = max(4, int((width - 2 * _PADDING) / (_FONT * 0.55)))
    left = max(1, int((height - _PADDING) / _LINE))
    for paragraph in text.splitlines():
        rest = _MARKUP.sub("", paragraph).strip()
        while rest and left:
            cut = _cut(rest, room)
            left -= 1
            line, rest = rest[:cut].strip(), rest[cut:].strip()
            yield f"{line}…" if rest and not left else line


def _cut(text: str, room: int) -> int:
    """Return how many characters fit into ``room``, whole words where there are any."""
    used = 0
    for index, sign in enumerate(text):
        used += 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        if used > room:
            space = text.rfind(" ", 0, index + 1)
            return space if space > 0 else max(1, index)
    return len(text)


def _edge(edge: Mapping[str, Any], boxes: Mapping[str, tuple[float, float, float, float]]) -> str:
    ends = [boxes.get(str(edge.get(key))) for key in ("fromNode", "toNode")]
    if not (ends[0] and ends[1]):
        return ""
    sides = [str(edge.get("fromSide") or "right"), str(edge.get("toSide") or "left")]
    (x1, y1), (x2, y2) = (_end(box, side) for box, side in zip(ends, sides, strict=True) if box)
    bend = min(160.0, (abs(x2 - x1) + abs(y2 - y1)) / 2)
    (ax, ay), (bx, by) = (_AWAY.get(side, (0, 0)) for side in sides)
    points = [x1 + ax * bend, y1 + ay * bend, x2 + bx * bend, y2 + by * bend, x2, y2]
    tip = "" if edge.get("toEnd") == "none" else ' marker-end="url(#lore-arrow)"'
    tail = ' marker-start="url(#lore-arrow)"' if edge.get("fromEnd") == "arrow" else ""
    path = f"M{x1:g} {y1:g}C" + " ".join(f"{point:g}" for point in points)
    label = escape(str(edge.get("label") or ""))
    middle = f'<text x="{(x1 + x2) / 2:g}" y="{(y1 + y2) / 2 - 4:g}">{label}</text>'
    line = f'<path d="{path}"{_colour(edge)}{tip}{tail}/>'
    return f'<g class="lore-arrow">{line}{middle if label else ""}</g>'


def _end(box: tuple[float, float, float, float], side: str) -> tuple[float, float]:
    x, y, width, height = box
    across, down = _SIDES.get(side, (0.5, 0.5))
    return x + across * width, y + down * height
