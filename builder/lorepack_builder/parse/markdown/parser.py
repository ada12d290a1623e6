"""The one Markdown parser: chunks, links and the site all come from its tokens."""

from __future__ import annotations

from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from lorepack_builder.convert.anchors import set_anchors
from lorepack_builder.parse.markdown.block_ids import set_block_ids
from lorepack_builder.parse.markdown.callouts import make_callouts
from lorepack_builder.parse.markdown.highlight import highlight_plugin
from lorepack_builder.parse.markdown.spaced_links import spaced_link_rule
from lorepack_builder.parse.markdown.tables import table_rule
from lorepack_builder.parse.markdown.tags import split_text
from lorepack_builder.parse.markdown.tasks import make_tasks
from lorepack_builder.parse.markdown.wikilinks import wikilink_rule


def parse_tokens(body: str) -> list[Token]:
    """Return the tokens of a page's body, from which comments have been taken.

    Beyond CommonMark's types there are ``wikilink`` (meta: target, fragment, label, embed),
    ``tag`` (content: the tag), ``callout_open`` (meta: kind, fold), ``task`` (meta: mark) and
    ``mark_open``. Headings and marked blocks carry their anchor as the attribute ``id``.
    """
    env: dict[str, Any] = {}
    return _parser().parse(body, env)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    # A blank line or two more nesting levels than any author writes, but no stack overflow.
    parser.options["maxNesting"] = 40
    # Generated wikis cite files so; what is rendered keeps no such address.
    refuse = parser.validateLink
    parser.validateLink = lambda url: url.startswith("file://") or refuse(url)  # type: ignore[method-assign]
    parser.use(footnote_plugin)
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    parser.use(highlight_plugin)
    parser.block.ruler.at("table", table_rule, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.before("link", "wikilink", wikilink_rule)
    parser.inline.ruler.after("image", "spaced_link", spaced_link_rule)
    # Before escaped signs become plain text: `\\#` begins no tag.
    parser.core.ruler.before("text_join", "split_text", split_text)
    for rule in (make_callouts, make_tasks, set_block_ids, set_anchors):
        parser.core.ruler.push(rule.__name__, rule)
    return parser
