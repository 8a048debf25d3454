"""Fingerprints of texts, files and lists of parts, in hexadecimal digits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping


def sha256_text(text: str) -> str:
    """Of the text with LF line ends, so that a checkout with CRLF has the same fingerprints."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "replace")).hexdigest()


def sha256_files(files: Mapping[str, str]) -> str:
    """Of a set of files: independent of their order, unambiguous in names and ends."""
    return sha256_parts(f"{path}\0{sha256_text(text)}" for path, text in sorted(files.items()))


def sha256_parts(parts: Iterable[str]) -> str:
    """Of a list: each part is preceded by its length, so that no two lists look the same."""
    encoded = [part.encode("utf-8", "replace") for part in parts]
    return hashlib.sha256(b"".join(b"%d:%s" % (len(part), part) for part in encoded)).hexdigest()
