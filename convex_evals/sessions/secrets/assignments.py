"""Secrets that are told by a name before them: assignments, flags, cells of tables, elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from convex_evals.sessions.secrets.names import is_literal, kind_of_name
from convex_evals.sessions.secrets.spans import MARKER, MARKER_STARTS, SecretSpan

_RANK = 3
_BLANKS = r"[ \t]{0,20}+"
# `: str | None = `
_TYPE = (
    r"[ \t]{0,9}&?[A-Za-z_](?:[A-Za-z_.\[\]<>]|(?<=[uif])\d{1,3}| ?\| ?){0,40}+"
    r"(?:[ \t]{1,4}+=(?!=)|=(?=\\*[\"'`]))"
)
# The end of a name, what closes it (quotes of any depth of escaping, bold type), and what leads to its value.
_NAME = re.compile(
    r"(?:pass|pwd|pw|secret|token|key|credential|mnemonic|auth|pat)[\w-]{0,40}+(?P<closers>(?:[\\\"'`*\])]|&(?:quot|#x27|#39|#34);){0,20}+)(?:"
    rf"(?P<equals>{_BLANKS}(?:=>|:=|->|→|\|\||\?\?|[!=]?={{1,3}}){_BLANKS})"
    rf"|(?P<colon>{_BLANKS}::?(?:{_TYPE})?{_BLANKS})"
    rf"|(?P<cell>{_BLANKS}\\{{0,4}}\|{_BLANKS})"
    r"|(?P<comma>,[ \t]{0,9}+)|(?P<element>>|&gt;|\\u003[eE])|(?P<attribute>[ \t]{1,4}+value=)"
    r"|(?P<prose>[ \t]{1,4}+(?:is|was)(?:[ \t]*+[:=])?[ \t]{1,4}+)"
    r"|(?P<blank>[ \t]{1,9}+(?:(?:--body|--value|-b)[ \t=]{1,9}+)?))(?:\*{2}[ \t]{0,3}+)?",
    re.ASCII | re.IGNORECASE,
)
_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_LONGEST_NAME, _LONGEST_VALUE = 80, 4096
# What is longer is a secret if it is one token from end to end, and no code.
_LONG_TOKEN = re.compile(r"[\w+/=.~-]++", re.ASCII)
_QUOTE = re.compile(r"(?:[bBrRuUfF]{1,2}|[$@])?(\\{0,40}+[\"'`]|&(?:quot|#x27|#39|#34);)")
_LINE_END = re.compile(r"[\r\n]|\\+[nr](?![\w/-]*[\"'])")
# Of a file of variables or a shell: all that is not blank; elsewhere what code puts behind a value ends it.
_VARIABLE_VALUE = re.compile(r"(?:[^\s\"'`\\]++|\\(?!\\*[nrt\"'`]))++")
_BARE_VALUE = re.compile(r"(?:[^\s\"'`\\,;|<>&)}\]]++|\\(?!\\*[nrt\"'`|]))++")
_ELEMENT_END = re.compile(r"<|&lt;|\\u003[cC]|\Z")
_WORD_BEFORE = re.compile(r"([A-Za-z]{3,16}) \Z")
_UPPER_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
# Of a command: also behind a line end in JSON, or a code of a terminal's colour.
_BEGIN = r"(?:\b|(?<=\\[nrt])|(?<=\[\dm)|(?<=\[\d\dm))"
# Before a name whose value follows without a sign: `aws configure set NAME VALUE`, and files of netrc.
_SETTER = re.compile(rf"{_BEGIN}(?:set[ \t]{{1,5}}|login[ \t]{{1,5}}[^\s\\]{{1,64}}(?:\s|\\{{1,4}}[nrt]){{1,8}})\Z")
# Commands whose short flags take a password.
_COMMAND = re.compile(
    _BEGIN + r"(?:(?:mysql(?:dump|admin|import)?|mariadb(?:-dump)?)\b[^\n|;&]{0,200}?[ \t](?:-p)(?![ \t])"
    r"|sshpass[ \t]{1,5}-p[ \t]{0,5}|redis-cli\b[^\n|;&]{0,100}?[ \t]-a[ \t]{1,5}"
    r"|docker[ \t]{1,5}login\b[^\n|;&]{0,100}?[ \t]-p[ \t]{1,5}"
    r"|curl\b[^\n|;]{0,300}?[ \t](?:-u|--user)[ \t=]{0,5}(?=(?:\\*[\"'])?[\w.@-]{0,64}:))"
)


@dataclass
class _LongRuns:
    """How far long runs of a token's characters were read: each is read once, whatever names are in it."""

    end: int = 0


