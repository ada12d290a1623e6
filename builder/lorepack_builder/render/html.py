"""Render a page's tokens as the HTML that mkdocs-material styles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from lorepack_builder.model import LinkedPage, Page, Target
from lorepack_builder.parse.extract import is_external
from lorepack_builder.parse.markdown.parser import parse_tokens
from lorepack_builder.parse.mentions import read_mention
from lorepack_builder.render.code import code_page_html
from lorepack_builder.render.embeds import is_lone_embed, section_tokens, without_ids
from lorepack_builder.render.media import media_html
from lorepack_builder.render.model import SiteMap
from lorepack_builder.render.sanitize import sanitize, whole_tags
from lorepack_builder.render.urls import file_url, relative_url, tag_url

MAX_EMBED_DEPTH = 4
_LINKED = ("wikilink", "link_open", "image")
_CALLOUTS = {
    "note": "note", "abstract": "abstract", "summary": "abstract", "tldr": "abstract",
    "info": "info", "todo": "info", "tip": "tip", "hint": "tip", "important": "tip",
    "success": "success", "check": "success", "done": "success", "question": "question",
    "help": "question", "faq": "question", "warning": "warning", "caution": "warning",
    "attention": "warning", "failure": "failure", "fail": "failure", "missing": "failure",
    "danger": "danger", "error": "danger", "bug": "bug", "example": "example", "quote": "quote",
    "cite": "quote",
}  # fmt: skip
_WRAPPED = (".rst", ".rest", ".html", ".htm", ".ipynb")
_LANGUAGE = re.compile(r"[\w+#.-]+")
_MAX_HIGHLIGHTED = 100_000


@dataclass(frozen=True)
class _View:
    """The page being written, and the embeds that are open."""

    site: SiteMap
    base: str
    open_embeds: tuple[tuple[str, str], ...]


def render_page(path: str, site: SiteMap) -> str:
    """Return the sanitised HTML of one page's body."""
    linked = site.pages[path]
    if linked.page.code:
        return sanitize(code_page_html(linked.page, code_html))
    view = _View(site, site.urls[path], ((path, ""),))
    return sanitize(_render(_linked_tokens(linked), view))


def _linked_tokens(linked: LinkedPage) -> list[Token]:
    """Parse a page again and hang each link's target on its token; both are in one order.

    Tokens of what only Obsidian has, tags and line ends that show, are marked where they are text.
    """
    tokens = parse_tokens(linked.page.body)
    targets = iter(linked.targets)
    code = {r.mention.text: r.target for r in linked.code_refs if r.target.kind == "page"}
    plain = _is_plain(linked.page)
    for token in tokens:
        in_link = False
        for child in token.children or []:
            if child.type in _LINKED and child.info != "auto":
                child.meta["leads_to"] = next(targets, None)
            in_link = child.type == "link_open" or (in_link and child.type != "link_close")
            if code and child.type == "code_inline" and not in_link:
                mention = read_mention(child.content, 0)
                child.meta["leads_to"] = code.get(mention.text) if mention else None
            if plain and child.type in ("tag", "softbreak"):
                child.meta["plain"] = True
    return tokens


def _is_plain(page: Page) -> bool:
    return page.source.layout in ("repo", "codewiki") or page.path.endswith(_WRAPPED)


def _render(tokens: list[Token], view: _View) -> str:
    writer = _writer()
    return str(writer.renderer.render(tokens, writer.options, {"view": view}))


@cache
def _writer() -> MarkdownIt:
    """The plugin brings the rules for footnotes."""
    return MarkdownIt("commonmark", renderer_cls=_Renderer).use(footnote_plugin)


