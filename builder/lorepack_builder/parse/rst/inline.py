"""reStructuredText within a paragraph → Markdown, line by line the same.

Forms are those of docutils' specification ("Inline Markup") and of Sphinx' roles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LABEL_SCHEME = "lore-label:"
"""Addresses that name a label of the same source, until links are resolved."""

_INLINE = re.compile(
    r"(?P<escape>\\(?:\s|.))"
    r"|``(?P<literal>.+?)``(?!`)"
    r"|:(?P<role>[A-Za-z][\w:.+-]*):`(?P<roletext>(?:\\.|[^`\\])+)`"
    r"|`(?P<phrase>(?:\\.|[^`\\])+)`(?P<kind>__?(?!\w)|:[A-Za-z][\w:.+-]*:)?"
    r"|(?P<strong>\*\*(?=\S).+?(?<=\S)\*\*)"
    r"|(?P<emphasis>\*(?=[^\s*])[^*]*?(?<=\S)\*(?!\*))"
    r"|\|(?P<substitution>[^\s|](?:[^|\n]*[^\s|])?)\|_{0,2}"
    r"|\[(?P<note>\d+|#[\w-]*|\*|[A-Za-z][\w.-]*)\]_(?!\w)"
    r"|(?P<url>\bhttps?://[^\s<>\"')\]]+)"
    r"|(?<![\w:/])(?P<name>[A-Za-z0-9](?:[\w.+-]*[A-Za-z0-9])?)_(?![\w_])",
    re.DOTALL,
)
_TITLED = re.compile(r"(?P<title>.*?)\s*<(?P<target>[^<>]+)>\Z", re.DOTALL)
_SPECIAL = re.compile(r"([<>\[\]$`]|(?<!\w)_|_(?!\w)|==|%%)")
_SIGN = {"sub": "sub", "subscript": "sub", "sup": "sup", "superscript": "sup"}
_PLAIN = frozenset({"term", "abbr", "dfn", "title", "title-reference", "t", "token", "any"})
_BOLD = frozenset({"guilabel", "menuselection", "strong"})
_NUMBERED = frozenset({"issue", "pr", "pull", "ghissue", "ghpull", "gh", "bpo", "ticket"})


@dataclass
class Names:
    """What a document names for use elsewhere in it; names are folded (`fold_name`)."""

    urls: dict[str, str] = field(default_factory=dict)
    anonymous: list[str] = field(default_factory=list)
    substitutions: dict[str, str] = field(default_factory=dict)
    headings: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)


def fold_name(name: str) -> str:
    """Return a reference name as docutils compares it: lower case, single spaces."""
    return " ".join(name.lower().split())


def convert_inline(text: str, names: Names) -> str:
    """Return a paragraph as Markdown; it has as many lines as before."""
    return "".join(_parts(text, names))


def _parts(text: str, names: Names) -> Iterator[str]:
    position = 0
    for match in _INLINE.finditer(text):
        if match.start() < position:
            continue
        yield escape(text[position : match.start()])
        yield _convert(match, names)
        position = match.end()
    yield escape(text[position:])


def _convert(match: re.Match[str], names: Names) -> str:
    kind = match.lastgroup or ""
    value = match[kind] if kind else ""
    if kind == "kind":
        return _phrase(match["phrase"], match["kind"], names)
    if kind == "phrase":
        return _phrase(value, "", names)
    if kind == "roletext":
        return _role(match["role"].lower(), value)
    if kind == "escape":
        # An escaped space joins what stands around it.
        return "\n" * value.count("\n") if value[1:].isspace() else escape_sign(value[1:])
    if kind == "literal":
        return code(value)
    if kind == "substitution":
        return escape(names.substitutions.get(value, value))
    if kind == "note":
        return f"[^{value.strip('#*') or 'auto'}]" if value[0] in "#*0123456789" else f"\\[{value}]"
    if kind == "name":
        return _named(value, value, names) or escape(match.group())
    return value


def _phrase(text: str, kind: str, names: Names) -> str:
    """Convert what stands between single backquotes."""
    if kind.startswith(":"):
        return _role(kind.strip(":").lower(), text)
    titled = _TITLED.fullmatch(text)
    if kind and titled:
        title = titled["title"] or titled["target"]
        target = titled["target"].strip()
        if target.endswith("_"):
            return _named(title, target[:-1], names) or escape(title)
        names.urls.setdefault(fold_name(title), target)
        return _link(title, "".join(target.split()))
    if kind == "__" and names.anonymous:
        return _link(text, names.anonymous.pop(0))
    if kind:
        return _named(text, text, names) or escape(text)
    return f"*{escape(text)}*"


def _named(title: str, name: str, names: Names) -> str:
    key = fold_name(name)
    if url := names.urls.get(key):
        return _link(title, url)
    if key in names.labels:
        return _link(title, LABEL_SCHEME + key)
    return _link(title, f"#{name}") if key in names.headings else ""


def _role(name: str, text: str) -> str:
    """Convert a role; ``py:func`` and ``func`` are one."""
    role = name.rpartition(":")[2]
    titled = _TITLED.fullmatch(text)
    title, target = (titled["title"], titled["target"].strip()) if titled else ("", text.strip())
    if role in ("ref", "numref"):
        return _link(title or target, LABEL_SCHEME + fold_name(target))
    if role == "doc":
        return _link(title or target.rpartition("/")[2], target)
    if role == "download":
        return _link(title or target, target)
    if role == "pep" and target.isdigit():
        return _link(title or f"PEP {target}", f"https://peps.python.org/pep-{int(target):04d}/")
    if role == "rfc" and target.isdigit():
        return _link(title or f"RFC {target}", f"https://www.rfc-editor.org/rfc/rfc{target}")
    if role == "math":
        return f"${text}$"
    if role in _NUMBERED:
        return f"#{target}"
    if role in _SIGN:
        return f"<{_SIGN[role]}>{escape(text)}</{_SIGN[role]}>"
    if role in _PLAIN:
        return escape(title or target)
    if role in _BOLD:
        return f"**{escape(title or text)}**"
    if role == "emphasis":
        return f"*{escape(text)}*"
    shown = title or target.lstrip("!")
    # ``~a.b.C`` shows its last part, ``.C`` is looked for; the whole name tells more.
    return code(shown.removeprefix("~").removeprefix("."))


def code(text: str) -> str:
    """Return a code span that its own text cannot close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def escape(text: str) -> str:
    """Return plain text with Markdown's own signs escaped."""
    return _SPECIAL.sub(lambda match: "".join(f"\\{sign}" for sign in match.group()), text)


def escape_sign(sign: str) -> str:
    """Return one sign that stands for itself."""
    return f"\\{sign}" if sign and not sign.isalnum() and sign.isascii() else sign


def _link(title: str, url: str) -> str:
    shown = escape(title.strip())
    address = url.replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    return f"[{shown}]({address})"
