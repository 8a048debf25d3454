"""Text files as everybody here reads them, and text of others made visible."""

from __future__ import annotations

import re
from pathlib import Path

from convex_evals.errors import UserError

_SUSPECT = re.compile(r"[^\x20-\x7e\n\t]")


def read_text(path: Path) -> str:
    """The text with LF line ends and without a byte order mark.

    Raises `UserError` where it is missing, unreadable or not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def well_formed(text: str) -> str:
    """With halves of surrogate pairs joined where both are there, and U+FFFD for those that stand alone.

    JSON can hold halves, and a stream may cut a pair in two; UTF-8, and so every file, can hold pairs only.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def spelled_out(text: str) -> str:
    """With what cannot be seen spelled out, line ends and tabs aside.

    That are control characters, what reorders text (bidirectional marks), invisible ones, halves of surrogate pairs.
    """
    return _SUSPECT.sub(lambda c: c[0] if c[0].isprintable() else f"\\x{ord(c[0]):02x}", text)
