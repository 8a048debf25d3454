"""Text files as everybody here reads them."""

from __future__ import annotations

from pathlib import Path

from convex_evals.errors import UserError


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
