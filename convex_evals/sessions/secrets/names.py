"""Names of secrets (`DB_PASSWORD`, `clientSecret`, `--api-key`), and which values under them are literal."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from convex_evals.sessions.secrets import vocabulary
from convex_evals.sessions.secrets.spans import MARKERS

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@lru_cache(4096)
def kind_of_name(name: str) -> str | None:
    """What a value of this name is, `password` say; None where the name is none of a secret."""
    words = [word.lower() for word in _WORDS.findall(name[-100:])]
    while len(words) > 1 and (words[-1] in vocabulary.QUALIFIERS or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    kind = _kind(last, before, words)
    is_harmless = before in vocabulary.HARMLESS and last not in vocabulary.PASSWORDS
    if kind is None or is_harmless or not vocabulary.PUBLIC.isdisjoint(words):
        return None
    provider = next((word for word in words if word in vocabulary.PROVIDERS), None)
    if kind in ("password", "passphrase") or kind.startswith("aws-") or provider is None:
        return kind
    return f"{provider}-{'token' if kind == 'token' else 'key'}"


def _kind(last: str, before: str, words: list[str]) -> str | None:
    if last in vocabulary.PASSWORDS or last in vocabulary.SHORT_PASSWORDS or last.endswith(("password", "passwd")):
        return "passphrase" if last in ("passphrase", "mnemonic") else "password"
    if last in vocabulary.JOINED:
        return "aws-secret-key" if last == "accesskey" and "secret" in words else vocabulary.JOINED[last]
    if last == "key" and (before in vocabulary.KEYS or before in vocabulary.PROVIDERS):
        if words[-3:-1] == ["secret", "access"] or ("aws" in words and before == "secret"):
            return "aws-secret-key"
        return f"{before}-key" if before in vocabulary.KEYS else "api-key"
    if last in vocabulary.SECRETS:
        if last == "token" and {"aws", "session"} <= set(words):
            return "aws-session-token"
        if last == "auth" and len(words) > 1:
            return None
        return "token" if last in ("token", "pat", "auth") else "client-secret" if before == "client" else "secret"
    return None


_VARIABLE = re.compile(
    r"\$\{|\{\{|\$\(|\$\w*[A-Za-z_]\w*\Z|#\{|%\(|%s|%[A-Z_]+%|\{\w*(?:![ars])?(?:\}|\Z)|<[^>]*>\Z|\[[\w ]+\]\Z|@\w+@\Z"
)
_REFERENCE = re.compile(r"(?i)(?:process\.env|os\.environ|getenv|import\.meta|secrets\.|env\.|vars\.|config\.)")
_NUMBERED_WORDS = re.compile(r"[A-Za-z]+(?:[-_ ./:][A-Za-z]+)*[-_ .]?\d{1,3}")
_IDENTIFIER = re.compile(r"!{0,2}[A-Za-z_]\w*(?:(?:\?\.|!?\.)[A-Za-z_]\w*)*")
_CALL = re.compile(r"(?:await|new)?[\w$.!?\]\[<>]*\(|[A-Za-z_][A-Za-z_.?!]*\[[\w.]*\Z")
# Of a regular expression: `[a-z]{20}`, `(?:a|b)`.
_PATTERN = re.compile(r"\^?\(?(?:\?[:P!=<]|\[[^\]]{1,60}\][{*+)])")
_PATH = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]|[\w./-]+\."
    r"(?:cer|cfg|conf|crt|csv|env|html|ini|jks|jsx?|json|key|log|md|mjs|p12|pem|pfx|pub|py|sh|tsx?|toml|txt|ya?ml)\Z"
)
_LONG_PART = re.compile(r"[A-Za-z0-9+=_-]{16,}")
_AWS_SECRET = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9/+]{40}")
_MASK = frozenset("x*.-_0#•… ")
_LONGEST = 4096


def is_literal(value: str, kind: str, *, quoted: bool = True) -> bool:
    """Whether `value`, under a name of this kind, is a secret itself: no placeholder, variable, type, call or path.

    What stands without quotes may be code, and a token is told from a word: it has digits, or is long.
    """
    is_password = kind in ("password", "passphrase")
    if not (4 if is_password else 8) <= len(value) <= _LONGEST or MARKERS.fullmatch(value):
        return False
    if any(map(str.isspace, value)):
        return kind == "passphrase" and quoted and len(value.split()) >= 4
    if _AWS_SECRET.fullmatch(value):
        return True
    if is_placeholder(value) or "://" in value or _is_path(value) or _PATTERN.match(value):
        return False
    if not quoted and (_CALL.match(value) or _is_code(value)):
        return False
    return is_password or _is_random(value)


def is_placeholder(value: str) -> bool:
    """Whether `value` stands for a secret: a variable, a mask, `your-key-here`, `changeme`."""
    low = value.lower()
    if len(set(low)) == 1 or _MASK.issuperset(low) or "..." in low or "…" in low:
        return True
    if low.startswith(("your", "<", "xxx")):
        return True
    if _VARIABLE.match(value) or "${" in value or "{{" in value or _REFERENCE.match(value):
        return True
    words = re.split(r"[\W_]+", low)
    if len(words) == 1:
        words = [word.lower() for word in _WORDS.findall(value)]
    return low in vocabulary.PLACEHOLDERS or all(word in vocabulary.VOCABULARY for word in words if word)


def _is_path(value: str) -> bool:
    """Whether this is a path: neither base64 with a slash, nor named by a secret."""
    return _PATH.match(value) is not None and not any(map(_is_random, _LONG_PART.findall(value)))


def _is_code(value: str) -> bool:
    """Whether this, without quotes, may be the name of something."""
    if not _IDENTIFIER.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    if "." in value:
        return not any(map(_is_random, _LONG_PART.findall(value)))
    return digits == 0 or "_" in value


def _is_random(value: str) -> bool:
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    changes = sum(first.isupper() != second.isupper() for first, second in pairwise(value))
    is_mixed = len(value) >= 16 and changes >= len(value) // 3
    if digits:
        is_word = _NUMBERED_WORDS.fullmatch(value) is not None and not is_mixed
        return letters + digits >= 8 and not is_word and (letters > 0 or digits >= 16)
    return value.isalpha() and len(value) >= 24 and (changes == 0 or is_mixed)
