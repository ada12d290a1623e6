"""The rules that findings name, for reports, recipes and documentation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""The gravest first."""


def as_severe_as(severity: str) -> tuple[Severity, ...]:
    """Return ``severity`` and those that are graver."""
    return tuple(s for n, s in enumerate(SEVERITIES) if severity in SEVERITIES[n:])


@dataclass(frozen=True)
class Rule:
    """What a rule finds, and how grave that is unless a recipe says otherwise."""

    id: str
    severity: Severity
    says: str


_RULES = (
    Rule("agent-instructions", "warning", "A page's text addresses an agent."),
    Rule("ambiguous-link", "info", "A link could mean several files."),
    Rule("archived-target", "info", "A page links to one that is archived."),
    Rule("bad-csv", "error", "A table of a Notion export cannot be read."),
    Rule("bad-date", "info", "A date in the frontmatter is none."),
    Rule("bad-file", "error", "A file is not of the form that its name says."),
    Rule("bad-frontmatter", "warning", "The frontmatter is not valid YAML."),
    Rule("bad-tag", "info", "A tag in the frontmatter cannot be one."),
    Rule("bad-text", "warning", "A file's text cannot be decoded whole."),
    Rule("broken-link", "warning", "A link leads nowhere."),
    Rule("duplicate-title", "info", "Two pages of a source have one title."),
    Rule("empty-page", "warning", "A page has no text."),
    Rule("hidden-text", "warning", "A page has characters that cannot be seen, on purpose."),
    Rule("left-out", "info", "A file is left out: made by a program, or a template."),
    Rule("lfs-pointer", "info", "A file's content is kept elsewhere (git LFS)."),
    Rule("long-summary", "info", "A summary is longer than a list can show."),
    Rule("lost-module", "warning", "A generated wiki's tree names a page that is not there."),
    Rule("lost-page", "info", "A generated wiki lists a page that has no file."),
    Rule("lost-row", "info", "A row of a Notion database has no page in the export."),
    Rule("missing-anchor", "warning", "A link's heading or block is not on its page."),
    Rule("missing-attachment", "warning", "A picture or another attachment is not there."),
    Rule("no-module", "info", "A generated wiki's page is not in its tree."),
    Rule("open-comment", "warning", "A comment never closes."),
    Rule("orphan", "info", "No page links to this one."),
    Rule("oversize-page", "warning", "A page is too large to be read as one."),
    Rule("secret", "error", "A source holds a key, a token or a password."),
    Rule("self-link", "info", "A page links to itself."),
    Rule("skipped-file", "warning", "A file is not read: its name or kind is unsafe."),
    Rule("stale-page", "info", "A page has not been touched for long."),
    Rule("submodule", "info", "A submodule is left out."),
    Rule("tag-unlisted", "warning", "A tag is not in the taxonomy."),
    Rule("tag-variant", "info", "A tag is another one, written differently."),
    Rule("uncommitted", "warning", "A checkout differs from its commit."),
    Rule("unknown-lifecycle", "warning", "A lifecycle is none that is known."),
    Rule("unreadable", "error", "A file cannot be read."),
)
RULES: Mapping[str, Rule] = {rule.id: rule for rule in _RULES}
