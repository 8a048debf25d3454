"""Markdown as GitHub reads it: CommonMark with its extensions, and what it looks for in the rendered text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

# What GitHub makes of text that is not in code; written down from its documentation, apart from what markdown.py does.
LIVE = {
    "mention": r"(?<![A-Za-z0-9_`])@[A-Za-z0-9]",
    "address": r"[A-Za-z0-9]@[A-Za-z0-9-]+\.[A-Za-z0-9]",
    "issue": r"(?<![A-Za-z0-9_])#\d",
    "issue elsewhere": r"[\w-]+/[\w.-]+#\d",
    "GH issue": r"(?i)\bGH-\d",
    "ticket": r"[A-Za-z]{2,}-\d",
    "advisory": r"(?i)\bGHSA-[a-z0-9]",
    "commit": r"(?<![A-Za-z0-9])[0-9a-f]{7,40}(?![A-Za-z0-9])",
    "bare address": r"(?i)\b(?:https?|ftp)://[^\s<]|\bwww\.\w|(?:mailto|xmpp):\w",
    "emoji": r":[a-z0-9_+-]+:",
}
_READ = {"text", "text_special", "softbreak"}


def github() -> MarkdownIt:
    """Links out of bare `example.com` and `//x` are markdown-it's own idea."""
    reader = MarkdownIt("gfm-like", {"html": True})
    assert reader.linkify is not None
    reader.linkify.set({"fuzzy_link": False})
    reader.linkify.add("//", None)
    return reader


def flat(markdown: str) -> list[Token]:
    """All tokens, those inside of lines in their place."""
    blocks = github().parse(markdown)
    return [t for block in blocks for t in (block.children or [] if block.type == "inline" else [block])]


def structure(markdown: str) -> list[str]:
    """What the document is made of, without its words."""
    kinds = [f"{t.type} {t.tag}" for t in flat(markdown)]
    return [k for i, k in enumerate(kinds) if not (k == "text " and i and kinds[i - 1] == k)]


def running_texts(markdown: str) -> Iterator[str]:
    """The texts outside of code, as they are read; those of HTML blocks too."""
    for block in github().parse(markdown):
        if block.type == "inline":
            yield "".join("\n" if t.type == "softbreak" else t.content for t in block.children or [] if t.type in _READ)
        elif block.type == "html_block":
            yield html.unescape(re.sub(r"<[^>]*>", " ", block.content))


def live(texts: Sequence[str]) -> list[tuple[str, str]]:
    """What GitHub would make more of than text."""
    return [(name, m[0]) for text in texts for name, pattern in LIVE.items() for m in re.finditer(pattern, text)]
