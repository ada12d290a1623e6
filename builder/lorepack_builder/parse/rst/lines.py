"""Lines of a document, taken apart and put into fences."""

from __future__ import annotations

from collections.abc import Sequence

from lorepack_builder.parse.markdown.fence import fence_ticks


def fence(
    lines: Sequence[str], start: int, end: int, out: list[str], language: str, before: int
) -> int:
    """Write lines ``start`` to ``end`` as a code block, its fences on the lines around it.

    Args:
        before: the line for the opening fence; -1 if there is none.
    """
    content = dedent(lines[start:end])
    while content and not content[-1].strip():
        content.pop()
    ticks = fence_ticks("\n".join(content))
    if before >= 0:
        out[before] = f"{ticks}{language}"
        closing = start + len(content)
        out[start:closing] = content
        if closing < len(out):
            out[closing] = ticks
    else:
        out[start : start + len(content)] = [f"    {text}" for text in content]
    return max(end, start + len(content) + (1 if start + len(content) < len(out) else 0))


def dedent(lines: Sequence[str]) -> list[str]:
    """Return lines without the indentation that they share."""
    widths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    shared = min(widths, default=0)
    return [line[shared:].rstrip() for line in lines]


def indented_end(lines: Sequence[str], at: int) -> int:
    """Return the line after the indented lines from ``at`` on; blank ones at their end stay out."""
    end = at
    while end < len(lines) and (not lines[end].strip() or lines[end][0] == " "):
        end += 1
    while end > at and not lines[end - 1].strip():
        end -= 1
    return end


def next_text(lines: Sequence[str], at: int) -> int:
    """Return the first line from ``at`` on that is not blank."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at
