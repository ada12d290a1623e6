"""Languages of code: their files, their grammars, and which nodes of these define something.

Grammars are those of the tree-sitter project, each in its own package; node names are those of
their ``node-types.json``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath

from tree_sitter import Language, Parser

from lorepack_builder.acquire.documents import CODE_LANGUAGES


@dataclass(frozen=True)
class Grammar:
    """How to read one language.

    ``fence`` names it in Markdown; ``defines`` gives the kind of symbol by node type; ``holds`` are
    nodes whose members carry their name without being symbols; ``wraps`` are nodes around a
    definition that belong to it (decorators, ``export``).
    """

    fence: str
    package: str
    defines: Mapping[str, str]
    holds: frozenset[str] = frozenset()
    wraps: frozenset[str] = frozenset()
    function: str = "language"
    members: frozenset[str] = field(default=frozenset({"class", "struct", "interface", "trait",
                                                       "module", "enum", "namespace", "record",
                                                       "object"}))  # fmt: skip


_JAVASCRIPT = {
    "class_declaration": "class", "function_declaration": "function",
    "generator_function_declaration": "function", "method_definition": "method",
    "variable_declarator": "function", "field_definition": "method",
}  # fmt: skip
_TYPESCRIPT = {
    **_JAVASCRIPT, "abstract_class_declaration": "class", "interface_declaration": "interface",
    "type_alias_declaration": "type", "enum_declaration": "enum", "internal_module": "namespace",
    "module": "namespace", "function_signature": "function", "abstract_method_signature": "method",
    "method_signature": "method", "public_field_definition": "method",
}  # fmt: skip
_JAVASCRIPT_WRAPS = frozenset({"export_statement", "lexical_declaration", "variable_declaration",
                               "ambient_declaration", "expression_statement"})  # fmt: skip
_C = {
    "function_definition": "function", "declaration": "function", "struct_specifier": "struct",
    "union_specifier": "union", "enum_specifier": "enum", "type_definition": "type",
    "preproc_function_def": "macro",
}  # fmt: skip

GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar(
        "python", "tree_sitter_python",
        {"class_definition": "class", "function_definition": "function"},
        wraps=frozenset({"decorated_definition"}),
    ),
    "javascript": Grammar(
        "javascript", "tree_sitter_javascript", _JAVASCRIPT, wraps=_JAVASCRIPT_WRAPS
    ),
    "typescript": Grammar(
        "typescript", "tree_sitter_typescript", _TYPESCRIPT, wraps=_JAVASCRIPT_WRAPS,
        function="language_typescript",
    ),
    "tsx": Grammar(
        "tsx", "tree_sitter_typescript", _TYPESCRIPT, wraps=_JAVASCRIPT_WRAPS,
        function="language_tsx",
    ),
    "go": Grammar(
        "go", "tree_sitter_go",
        {"function_declaration": "function", "method_declaration": "method", "type_spec": "type",
         "type_alias": "type"},
        wraps=frozenset({"type_declaration"}),
    ),
    "rust": Grammar(
        "rust", "tree_sitter_rust",
        {"function_item": "function", "function_signature_item": "function",
         "struct_item": "struct", "enum_item": "enum", "union_item": "union",
         "trait_item": "trait", "mod_item": "module", "type_item": "type",
         "macro_definition": "macro", "const_item": "constant", "static_item": "constant"},
        holds=frozenset({"impl_item"}),
    ),
    "java": Grammar(
        "java", "tree_sitter_java",
        {"class_declaration": "class", "interface_declaration": "interface",
         "enum_declaration": "enum", "record_declaration": "record",
         "annotation_type_declaration": "interface", "method_declaration": "method",
         "constructor_declaration": "constructor"},
    ),
    "c": Grammar("c", "tree_sitter_c", _C),
    "cpp": Grammar(
        "cpp", "tree_sitter_cpp",
        {**_C, "class_specifier": "class", "namespace_definition": "namespace",
         "field_declaration": "method", "alias_declaration": "type",
         "concept_definition": "concept"},
        wraps=frozenset({"template_declaration"}),
    ),
    "csharp": Grammar(
        "csharp", "tree_sitter_c_sharp",
        {"class_declaration": "class", "interface_declaration": "interface",
         "struct_declaration": "struct", "record_declaration": "record",
         "enum_declaration": "enum", "method_declaration": "method",
         "constructor_declaration": "constructor", "property_declaration": "property",
         "delegate_declaration": "type", "namespace_declaration": "namespace"},
    ),
    "ruby": Grammar(
        "ruby", "tree_sitter_ruby",
        {"class": "class", "module": "module", "method": "method", "singleton_method": "method"},
    ),
    "php": Grammar(
        "php", "tree_sitter_php",
        {"class_declaration": "class", "interface_declaration": "interface",
         "trait_declaration": "trait", "enum_declaration": "enum",
         "function_definition": "function", "method_declaration": "method"},
        function="language_php",
    ),
}  # fmt: skip

_IS_CPP = re.compile(r"^\s*(?:class|namespace|template|using|public:|private:)\b", re.MULTILINE)


def language_of(path: str, text: str) -> str:
    """Return the language of a file of `CODE_LANGUAGES`; a C++ header may be called ``.h``."""
    suffix = PurePosixPath(path).suffix.lower()
    return "cpp" if suffix == ".h" and _IS_CPP.search(text) else CODE_LANGUAGES[suffix]


@cache
def parser_of(language: str) -> Parser:
    """Return the parser of one of `GRAMMARS`; the grammar is loaded at the first use."""
    grammar = GRAMMARS[language]
    return Parser(Language(getattr(import_module(grammar.package), grammar.function)()))
