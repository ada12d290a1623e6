"""What a file of code defines, off its syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from lorepack_builder.parse.code.languages import GRAMMARS, Grammar, parser_of

MAX_SYMBOLS = 20_000
_SIGNATURE_LIMIT = 400
_DOC_LIMIT = 4_000
_FUNCTIONS = frozenset({"function", "method", "constructor", "macro", "property"})
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function",
                              "function", "class"})  # fmt: skip
_NEEDS_BODY = frozenset({"struct_specifier", "union_specifier", "enum_specifier",
                         "class_specifier"})  # fmt: skip
_COMMENT_SIGNS = re.compile(r"^\s*(?:/\*+!?|\*+/|\*(?!/)|//[/!]?|#+(?!\[))? ?|\s*\*+/\s*$")
_STRING = re.compile(r"^[A-Za-z]{0,2}(\"\"\"|'''|\"|')(.*)\1$", re.DOTALL)


@dataclass(frozen=True)
class Definition:
    """A definition; lines from 1, both inclusive, ``start`` with its comments and decorators."""

    name: str
    kind: str
    signature: str
    start: int
    first_line: int
    last_line: int
    doc: str
    parent: str


def find_definitions(text: str, language: str) -> tuple[str, list[Definition]]:
    """Return the comment at the top of a file, and all definitions in the order of their lines.

    What is defined within a function is its own affair, and left out. A file that does not parse
    gives what its readable parts define.
    """
    grammar = GRAMMARS[language]
    # The parser counts lines at \\n alone, as the rest of the builder does.
    tree = parser_of(language).parse(text.encode("utf-8", "replace"))
    found: list[Definition] = []
    for definition in _walk(tree.root_node, grammar):
        found.append(definition)
        if len(found) == MAX_SYMBOLS:
            break
    found.sort(key=lambda d: (d.start, d.first_line, -d.last_line))
    return _top_doc(tree.root_node), found


def _walk(root: Node, grammar: Grammar) -> Iterator[Definition]:
    """Walk without recursion: code may be nested deeper than Python's stack."""
    stack: list[tuple[Node, str]] = [(root, "")]
    while stack:
        node, parent = stack.pop()
        inner: list[tuple[Node, str]] = []
        for child in node.named_children:
            definition = _definition(child, parent, grammar)
            if definition is None:
                held = _held_name(child, grammar)
                inner.append((child, f"{parent}.{held}".lstrip(".") if held else parent))
                continue
            yield definition
            if definition.kind not in _FUNCTIONS:
                inner.append((child, definition.name))
        stack += reversed(inner)


def _definition(node: Node, parent: str, grammar: Grammar) -> Definition | None:
    kind = grammar.defines.get(node.type)
    if kind is None or (node.type in _NEEDS_BODY and node.child_by_field_name("body") is None):
        return None
    if node.type in ("variable_declarator", "field_definition", "public_field_definition"):
        value = node.child_by_field_name("value")
        if value is None or value.type not in _FUNCTION_VALUES:
            return None
        kind = "class" if value.type == "class" else kind
    name_node = _name_node(node)
    if name_node is None or (node.type == "declaration" and not _declares_function(node)):
        return None
    if node.type == "field_declaration" and not _declares_function(node):
        return None
    name = _text(name_node).replace("::", ".").strip()
    if not name or len(name) > 200 or "\n" in name:
        return None
    receiver = _receiver(node)
    owner = receiver or parent
    whole = f"{owner}.{name}" if owner else name
    if kind == "function" and owner:
        kind = "method"
    kind = _go_kind(node, kind)
    outer = _outer(node, grammar)
    doc = _docstring(node) or _comment_above(outer)
    first = outer.start_point.row + 1
    return Definition(
        name=whole,
        kind=kind,
        signature=_signature(node, outer),
        start=_comment_start(outer),
        first_line=first,
        last_line=max(first, outer.end_point.row + (1 if outer.end_point.column else 0)),
        doc=doc[:_DOC_LIMIT],
        parent=parent,
    )


def _name_node(node: Node) -> Node | None:
    """Return what names a definition; C hides it in its declarators."""
    found = node.child_by_field_name("name") or node.child_by_field_name("property")
    if found is not None:
        return found
    at = node.child_by_field_name("declarator")
    while at is not None:
        inner = at.child_by_field_name("declarator")
        if inner is None and at.type in ("reference_declarator", "parenthesized_declarator"):
            inner = next(iter(at.named_children), None)
        if inner is None:
            return at
        at = inner
    return None


