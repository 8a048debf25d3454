"""Secrets in headers, cookies, addresses and blocks of private keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from convex_evals.sessions.secrets.names import is_literal, is_placeholder, kind_of_name
from convex_evals.sessions.secrets.patterns import has_digit
from convex_evals.sessions.secrets.spans import MARKERS, SecretSpan

_RANK = 2
_AUTHORIZATION = re.compile(
    r"authorization(?:[\\\"'`*\]]{0,12}+[ \t]{0,9}+(?:[:=,]|=>)[ \t*]{0,9}+(?:[bf](?=[\\\"'`]))?[\\\"'`]{0,12}+)"
    r"(?:(?P<scheme>bearer|basic|token|apikey|digest|negotiate|splunk)(?:[ \t]{1,5}+|%20|\+))?"
    r"(?P<value>(?!authorization)[\w.~+/=:|-]{6,4096}+)",
    re.ASCII | re.IGNORECASE,
)
_BEARER = re.compile(r"bearer(?:[ \t]{1,5}+|%20)([\w.~+/=|-]{20,8192}+)", re.ASCII | re.IGNORECASE)
_COOKIE = re.compile(r"cookie[\\\"'`*\]]{0,12}+(?:[ \t]{0,9}+[:=,]|(?<=--cookie)[ \t]{1,5}+)", re.IGNORECASE)
_COOKIES = re.compile(r"[ \t*\\\"'`]{0,12}+((?:[^\r\n\"'`\\]|\\(?!\\*[nr\"']))*+)")
_PAIR = re.compile(r"(?<![\w.-])([\w.-]{1,64}+)=([^;,\s]{6,4096}+)", re.ASCII)
_ATTRIBUTES = frozenset(("path", "domain", "expires", "max-age", "samesite", "version", "priority"))
_SESSION = re.compile(r"(?i)sess|sid\b|auth|token|jwt|csrf|xsrf|login|remember|connect|sso|secret")
_ADDRESS = re.compile(
    r":\\{0,8}/\\{0,8}/(?:(?P<user>[^\s/?#:@\[\"'`<>\\]{0,100}+):(?P<password>[^\s/?#\"'`<>\\]{1,200})@"
    r"|(?P<token>[\w~.-]{16,200}+)(?::x-oauth-basic)?@)"
)


# A line of `.pgpass`: host, port, database, user, password.
_PGPASS = re.compile(
    r"(?:^|(?<=\\n))[\w.*-]{1,100}:(?:\d{4,5}|\*):(?!\d)[\w.*-]{1,64}:(?!\d)[\w.*@-]{1,64}:"
    r"((?:[^\s:\\\"'`]|\\[:\\]){4,200}+)(?=$|[\s\\\"'`])",
    re.ASCII | re.MULTILINE,
)


def find_pgpass(text: str) -> Iterator[SecretSpan]:
    """Passwords of PostgreSQL's password file."""
    for match in _PGPASS.finditer(text):
        if is_literal(match[1], "password"):
            yield SecretSpan(*match.span(1), "password", _RANK)


def find_authorization(text: str) -> Iterator[SecretSpan]:
    """What is behind `Authorization:`, and what is behind `Bearer` anywhere."""
    for match in _AUTHORIZATION.finditer(text):
        value = match["value"]
        if match["scheme"] or (len(value) >= 16 and has_digit(value)):
            yield from _checked(match, "value", "authorization", weak=not match["scheme"])
    for match in _BEARER.finditer(text):
        if has_digit(match[1]):
            yield from _checked(match, 1, "authorization")


def _checked(match: re.Match[str], group: int | str, kind: str, weak: bool = False) -> Iterator[SecretSpan]:
    value = match[group]
    is_secret = is_literal(value, kind) if weak else not is_placeholder(value) and (has_digit(value) or len(value) > 12)
    if is_secret and not re.fullmatch(r"(?:[A-Za-z_]+\.)+[A-Za-z_]+", value):
        yield SecretSpan(*match.span(group), kind, _RANK)


