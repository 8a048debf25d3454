"""Replies while they arrive: a file of lines per trial, so that `kill -9` loses none whose end is there."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convex_evals.inputs import confined
from convex_evals.inputs.bounded_json import Limits, decode_object
from convex_evals.records import Attempt, Record, Usage
from convex_evals.records.names import Dollars, Natural
from convex_evals.store.files import MOST_TEXT, write_error

_LIMITS = Limits(size=MOST_TEXT)


class _Reply(Record):
    """What is known of a reply besides its text."""

    finish_reason: str | None
    usage: Usage
    searches: Natural
    cost_usd: Dollars | None
    first_token_ms: Natural | None
    duration_ms: Natural


class _End(Record):
    attempt: Attempt
    reply: _Reply | None


class ReplyFile:
    """Lines `{"begin": ...}`, `{"text": ...}`, `{"end": ...}`, each written as it happens; half a line is none."""

    def __init__(self, path: Path, root: Path | None = None) -> None:
        """Nothing below `root` is reached through a link."""
        self._path = path
        self._root = root or path.parent
        self._fd: int | None = None

    def lines(self) -> list[dict[str, Any]]:
        """What is there, in order; what is no such line is left out."""
        data = confined.read_bytes(self._path, self._root, MOST_TEXT) or b""
        found = []
        for line in data.split(b"\n")[:-1]:
            with contextlib.suppress(ValueError):
                found.append(_checked(decode_object(line, _LIMITS)))
        return found

    def is_whole(self) -> bool:
        """Whether the end of a reply is there."""
        return any(line.get("end", {}).get("reply") for line in self.lines()[-1:])

    def move(self, to: ReplyFile) -> None:
        """Be another trial's log, in the place of what it has."""
        try:
            confined.move(self._path, to._path, self._root)
        except OSError as error:
            raise write_error(to._path, error) from error

    def begin(self, attempt: Mapping[str, Any]) -> None:
        self._write({"begin": dict(attempt)})

    def text(self, piece: str) -> None:
        self._write({"text": piece})

    def end(self, attempt: Attempt, reply: Mapping[str, Any] | None) -> None:
        record = {"attempt": attempt.model_dump(mode="json"), "reply": None if reply is None else dict(reply)}
        self._write({"end": record}, sync=True)

    def drop(self) -> None:
        """The trial's entry has all of it."""
        self.close()
        confined.remove_file(self._path, self._root)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _write(self, line: dict[str, Any], *, sync: bool = False) -> None:
        try:
            if self._fd is None:
                confined.make_folder(self._path.parent, self._root)
                confined.refuse_link(self._path, self._root)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
                self._fd = os.open(self._path, flags, 0o644)
                if os.fstat(self._fd).st_size:
                    os.write(self._fd, b"\n")  # ends a line that was cut off
            os.write(self._fd, json.dumps(line).encode() + b"\n")
            if sync:
                os.fsync(self._fd)
        except OSError as error:
            raise write_error(self._path, error) from error


def _checked(line: dict[str, Any]) -> dict[str, Any]:
    """Raises `ValueError` where it is none of the three."""
    if len(line) == 1:
        (kind, value), *_ = line.items()
        if kind == "begin" and isinstance(value, dict) and type(value.get("max_output_tokens")) is int:
            return line
        if kind == "text" and isinstance(value, str):
            return line
        if kind == "end":
            _End.model_validate(value)
            return line
    raise ValueError("no line of a reply")
