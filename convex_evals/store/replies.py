"""Replies while they arrive: a file of lines per trial, so that `kill -9` loses none whose end is there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convex_evals.records import Attempt
from convex_evals.store.files import write_error


class ReplyFile:
    """Lines `{"begin": ...}`, `{"text": ...}`, `{"end": ...}`, each written as it happens; half a line is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def lines(self) -> list[dict[str, Any]]:
        """What is there, in order."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise write_error(self._path, error) from error
        found = []
        for line in data.split(b"\n")[:-1]:
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found

    def is_whole(self) -> bool:
        """Whether the end of a reply is there."""
        return any(line.get("end", {}).get("reply") for line in self.lines()[-1:])

    def move(self, to: ReplyFile) -> None:
        """Be another trial's log, in the place of what it has."""
        try:
            to._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.replace(to._path)
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
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _write(self, line: dict[str, Any], *, sync: bool = False) -> None:
        try:
            if self._fd is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
                if os.fstat(self._fd).st_size:
                    os.write(self._fd, b"\n")  # ends a line that was cut off
            os.write(self._fd, json.dumps(line).encode() + b"\n")
            if sync:
                os.fsync(self._fd)
        except OSError as error:
            raise write_error(self._path, error) from error
