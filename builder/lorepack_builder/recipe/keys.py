"""The keys of a recipe: what each takes and means."""

from __future__ import annotations

from lorepack.models.registry import DEFAULT_MODEL, NO_MODEL, OPENAI

DOCUMENTED_KEYS: dict[str, dict[str, tuple[str, str]]] = {
    "[pack]": {
        "name": ("text", "the name in addresses and file names: a-z, 0-9 and -"),
        "version": ("text", "the version; letters, digits and . + - _"),
        "title": ("text", "what people see; the name if not given"),
        "date": (
            "a date",
            "the pack's own day, from which weeks and staleness count; if not given, that of "
            "`SOURCE_DATE_EPOCH`, or else the latest of its pages' dates",
        ),
    },
    "[site]": {
        "url": (
            "text",
            "where the site will live, `https://host/path/`; for sitemap, feed and "
            "links that need whole addresses",
        ),
    },
    "[[source]]": {
        "name": ("text", "the first part of its pages' paths: a-z, 0-9 and -"),
        "kind": (
            "text",
            "`vault` (Obsidian), `folder` (documents), `repo` (git: documents and code), `archive` "
            "(zip or tar of any of these), `notion` (an export), or `codewiki`",
        ),
        "path": (
            "text",
            "the folder, file or repository, seen from the recipe's own; for `repo` also a git URL "
            "and for `notion` a page's link or `notion:ID`, read with `NOTION_TOKEN`",
        ),
        "ref": (
            "text",
            "`repo`: a branch, tag or commit; without one, a URL's main branch, or the files as "
            "they lie in a local checkout",
        ),
        "subdir": ("text", "the folder in it to take, alone"),
        "submodules": ("true or false", "`repo`: whether to take submodules, too"),
        "code": ("true or false", "`repo`: whether files of code become pages; true if not given"),
        "holds": (
            "text",
            "`archive`: what is in it, `vault`, `folder`, `repo`, `notion` or `codewiki`, if it "
            "cannot be told",
        ),
        "repo": (
            "text",
            "`codewiki`: the repository that the wiki is about, `owner/name`; without a path, its "
            "wiki is read from Google CodeWiki",
        ),
        "include": ("a list", "patterns to take, as in .gitignore; all files if not given"),
        "exclude": ("a list", "patterns to leave out, as in .gitignore"),
        "licence": ("text", "under what terms it may be used; shown on the site"),
        "lang": ("text", "the language of its pages, where they do not say; else it is guessed"),
    },
    "[[dependency]]": {
        "ecosystem": ("text", "where the package comes from: `pypi`, `npm`, `maven` …"),
        "package": ("text", "its name there"),
        "version": ("text", "the version that the project asks for, as written"),
        "repo": ("text", "its repository, `owner/name`"),
        "source": ("text", "the name of the source that covers it, if one does"),
    },
    "[embed]": {
        "model": (
            "text",
            f"`{DEFAULT_MODEL}` if not given, `bge-small-en-v1.5` (extra `rerank`), `{OPENAI}NAME` "
            "for an endpoint (`OPENAI_BASE_URL`, `OPENAI_API_KEY`), a folder with `model.onnx` and "
            f"`tokenizer.json`, seen from the recipe's own, or `{NO_MODEL}` for words only",
        ),
        "carry": (
            "true or false",
            "whether the pack carries the model that questions need, so that any machine can ask "
            "by meaning",
        ),
    },
    "[[eval]]": {
        "query": ("text", "a golden question"),
        "expect": ("text", "the page that answers it, or page#anchor; `lorepack eval` checks it"),
    },
    "[lint]": {
        "rules": (
            "a table",
            "a severity for a rule, `error`, `warning` or `info`, or `off`: "
            '`rules = { orphan = "off" }`; a page leaves rules out with `lint_ignore: [orphan]` '
            "in its frontmatter, or `lint_ignore: all`",
        ),
        "stale_days": ("a whole number", "days after which a page is stale; 90 if not given"),
        "summary_characters": ("a whole number", "how long a summary may be; 200 if not given"),
        "page_kilobytes": ("a whole number", "how large a page may be; 500 if not given"),
    },
    "[tags]": {
        "taxonomy": (
            "text",
            "what lists the tags that are allowed: a page of the pack (`guide/tags.md`), or a "
            "file, seen from the recipe's own",
        ),
    },
    "[memory]": {
        "tool_keys": (
            "a list",
            "properties that name the AI tool which wrote a page, the first that is there; "
            "`tool`, `ai_tool`, `agent` and `generator` if not given",
        ),
    },
    "[chunk]": {
        "max_tokens": ("a whole number", "a longer section is split; 32 to 512, 256 if not given"),
    },
}
"""What a recipe may say, by table: the type and the meaning of each key."""
