"""Replies while they arrive: a file of lines per trial, so that `kill -9` loses none whose end is there."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.inputs.bounded_json import Limits, decode_object
from convex_evals.records import Attempt
from convex_evals.records.reply import LoggedReply, Reply
from convex_evals.store.files import MOST_TEXT, write_error
from convex_evals.text import well_formed

_LIMITS = Limits(size=MOST_TEXT)
_LINE = re.compile(rb"[^\n]+")  # not a blank one
_MOST_LINES = 500_000  # a reply comes in pieces, a few tokens each


class ReplyFile:
    """Lines `{"begin": ...}`, `{"text": ...}`, `{"end": ...}`, each written as it happens; half a line is none."""

    def __init__(self, path: Path, root: Path | None = None) -> None:
        """Nothing below `root` is reached through a link."""
        self._path = path
        self._root = root or path.parent
        self._fd: int | None = None

    def read(self) -> LoggedReply:
        """What is there; what is no such line is left out."""
        data = confined.read_bytes(self._path, self._root, MOST_TEXT) or b""
        lines = _Lines()
        for count, line in enumerate(_LINE.finditer(data[: data.rfind(b"\n") + 1])):
            if count == _MOST_LINES:
                raise UserError(f"{self._path}: more than {_MOST_LINES:,} lines; remove it")
            with contextlib.suppress(ValueError):
                lines.take(decode_object(line[0], _LIMITS))
        return lines.read()

    def is_empty(self) -> bool:
        """Whether nothing was ever asked."""
        return self.read() == LoggedReply()

    def is_whole(self) -> bool:
        """Whether the end of a reply is there."""
        return self.read().reply is not None

    def move(self, to: ReplyFile) -> None:
        """Be another trial's log, in the place of what it has."""
        try:
            confined.move(self._path, to._path, self._root)
        except OSError as error:
            raise write_error(to._path, error) from error

    def begin(self, max_output_tokens: int) -> None:
        self._write({"begin": {"max_output_tokens": max_output_tokens}})

    def text(self, piece: str) -> None:
        self._write({"text": piece})

    def end(self, attempt: Attempt, reply: Reply | None) -> None:
        known = None if reply is None else _adapter().dump_python(reply, mode="json", exclude={"text"})
        self._write({"end": {"attempt": attempt.model_dump(mode="json"), "reply": known}}, sync=True)

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


@dataclass
class _Lines:
    """What the lines of a log come to, one after the other."""

    attempts: list[Attempt] = field(default_factory=list)
    reply: Reply | None = None
    pieces: list[str] = field(default_factory=list)
    unfinished: int | None = None

    def take(self, line: Mapping[str, Any]) -> None:
        """Raises `ValueError` where it is none of the three."""
        ((kind, value),) = line.items()
        if kind == "begin" and isinstance(value, dict) and type(value.get("max_output_tokens")) is int:
            self.unfinished, self.reply, self.pieces = value["max_output_tokens"], None, []
        elif kind == "text" and isinstance(value, str):
            self.pieces.append(value)
        elif kind == "end" and isinstance(value, dict) and value.keys() == {"attempt", "reply"}:
            attempt, reply = Attempt.model_validate(value["attempt"]), self._reply(value["reply"])
            self.attempts.append(attempt)
            self.unfinished, self.reply = None, reply
        else:
            raise ValueError("no line of a reply")

    def _reply(self, known: Any) -> Reply | None:
        """What the end says of the reply, with the text before it."""
        if known is None:
            return None
        if not isinstance(known, dict) or "text" in known:
            raise ValueError("no reply without its text")
        return _adapter().validate_python({**known, "text": self._text()})

    def _text(self) -> str:
        return well_formed("".join(self.pieces))

    def read(self) -> LoggedReply:
        return LoggedReply(tuple(self.attempts), self.reply, self._text(), self.unfinished)


@cache
def _adapter() -> TypeAdapter[Reply]:
    return TypeAdapter(Reply)