def find_assigned(text: str) -> Iterator[SecretSpan]:
    """Literal values of names of secrets. Takes time that is linear in the text."""
    at, runs = 0, _LongRuns()
    while match := _NAME.search(text, at):
        # What leads to a value may be a name itself: `key: DB_PASSWORD=...`.
        at = match.end("closers")
        start = _start_of_name(text, match.start())
        kind = kind_of_name(text[start : match.start("closers")]) or _kind_of_two_words(text, start, match)
        if kind is None or text.endswith(MARKER_STARTS[0], 0, start):
            continue
        form = match.lastgroup or ""
        is_upper = _UPPER_NAME.fullmatch(text, start, match.start("closers")) is not None
        if form == "blank" and not _is_flag(text, start):
            if not is_upper and not _SETTER.search(text, max(0, start - _LONGEST_NAME), start):
                continue
            form = "setting"
        is_variable = is_upper and form == "equals" and match["equals"].strip() not in ("||", "??")
        if form == "comma" and not set(match["closers"]) & set("\"'`;"):
            continue
        yield from _value(text, match.end(), kind, form, is_variable, runs)


def find_passwords_of_commands(text: str) -> Iterator[SecretSpan]:
    if " -" not in text:
        return
    at = 0
    while match := _COMMAND.search(text, at):
        at = match.start() + len("curl")  # another command may follow in the same line
        for span in _value(text, match.end(), "password", "flag", True):
            user, colon, password = text[span.start : span.end].partition(":")
            if not match[0].startswith("curl"):
                yield span
            elif colon and is_literal(password, "password"):
                yield span._replace(start=span.start + len(user) + 1)


def _start_of_name(text: str, stem: int) -> int:
    before = text[max(0, stem - _LONGEST_NAME) : stem]
    start = stem - len(before) + len(before.rstrip(_NAME_CHARACTERS))
    # The n of an escaped line end is no part of the name.
    return start + 1 if start < stem and text[start] in "nrt" and text.endswith("\\", 0, start) else start


def _kind_of_two_words(text: str, start: int, match: re.Match[str]) -> str | None:
    """As prose has names: `API key`."""
    if match["prose"] is None and match["colon"] is None:
        return None
    word = _WORD_BEFORE.search(text, max(0, start - 20), start)
    name = text[start : match.start("closers")]
    return kind_of_name(f"{word[1]} {name}".lower()) if word and name.lower() == "key" else None


def _is_flag(text: str, start: int) -> bool:
    return text.startswith("-", start) and text[start : start + 3].strip("-") != ""


def _value(
    text: str, at: int, kind: str, form: str, is_variable: bool, runs: _LongRuns | None = None
) -> Iterator[SecretSpan]:
    runs = runs or _LongRuns()
    quote = _QUOTE.match(text, at)
    if quote is not None and form != "element":
        start, end = quote.end(), _closing(text, quote.end(), quote[1])
        is_quoted = True
        if end - start > _LONGEST_VALUE:
            yield from _long_value(text, start, kind, runs)
            return
    else:
        pattern = _VARIABLE_VALUE if is_variable else _BARE_VALUE
        bare = pattern.match(text, at, at + _LONGEST_VALUE + 1)
        if bare is None or form == "comma" or MARKER.match(text, at):
            return
        start, end = bare.span()
        if end - start > _LONGEST_VALUE:
            yield from _long_value(text, start, kind, runs)
            return
        if form == "element" and not _ELEMENT_END.match(text, end):
            return
        # A table's value is no code, and neither is that of a variable of a shell.
        is_quoted = is_variable or form in ("cell", "flag", "element", "blank", "setting")
        if form in ("colon", "prose", "cell", "blank") and not _stands_out(text[start:end]):
            return
    value = text[start:end].rstrip(".,;:!?") if form == "prose" else text[start:end]
    if form in ("comma", "prose", "cell", "setting") and not any(map(str.isdigit, value)):
        return
    if is_literal(value, kind, quoted=is_quoted):
        yield SecretSpan(start, start + len(value), kind, _RANK)


def _long_value(text: str, start: int, kind: str, runs: _LongRuns) -> Iterator[SecretSpan]:
    """A token that is longer than most, such as an encoded account or a chain of certificates."""
    found = _LONG_TOKEN.match(text, start) if start >= runs.end else None
    if found is None or found.end() - start <= _LONGEST_VALUE:
        return
    runs.end = found.end()
    if is_literal(text[start : start + _LONGEST_VALUE], kind):
        yield SecretSpan(start, found.end(), kind, _RANK)


def _stands_out(value: str) -> bool:
    """Whether this is no word of prose, nor a type."""
    return any(map(str.isdigit, value)) or len(value.split("-")) > 2 or any(mark in value for mark in "!@#%^&+=$")


def _closing(text: str, at: int, quote: str) -> int:
    """Where the text behind an opening `quote` ends: at the same one, or at the end of the line."""
    limit = min(len(text), at + _LONGEST_VALUE + 1)
    end = text.find(quote, at, limit)
    if len(quote) == 1:
        while end > 0 and text[end - 1] == "\\" and (end - len(text[at:end].rstrip("\\")) - at) % 2:
            end = text.find(quote, end + 1, limit)
    if end < 0:
        end = limit
    line_end = _LINE_END.search(text, at, end)
    return line_end.start() if line_end else end
