"""What names a person: e-mail addresses and home folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from convex_evals.sessions.secrets.spans import EMAIL, HOME_FOLDER, SecretSpan
from convex_evals.sessions.secrets.vocabulary import words

_RANK = 5
_AT = re.compile("@|%40")
_LOCAL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+-"
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?")
_TOP = re.compile(r"[A-Za-z]{2,24}")
_FILES = words(
    "png jpg jpeg gif svg webp ico avif ts js tsx jsx mjs cjs json css scss html svelte vue yaml yml toml lock txt cpp "
    "hpp exe dll zip tar gz tgz map snap log"
)
_EXAMPLES = frozenset(("example", "test", "invalid", "localhost"))
_EXAMPLE_HOSTS = ("example.com", "example.org", "example.net")
_NOBODY = frozenset(("noreply@anthropic.com", "noreply@github.com", "no-reply@github.com"))


def find_emails(text: str) -> Iterator[SecretSpan]:
    """E-mail addresses of people: none of examples, of Git remotes, or of versions of packages."""
    for at in _AT.finditer(text):
        host = _HOST.match(text, at.end(), at.end() + 255)
        before = text[max(0, at.start() - 64) : at.start()]
        local = before[len(before.rstrip(_LOCAL)) :].lstrip(".%+-")
        start = at.start() - len(local)
        if local[:1] in ("n", "r", "t") and text.endswith("\\", 0, start):
            local, start = local[1:], start + 1
        if host and local.strip(".%+-_") and _is_personal(local, host[0]) and not _is_in_address(text, start):
            yield SecretSpan(start, host.end(), EMAIL, _RANK)


def _is_personal(local: str, host: str) -> bool:
    labels = host.lower().split(".")
    if len(labels) < 2 or not _TOP.fullmatch(labels[-1]) or labels[-1] in _FILES or labels[-1] in _EXAMPLES:
        return False
    if local == "git" or f"{local}@{host}".lower() in _NOBODY:
        return False
    return not f".{host.lower()}".endswith(tuple(f".{each}" for each in _EXAMPLE_HOSTS))


def _is_in_address(text: str, start: int) -> bool:
    """Whether this is `user:password@host` or `user@host` behind `https://`: no mailbox."""
    before = text[max(0, start - 200) : start]
    return re.search(r"://[^\s/?#\"'<>]*\Z", before) is not None


_SEPARATOR = r"[\\/]{1,16}+"
_NAME = r"(?:\w[\w.-]{0,63}(?: [\w.-]{1,40}){0,3}(?=[\\/])|\w[\w.-]{0,63})"
_HOME = re.compile(rf"{_SEPARATOR}(?:home|[Uu]sers){_SEPARATOR}(?P<name>{_NAME})")
_DRIVE = re.compile(r"(?:/mnt/[a-z]|(?<![\w.])/[a-zA-Z]|(?<![A-Za-z0-9])[A-Za-z](?::|%3[Aa]))\Z")
_REMOTE = re.compile(r"(?:wsl|remote|localhost|file:|ssh:|sftp:)\S*\Z")
_DASHED = re.compile(r"(?:(?<![\w~-])|(?<=\\[nrt]))(?:[A-Za-z]-)?-(?:home|Users)-(?P<name>[^\W_][^\W_]*)")
# Of containers, CI and systems, and of documentation.
_NOBODYS = words(
    "runner vscode node ubuntu user app coder codespace gitpod circleci vagrant ec2-user shared public default root "
    "linuxbrew username you yourname your-name name sandbox jovyan builder docker all default.migrated"
)
_CODE = re.compile(r"\.(?:ts|js|tsx|jsx|py|html|css|vue|svelte|json|md)\Z")


def find_homes(text: str) -> Iterator[SecretSpan]:
    """Home folders of people, as paths of any system and as Claude Code's names of folders."""
    for match in _HOME.finditer(text):
        name = match["name"].rstrip(".- ")
        start = _start_of_home(text, match)
        if start is not None and name.lower() not in _NOBODYS and not _CODE.search(name):
            yield SecretSpan(start, match.start("name") + len(name), HOME_FOLDER, _RANK)
    for match in _DASHED.finditer(text):
        if match["name"].lower() not in _NOBODYS:
            yield SecretSpan(match.start(), match.end(), HOME_FOLDER, _RANK)


def _start_of_home(text: str, match: re.Match[str]) -> int | None:
    before = text[max(0, match.start() - 60) : match.start()]
    if drive := _DRIVE.search(before):
        return match.start() - len(drive[0])
    is_windows = "\\" in match[0]
    if "users" in match[0] and not is_windows:
        return None  # a route of a web service
    last = before[-1:]
    is_escape = last in ("n", "r", "t") and before[-2:-1] == "\\"
    if (
        (last.isalnum() or last in ("_", ".", "~", "}", ")", "-"))
        and last
        and not is_escape
        and not _REMOTE.search(before)
    ):
        return None
    slashes = len(match[0]) - len(match[0].lstrip("\\/"))
    return match.start() if is_windows else match.start() + slashes - 1


class HomeFolder:
    """The home folder of the user of this machine, wherever it is."""

    def __init__(self, home: Path) -> None:
        path = str(home).rstrip("/\\")
        forms = [re.escape(path), re.escape(path.replace("\\", "/")), re.escape(re.sub(r"[^A-Za-z0-9]", "-", path))]
        if "\\" in path:
            forms.append(_SEPARATOR.join(map(re.escape, path.split("\\"))))
        is_personal = path not in ("", "/root") and len(path) > 3
        self._pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(dict.fromkeys(forms))})(?![\w])") if is_personal else None

    def find(self, text: str) -> Iterator[SecretSpan]:
        if self._pattern is not None:
            for match in self._pattern.finditer(text):
                yield SecretSpan(*match.span(), HOME_FOLDER, _RANK)
