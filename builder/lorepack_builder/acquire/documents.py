"""Which files of a source become pages."""

from __future__ import annotations

from pathlib import PurePosixPath

from lorepack_builder.model import SourceFile

MARKDOWN = frozenset({".md", ".markdown", ".mdx"})
CONVERTED = frozenset({".mdx", ".rst", ".rest", ".ipynb", ".html", ".htm"})
"""Documents that are attachments in a vault."""
CODE_LANGUAGES = {
    ".py": "python", ".pyi": "python", ".pyx": "python",
    ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
    ".go": "go", ".rs": "rust", ".java": "java", ".c": "c", ".h": "c",
    ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
    ".ipp": "cpp", ".cs": "csharp", ".rb": "ruby", ".php": "php",
}  # fmt: skip
"""Languages of code by the suffix of a file."""
_ANYWHERE = frozenset({".md", ".markdown", ".canvas", ".base", ".txt"})


def is_page(file: SourceFile) -> bool:
    """Say whether a file becomes a page: notes, other documents outside vaults, wanted code."""
    suffix = PurePosixPath(file.path).suffix.lower()
    if suffix in CODE_LANGUAGES:
        return file.source.code
    return suffix in _ANYWHERE or (suffix in CONVERTED and layout_of(file) != "vault")


def layout_of(file: SourceFile) -> str:
    """Return how the file's source is to be read."""
    return file.source.layout or file.source.kind


def is_markdown(path: str) -> bool:
    """Say whether a page's text stands in its file as it is."""
    return path.lower().endswith(tuple(MARKDOWN))