class _Renderer(RendererHTML):
    """Rules for the tokens that CommonMark has not, and for links, code and images."""

    def paragraph_open(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        if is_lone_embed(tokens[i + 1]):
            return f"<div{self.renderAttrs(tokens[i])}>"
        return str(self.renderToken(tokens, i, options, env))

    def paragraph_close(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        if is_lone_embed(tokens[i - 1]):
            return "</div>\n"
        return str(self.renderToken(tokens, i, options, env))

    def heading_open(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        token = tokens[i]
        block_id = token.meta.get("block_id")
        extra = f'<span id="{escape(block_id)}"></span>' if block_id else ""
        return f"<{token.tag}{self.renderAttrs(token)}>{extra}"

    def heading_close(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        anchor = tokens[i - 2].attrGet("id")
        link = f'<a class="headerlink" href="#{escape(str(anchor))}" title="Permanent link"></a>'
        return f"{link if anchor else ''}</{tokens[i].tag}>\n"

    def callout_open(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        kind, fold = tokens[i].meta["kind"], tokens[i].meta["fold"]
        css = escape(f"{_CALLOUTS.get(kind, 'note')} {kind}")
        anchor = tokens[i].attrGet("id")
        identity = f' id="{escape(str(anchor))}"' if anchor else ""
        if fold:
            return f'<details class="{css}"{identity}{" open" if fold == "+" else ""}>\n'
        return f'<div class="admonition {css}"{identity}>\n'

    def callout_close(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        return "</details>\n" if tokens[i].meta["fold"] else "</div>\n"

    def callout_title_open(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        folds = tokens[i - 1].meta["fold"]
        return "<summary>" if folds else '<p class="admonition-title">'

    def callout_title_close(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        folds = tokens[i - 3].meta["fold"]
        return "</summary>\n" if folds else "</p>\n"

    def task(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        mark = tokens[i].meta["mark"]
        checked = "" if mark == " " else " checked"
        label = "to do" if mark == " " else "done"
        kind = f'type="checkbox" data-task="{escape(mark)}" aria-label="{label}"'
        box = f"<input {kind} disabled{checked}>"
        sign = '<span class="task-list-indicator"></span>'
        return f'<label class="task-list-control">{box}{sign}</label>'

    def tag(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        name = tokens[i].content
        if tokens[i].meta.get("plain"):
            return f"#{escape(name)}"
        url = relative_url(tag_url(name), env["view"].base)
        return f'<a class="lore-tag" href="{url}">#{escape(name)}</a>'

    def math_inline(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        return f'<span class="arithmatex">\\({escape(tokens[i].content)}\\)</span>'

    def math_inline_double(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        return f'<span class="arithmatex">\\[{escape(tokens[i].content)}\\]</span>'

    def math_block(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        content = escape(tokens[i].content)
        return f'<div class="arithmatex"{self.renderAttrs(tokens[i])}>\\[{content}\\]</div>\n'

    def softbreak(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        # Obsidian shows a line end as one, unless told to be strict.
        return "\n" if tokens[i].meta.get("plain") else "<br>\n"

    def code_inline(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        code = f"<code>{escape(tokens[i].content)}</code>"
        target: Target | None = tokens[i].meta.get("leads_to")
        return f"{_anchor(target, env['view'])}{code}</a>" if target else code

    def fence(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        token = tokens[i]
        match = _LANGUAGE.match(token.info.strip())
        if match and match.group().lower() == "mermaid":
            diagram = escape(token.content)
            return f'<pre class="lore-mermaid"{self.renderAttrs(token)}>{diagram}</pre>\n'
        return code_html(token.content, match.group() if match else "", self.renderAttrs(token))

    def code_block(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        return code_html(tokens[i].content, "", self.renderAttrs(tokens[i]))

    def html_block(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        return whole_tags(tokens[i].content)

    def html_inline(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        return whole_tags(tokens[i].content)

    def link_open(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        token = tokens[i]
        href = str(token.attrGet("href") or "")
        target = token.meta.get("leads_to")
        if target is None:
            return f'<a href="{escape(href)}">' if is_external(href) else "<a>"
        return _anchor(target, env["view"])

    def wikilink(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        token, view = tokens[i], env["view"]
        target: Target | None = token.meta.get("leads_to")
        if target is None:
            return escape(token.content)
        if token.meta["embed"] and target.kind == "file":
            url = relative_url(file_url(target.path), view.base)
            return media_html(target.path, url, token.meta["label"], token.meta["label"])
        if token.meta["embed"] and target.kind == "page":
            return _embed(target, view)
        return f"{_anchor(target, view)}{escape(token.content)}</a>"

    def image(self, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
        token, view = tokens[i], env["view"]
        target: Target | None = token.meta.get("leads_to")
        source = str(token.attrGet("src") or "")
        if target is None and is_external(source):
            # Nothing is loaded from elsewhere: an image out there is a link.
            name = escape(token.content or source)
            return f'<a class="lore-remote" href="{escape(source)}">{name}</a>'
        if target is not None and target.kind == "web":
            return f"{_anchor(target, view)}{escape(token.content or target.path)}</a>"
        if target is None or target.kind == "missing":
            return f'<span class="lore-broken">{escape(token.content or source)}</span>'
        if target.kind == "page":
            return _embed(target, view)
        url = relative_url(file_url(target.path), view.base)
        alt, _, size = token.content.rpartition("|")
        return media_html(target.path, url, size, alt or token.content)


def _anchor(target: Target, view: _View) -> str:
    if target.kind == "missing":
        return f'<a class="lore-broken" title="{escape(target.path)} does not exist">'
    if target.kind == "web":
        return f'<a href="{escape(target.path)}">'
    if target.kind == "file":
        return f'<a class="lore-file" href="{relative_url(file_url(target.path), view.base)}">'
    url = relative_url(view.site.urls[target.path], view.base)
    fragment = f"#{escape(target.anchor)}" if target.anchor else ""
    return f'<a class="lore-link" href="{(url + fragment) or "#"}">'


def _embed(target: Target, view: _View) -> str:
    """Write another page, or a part of it, in place; a cycle or too deep a nest becomes a link."""
    linked = view.site.pages[target.path]
    name = escape(linked.page.title)
    link = f"{_anchor(target, view)}{name}</a>"
    opened = (target.path, target.anchor)
    if opened in view.open_embeds or (target.path, "") in view.open_embeds[1:]:
        return f'<p class="lore-embed-stop">{link}</p>'
    if len(view.open_embeds) > MAX_EMBED_DEPTH:
        return f'<p class="lore-embed-stop">{link}</p>'
    tokens = section_tokens(_linked_tokens(linked), target.anchor)
    inner = _render(without_ids(tokens), replace(view, open_embeds=(*view.open_embeds, opened)))
    return f'<div class="lore-embed"><p class="lore-embed-title">{link}</p>\n{inner}</div>'


def code_html(code: str, language: str, attributes: str = "") -> str:
    """Return highlighted code; an unknown language stays plain."""
    lexer = _lexer(language.lower()) if language and len(code) < _MAX_HIGHLIGHTED else None
    body = highlight(code, lexer, _FORMATTER) if lexer else escape(code)
    css = escape(f"language-{language or 'text'} highlight")
    return f'<div class="{css}"{attributes}><pre><code>{body}</code></pre></div>\n'


_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


@lru_cache(maxsize=256)
def _lexer(language: str) -> Any:
    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None