def find_cookies(text: str) -> Iterator[SecretSpan]:
    """Values of cookies in `Cookie:` and `Set-Cookie:` that name a session, or look like nothing else."""
    at = 0
    while found := _COOKIE.search(text, at):
        line = _COOKIES.match(text, found.end(), found.end() + 8192)
        at = found.end() if line is None else max(line.end(), found.end())
        for pair in _PAIR.finditer(text, found.end(), at):
            name, value = pair[1], pair[2]
            if name.lower() in _ATTRIBUTES or is_placeholder(value) or MARKERS.fullmatch(value) or "(" in value:
                continue
            if (_SESSION.search(name) and has_digit(value)) or is_literal(value, kind_of_name(name) or "cookie"):
                yield SecretSpan(*pair.span(2), "cookie", _RANK)


def find_addresses(text: str) -> Iterator[SecretSpan]:
    """Passwords and tokens in addresses: `postgres://user:password@host`."""
    for match in _ADDRESS.finditer(text):
        group = "password" if match["password"] else "token"
        value = match[group]
        if group == "token" and not has_digit(value):
            continue
        if not is_placeholder(value) and not MARKERS.fullmatch(value) and value not in ("pw", "port"):
            yield SecretSpan(*match.span(group), "url-password", _RANK)


_EDGE = re.compile(r"-{4,5} ?(BEGIN|END)[A-Z0-9 ]{0,40}? PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_BETWEEN = r"(?:[\s\"'`,+>|#:*\d→-]|\\+[nrt\"'])*+"
_HEADERS = (
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Public-Lines|Private-Lines|Encryption)[^\n\\]{0,100}+)"
)
_BODY = re.compile(rf"(?:{_BETWEEN}(?:{_HEADERS}|[A-Za-z0-9+/=]{{8,}}+))*+")
_RANDOM = re.compile(r"[A-Za-z0-9+/]{16,}")
_LONGEST_KEY = 100_000
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d")
_PUTTY_END = re.compile(r"Private-MAC: ?[0-9a-f]{8,}+")
_PUTTY_KEY = re.compile(r"Private-Lines: ?\d+")


def find_private_keys(text: str) -> Iterator[SecretSpan]:
    """Blocks of private keys, also escaped in JSON, behind line numbers, or cut off."""
    if "PRIVATE KEY" in text:
        yield from _blocks(text)
    if "PuTTY-User-Key-File-" in text:
        done = 0  # what belongs to a key already
        for match in _PUTTY_KEY.finditer(text):
            if match.start() < done:
                continue
            body = _BODY.match(text, match.end())
            done = body.end() if body else match.end()
            end = _PUTTY_END.match(text, done)
            done = end.end() if end else done
            if _RANDOM.search(text, match.end(), done):
                yield SecretSpan(match.end(), done, "private-key", 0)


def _blocks(text: str) -> Iterator[SecretSpan]:
    begin: re.Match[str] | None = None
    for edge in _EDGE.finditer(text):
        if edge[1] == "BEGIN":
            if begin is not None:
                yield from _cut(text, begin)
            begin = edge
        elif begin is not None:
            if edge.end() - begin.start() > _LONGEST_KEY:
                yield from _cut(text, begin)
            elif _RANDOM.search(text, begin.end(), edge.start()):
                yield SecretSpan(begin.start(), edge.end(), "private-key", 0)
            begin = None
    if begin is not None:
        yield from _cut(text, begin)


def _cut(text: str, begin: re.Match[str]) -> Iterator[SecretSpan]:
    """A key whose end is not there."""
    body = _BODY.match(text, begin.end())
    end = body.end() if body else begin.end()
    if _RANDOM.search(text, begin.end(), end):
        yield SecretSpan(begin.start(), end, "private-key", 0)
