"""Change a member of JSON with comments and trailing commas; all else stays as it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
_DEPTH = 200


@dataclass
class Node:
    """A value: where it stands, what it is, and its members by name if it is an object.

    A member is (begin of its name, its value); ``end`` is behind the last sign.
    """

    begin: int
    end: int
    value: Any
    members: dict[str, tuple[int, Node]] = field(default_factory=dict)


def parse(text: str) -> Any:
    """Return what the text says. Raises ValueError if it is no JSON, comments aside."""
    return _document(text).value


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the text with the member at ``path`` set; objects on the way are made.

    Raises:
        ValueError: the text is no JSON, or something on the way is no object.
    """
    node, rest = _walk(_document(text), path)
    if not rest:
        if node.value == value:
            return text
        indent = _indent_at(text, node.begin)
        return text[: node.begin] + _written(value, indent, text) + text[node.end :]
    for name in reversed(rest[1:]):
        value = {name: value}
    return _insert(text, node, rest[0], value)


def remove(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at ``path``, and with its comma's."""
    root = _document(text)
    parent, rest = _walk(root, path[:-1])
    if rest or path[-1] not in parent.members:
        return text
    begin, node = parent.members[path[-1]]
    end = node.end
    after = _BLANK.match(text, end)
    comma = after.end() if after else end
    if text[comma : comma + 1] == ",":
        end = comma + 1
    else:
        before = _last_comma(text, parent, begin)
        begin = before if before >= 0 else begin
    # The line goes too, where nothing else is on it.
    line = text.rfind("\n", 0, begin) + 1
    if not text[line:begin].strip() and text[end : end + 1] in ("\n", "\r"):
        begin = line
        end = text.index("\n", end) + 1
    return text[:begin] + text[end:]


def _last_comma(text: str, parent: Node, begin: int) -> int:
    """Return where the comma before a member is that is the last one; -1 if it is the only one."""
    earlier = [node.end for _, node in parent.members.values() if node.end <= begin]
    if not earlier:
        return -1
    blank = _BLANK.match(text, max(earlier))
    place = blank.end() if blank else -1
    return place if text[place : place + 1] == "," else -1


def _walk(node: Node, path: Sequence[str]) -> tuple[Node, Sequence[str]]:
    """Follow ``path`` as far as there are members; return where that ends, and what is left."""
    for number, name in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(path[:number]) or 'it'} is no object")
        if name not in node.members:
            return node, path[number:]
        node = node.members[name][1]
    return node, ()


def _insert(text: str, parent: Node, name: str, value: Any) -> str:
    if not isinstance(parent.value, dict):
        raise ValueError("something on the way is no object")
    outer = _indent_at(text, parent.begin)
    inner = outer + _step(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    written = f"{json.dumps(name, ensure_ascii=False)}: {_written(value, inner, text)}"
    member = f"{newline}{inner}{written}"
    close = parent.end - 1
    if not parent.members:
        kept = text[parent.begin + 1 : close].rstrip()
        return f"{text[: parent.begin + 1]}{kept}{member}{newline}{outer}{text[close:]}"
    last = max(node.end for _, node in parent.members.values())
    blank = _BLANK.match(text, last)
    comma = blank.end() if blank else last
    if text[comma] == ",":
        tail = text[comma + 1 : close].rstrip()
        return f"{text[: comma + 1]}{tail}{member},{newline}{outer}{text[close:]}"
    tail = text[last:close].rstrip()
    return f"{text[:last]},{tail}{member}{newline}{outer}{text[close:]}"


def _written(value: Any, indent: str, text: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, indent=_step(text), ensure_ascii=False).split("\n")
    return f"{newline}{indent}".join(lines)


def _indent_at(text: str, place: int) -> str:
    line = text.rfind("\n", 0, place) + 1
    match = re.match(r"[ \t]*", text[line:place])
    return match.group() if match else ""


def _step(text: str) -> str:
    """Return one step of indentation as the text has it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found and len(found[1]) <= 8 else "  "


def _document(text: str) -> Node:
    begin = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _node(text, begin, 0)
    if _skip(text, node.end) != len(text):
        raise ValueError(f"there is more after its end, on line {_line(text, node.end)}")
    return node


def _node(text: str, place: int, depth: int) -> Node:
    if depth > _DEPTH:
        raise ValueError("it is nested too deeply")
    sign = text[place : place + 1]
    if sign == "{":
        return _object(text, place, depth)
    if sign == "[":
        return _array(text, place, depth)
    match = _STRING.match(text, place) or _SCALAR.match(text, place)
    if match is None:
        raise ValueError(f"there is no value on line {_line(text, place)}")
    return Node(place, match.end(), json.loads(match.group()))


def _object(text: str, begin: int, depth: int) -> Node:
    node = Node(begin, begin, {})
    place = _skip(text, begin + 1)
    while text[place : place + 1] != "}":
        name = _STRING.match(text, place)
        if name is None:
            raise ValueError(f"there is no name on line {_line(text, place)}")
        colon = _skip(text, name.end())
        if text[colon : colon + 1] != ":":
            raise ValueError(f"there is no colon on line {_line(text, colon)}")
        member = _node(text, _skip(text, colon + 1), depth + 1)
        key = json.loads(name.group())
        node.members[key] = place, member
        node.value[key] = member.value
        place = _next(text, member.end, "}")
    node.end = place + 1
    return node


def _array(text: str, begin: int, depth: int) -> Node:
    values, place = [], _skip(text, begin + 1)
    while text[place : place + 1] != "]":
        item = _node(text, place, depth + 1)
        values.append(item.value)
        place = _next(text, item.end, "]")
    return Node(begin, place + 1, values)


def _next(text: str, place: int, close: str) -> int:
    """Return where the next member begins, or where ``close`` is."""
    place = _skip(text, place)
    if text[place : place + 1] == ",":
        return _skip(text, place + 1)
    if text[place : place + 1] != close:
        raise ValueError(f"there is no comma on line {_line(text, place)}")
    return place


def _skip(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    return match.end() if match else place


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