def _declares_function(node: Node) -> bool:
    at = node.child_by_field_name("declarator")
    while at is not None:
        if at.type == "function_declarator":
            inner = at.child_by_field_name("declarator")
            return inner is not None and inner.type != "parenthesized_declarator"
        at = at.child_by_field_name("declarator") or (
            next(iter(at.named_children), None) if at.type == "reference_declarator" else None
        )
    return False


def _receiver(node: Node) -> str:
    """Return the type that a Go method belongs to."""
    receiver = node.child_by_field_name("receiver") if node.type == "method_declaration" else None
    if receiver is None:
        return ""
    match = re.search(r"\*?\s*([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$", _text(receiver))
    return match[1] if match else ""


def _go_kind(node: Node, kind: str) -> str:
    inner = node.child_by_field_name("type") if node.type == "type_spec" else None
    if inner is None:
        return kind
    return {"struct_type": "struct", "interface_type": "interface"}.get(inner.type, kind)


def _held_name(node: Node, grammar: Grammar) -> str:
    inner = node.child_by_field_name("type") if node.type in grammar.holds else None
    return re.sub(r"<.*", "", _text(inner)).rpartition("::")[2] if inner is not None else ""


def _outer(node: Node, grammar: Grammar) -> Node:
    """Return the node with its decorators, ``export`` or template around it."""
    outer = node
    while outer.parent is not None and outer.parent.type in grammar.wraps:
        if outer.parent.type == "type_declaration" and outer.parent.named_child_count > 1:
            break
        outer = outer.parent
    return outer


def _signature(node: Node, outer: Node) -> str:
    """Return the text up to the body, in one line."""
    value = node.child_by_field_name("value")
    body = node.child_by_field_name("body") or (value and value.child_by_field_name("body"))
    data = node.text or b""
    if body is not None:
        data = data[: body.start_byte - node.start_byte]
    text = " ".join(data.decode("utf-8", "replace").split()).rstrip(" {:=>")
    if body is None and node.type not in ("declaration", "field_declaration", "type_definition"):
        text = text[:_SIGNATURE_LIMIT]
    return text[:_SIGNATURE_LIMIT]


def _docstring(node: Node) -> str:
    body = node.child_by_field_name("body")
    if body is None or body.type != "block" or not body.named_children:
        return ""
    return _string_of(body.named_children[0])


def _string_of(statement: Node) -> str:
    inner = next(iter(statement.named_children), None)
    if statement.type != "expression_statement" or inner is None or inner.type != "string":
        return ""
    match = _STRING.match(_text(inner))
    return _clean([line.strip() for line in match[2].split("\n")]) if match else ""


def _comment_above(node: Node) -> str:
    comments = _comments_above(node)
    lines = [line for comment in comments for line in _text(comment).split("\n")]
    return _clean([_COMMENT_SIGNS.sub("", line) for line in lines])


def _comments_above(node: Node) -> list[Node]:
    """Return the comments that stand right above a node, outermost first."""
    found: list[Node] = []
    row, before = node.start_point.row, node.prev_sibling
    if before is None and node.parent is not None and node.parent.type == "body_statement":
        # Ruby's first comment stands before the body, not in it.
        before = node.parent.prev_sibling
    while before is not None and "attribute" in before.type and before.end_point.row >= row - 1:
        row, before = before.start_point.row, before.prev_sibling
    while before is not None and "comment" in before.type and before.end_point.row >= row - 1:
        above = before.prev_sibling
        if above and above.end_point.column and above.end_point.row == before.start_point.row:
            break
        found.insert(0, before)
        row, before = before.start_point.row, before.prev_sibling
    return found


def _comment_start(node: Node) -> int:
    comments = _comments_above(node)
    return (comments[0] if comments else node).start_point.row + 1


def _top_doc(root: Node) -> str:
    children = root.named_children
    if children and (doc := _string_of(children[0])):
        return doc[:_DOC_LIMIT]
    lines: list[str] = []
    row = 0
    for child in children[:50]:
        if "comment" not in child.type or child.start_point.row > row + 2:
            break
        lines += [_COMMENT_SIGNS.sub("", line) for line in _text(child).split("\n")]
        row = child.end_point.row
    return _clean(lines)[:_DOC_LIMIT]


def _clean(lines: list[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip()


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
