"""Write the docs that follow from the code: CLI help, tool schemas, recipe keys.

``python docs/generate.py`` writes them; ``--check`` fails when one is stale.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from lorepack.cli import cli
from lorepack.cli.config import ENVIRONMENT, PREFIX, option_names
from lorepack.pack.rules import RULES
from lorepack_builder import recipe
from lorepack_server.tools.profiles import PROFILES

DOCS = Path(__file__).parent


def cli_reference() -> str:
    """Return every command's help."""
    parts = ["# Commands\n"]
    for path, command in _commands(cli, "lorepack"):
        context = click.Context(command, info_name=path, terminal_width=88, max_content_width=88)
        parts.append(f"## {path}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _commands(inner, f"{path} {name}")


_TOOLS = """\
# MCP tools

Every answer is whole in its text: many clients show their model structured content alone where
there is any, so that there is none. Over HTTP, `/api/NAME/TOOL` gives the same as JSON.

- An answer has at most 7,500 characters, or as many tokens as `maxTokens` says. What is left out is
  said in its last line, with the `cursor` that gets it.
- A page may be named by its path, with or without `.md` and in any case, by title or alias,
  `[[wikilink]]`, `path#anchor`, `path:16-22` as passages are cited, any address that the server
  gave, or a symbol's qualified name. Where several are meant, all are listed.
- Citations in an answer are short, `guide/install.md:16-22`; its first line says where they are
  below. `http://HOST/site/NAME/~/guide/install.md:16-22` leads to the section.
- Numbers and lists may come as text, `null` is nothing, a number out of range is brought into it
  with a note, and an unknown argument is refused with the nearest name.
- `/mcp` itself, or `lorepack mcp A B C`, answers for several packs at once: there is `list_packs`,
  and every tool takes `pack`, one or several.
"""


def tool_reference() -> str:
    """Return every tool's description and input schema, by profile."""
    parts = [_TOOLS]
    for profile, specs in PROFILES.items():
        parts.append(f"## Profile `{profile}`\n")
        for spec in specs:
            schema = json.dumps(spec.input_schema, indent=2)
            text = spec.description.replace("{pack}", "the pack")
            parts.append(f"### `{spec.name}`\n\n{text}\n\n```json\n{schema}\n```\n")
    return "\n".join(parts)


def recipe_reference() -> str:
    """Return every key of a recipe."""
    parts = ["# Recipes\n\nA recipe is a TOML file, by habit `packs/NAME.toml`.\n"]
    for table, keys in recipe.DOCUMENTED_KEYS.items():
        rows = "\n".join(f"| `{key}` | {wanted} | {says} |" for key, (wanted, says) in keys.items())
        parts.append(f"## `{table}`\n\n| key | is | says |\n|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def config_reference() -> str:
    """Return every option with its variable and its key in lorepack.toml."""
    parts = [
        "# Configuration\n\nA flag wins over its environment variable, and that over "
        "`lorepack.toml`: the file that `--config` or `LOREPACK_CONFIG` names, or the one in the "
        "working directory, or else in the user's configuration folder. It has a table for each "
        "command, `[serve]` for `lorepack serve`.\n"
    ]
    for path, command in _commands(cli, "lorepack"):
        rows = [_option_row(path, command, key) for key in option_names(command)]
        rows = [row for row in rows if row]
        if rows and " " in path:
            head = "| key | variable | if not given | says |\n|---|---|---|---|\n"
            parts.append(f"## `[{'.'.join(path.split()[1:])}]`\n\n{head}" + "\n".join(rows) + "\n")
    rows = [f"| `{name}` | {says} |" for name, says in ENVIRONMENT.items()]
    parts.append("## Other variables\n\n| variable | says |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _option_row(path: str, command: click.Command, key: str) -> str:
    name = option_names(command)[key]
    option = next(param for param in command.params if param.name == name)
    if not isinstance(option, click.Option):
        return ""
    variable = option.envvar or "_".join([PREFIX, *path.split()[1:], name]).upper()
    default = "" if option.default is None or not str(option.default) else f"`{option.default}`"
    if callable(option.default) or "UNSET" in default.upper():
        default = ""
    return f"| `{key}` | `{variable}` | {default} | {option.help or ''} |"


def rule_reference() -> str:
    """Return every rule of lint."""
    parts = [
        "# Rules of lint\n\nA recipe gives a rule another severity, or `off`: "
        '`[lint] rules = { orphan = "off" }`. A page leaves some out: '
        "`lint_ignore: [orphan, stale-page]` in its frontmatter, or `lint_ignore: all`.\n"
    ]
    rows = "\n".join(f"| `{rule.id}` | {rule.severity} | {rule.says} |" for rule in RULES.values())
    parts.append(f"| rule | severity | finds |\n|---|---|---|\n{rows}\n")
    return "\n".join(parts)


GENERATED = {
    "rules.md": rule_reference,
    "config.md": config_reference,
    "cli.md": cli_reference,
    "tools.md": tool_reference,
    "recipe.md": recipe_reference,
}


def main() -> int:
    """Write or check all generated docs; return the exit code."""
    stale = []
    for name, write in GENERATED.items():
        path, text = DOCS / name, write()
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"stale: {', '.join(stale)}; run `make docs`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
