"""Rules about what a page should not hold: secrets, and text that is meant for an agent's eyes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from ahocorasick_rs import AhoCorasick

from lorepack.text.invisible import first_hidden
from lorepack_builder.convert.decode import decode
from lorepack_builder.lint.report import finding
from lorepack_builder.model import Finding, Page, SourceFile

_SECRETS = {
    "a private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "a key of AWS": r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])",
    "a token of GitHub": r"\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{60,}",
    "a token of GitLab": r"\bglpat-[\w-]{20,}",
    "a token of Slack": r"\bxox[abeprs]-[A-Za-z0-9-]{20,}"
    r"|hooks\.slack\.com/services/T\w{6,}/B\w{6,}/\w{20,}",
    "a key of Google": r"\bAIza[\w-]{35}(?![\w-])",
    "a key of Stripe": r"\b[rs]k_live_[A-Za-z0-9]{20,}",
    "a key of a model's service": r"\bsk-(?:ant|proj|svcacct)-[\w-]{32,}|\bsk-[A-Za-z0-9]{40,}"
    r"|\bhf_[A-Za-z0-9]{30,}",
    "a token of a package index": r"\bnpm_[A-Za-z0-9]{36}|\bpypi-AgE[\w-]{40,}",
    "a key of SendGrid": r"\bSG\.[\w-]{22}\.[\w-]{43}",
    "a token of DigitalOcean": r"\bdo[opr]_v1_[0-9a-f]{64}",
    "a token of Notion": r"\b(?:secret|ntn)_[A-Za-z0-9]{43,}",
    "a password in an address": r"://[^\s/:@'\"<>]{1,64}:(?=[^\s/@]*\d)(?=[^\s/@]*[A-Za-z])"
    r"[^\s/@:'\"<>${}]{10,64}@",
}
_SECRET = re.compile("|".join(f"(?P<s{n}>{form})" for n, form in enumerate(_SECRETS.values())))
_NAMES = tuple(_SECRETS)
_SECRET_SIGNS = AhoCorasick([
    "PRIVATE KEY", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
    "xox", "hooks.slack.com", "AIza", "k_live_", "sk-", "hf_", "npm_", "pypi-AgE", "SG.", "_v1_",
    "secret_", "ntn_",
])  # fmt: skip
"""One of them is in every secret; a line without any need not be looked at."""
_IN_ADDRESS = re.compile(_SECRETS["a password in an address"])
_MADE_UP = re.compile(r"example|x{4}|0{6}|1234567|abcdef|your|placeholder|password", re.IGNORECASE)
_FEWEST_CHARACTERS = 8
"""Different ones that a secret has; what has fewer was made up."""
_KEPT_IN = frozenset({
    ".cfg", ".conf", ".env", ".ini", ".json", ".key", ".pem", ".properties", ".sh", ".toml",
    ".yaml", ".yml",
})  # fmt: skip
"""Suffixes of files that are no pages, and like to hold secrets."""
_LARGEST = 1 << 18

_FOR_AGENTS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|"
    r"preceding|all|your|system)\b[^.\n]{0,20}\b(?:instructions?|prompts?|directives?|guidelines)\b"
    r"|\byou are now (?:an? |in )?[^.\n]{0,30}\b(?:assistant|agent|ai|mode|model)\b"
    r"|\b(?:do not|don't|never) (?:tell|inform|alert|mention (?:this|it) to)[^.\n]{0,15}\buser\b"
    r"|\b(?:ai|coding|llm) (?:agents?|assistants?|models?)\b[^.\n]{0,20}\b(?:must|should)\b"
    r"[^.\n]{0,30}\b(?:run|execute|send|upload|fetch|delete|ignore|forward)\b"
    r"|\b(?:begin|new|updated) system (?:prompt|instructions?)\b"
    r"|<\|(?:im_start|im_end|system|endoftext)\|>|\[/?INST\]|<</?SYS>>"
    r"|\b(?:önceki|yukarıdaki|tüm|bütün)\b[^.\n]{0,25}\b(?:talimat|yönerge|komut)\w*[^.\n]{0,20}"
    r"\b(?:yok ?say|görmezden gel|unut|dikkate alma)"
    r"|(?:忽略|无视|忘记|忘掉|不要理会)[^。\n]{0,10}(?:之前|以上|上面|上述|先前|此前|所有)"
    r"[^。\n]{0,8}(?:指令|指示|提示|命令|规则)",
    re.IGNORECASE,
)


_AGENT_SIGNS = AhoCorasick([
    "ignore", "disregard", "forget", "override", "you are now", "tell the user", "tell user",
    "inform the user", "inform user", "alert the user", "mention this to", "mention it to", "agent",
    "assistant", "ai model", "coding model", "llm model", "system prompt", "system instruction",
    "<|im_", "<|system", "<|endoftext", "inst]", "sys>>", "talimat", "yönerge", "komut", "忽略",
    "无视", "忘记", "忘掉", "不要理会",
])  # fmt: skip


def hygiene_findings(page: Page) -> Iterator[Finding]:
    """Yield secrets, text that addresses an agent, and text that cannot be seen, each by line."""
    yield from secrets_in(page.body, page.path, page.body_line)
    yield from secrets_in(page.properties, page.path, 2)
    # Some small letters have another length, but line ends are the same.
    small = page.body.lower()
    signs = _AGENT_SIGNS.find_matches_as_indexes(small)
    lines = page.body.split("\n") if signs else []
    for number in dict.fromkeys(_numbers(small, (start for _, start, _ in signs))):
        if match := _FOR_AGENTS.search(lines[number]):
            said = " ".join(match[0].split())[:60]
            yield finding(
                "agent-instructions", page.path, page.body_line + number,
                f"addresses an agent (“{said}”)", "take it out, if the page is not about that",
            )  # fmt: skip
    at = first_hidden(page.body)
    if at is not None:
        code = ord(page.body[at])
        yield finding(
            "hidden-text", page.path, page.body_line + _line(page.body, at),
            f"has characters that cannot be seen (U+{code:04X})", "take them out",
        )  # fmt: skip


def file_secrets(files: Sequence[SourceFile], pages: frozenset[str]) -> Iterator[Finding]:
    """Yield secrets in files that are no ``pages`` (paths), of kinds that like to hold them."""
    for file in files:
        name = PurePosixPath(file.path)
        kept = name.suffix.lower() in _KEPT_IN or name.name.startswith(".env")
        if not kept or file.path in pages:
            continue
        try:
            if file.disk.stat().st_size <= _LARGEST:
                yield from secrets_in(decode(file.disk.read_bytes()).text, file.path, 1)
        except OSError:
            continue


def secrets_in(text: str, path: str, first_line: int) -> Iterator[Finding]:
    """Yield the secrets of a text, which no finding repeats."""
    signs = _SECRET_SIGNS.find_matches_as_indexes(text)
    numbers = {
        *_numbers(text, (start for _, start, _ in signs)),
        *_numbers(text, (match.start() for match in _IN_ADDRESS.finditer(text))),
    }
    lines = text.split("\n") if numbers else []
    for number in sorted(numbers):
        for match in _SECRET.finditer(lines[number]):
            secret = match[0]
            if _MADE_UP.search(secret) or len(set(secret)) < _FEWEST_CHARACTERS:
                continue
            name = _NAMES[int((match.lastgroup or "s0")[1:])]
            fix = "revoke it, and take it out of the source and its history"
            yield finding("secret", path, first_line + number, f"holds {name}", fix)


def _numbers(text: str, positions: Iterable[int]) -> Iterator[int]:
    """Yield the lines, from 0, in which ascending positions stand; each is counted on from."""
    number = last = 0
    for position in positions:
        number += text.count("\n", last, position)
        last = position
        yield number


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position)
