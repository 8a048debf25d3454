"""Commands on a real terminal, and what is to be seen on it."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sys
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests import patience
from tests.commands import start
from tests.conftest import ROOT, clean_environment

SPACE, ENTER, DOWN, CTRL_C, ESCAPE = " ", "\r", "\x1b[B", "\x03", "\x1b"
_CONTROL = re.compile(r"\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[=>]")


def screen(output: str) -> list[str]:
    """The lines that a terminal shows after `output`, without blanks at their ends; none is taken to be wrapped."""
    lines, row, column = [""], 0, 0
    at = 0
    while at < len(output):
        control = _CONTROL.match(output, at)
        at = control.end() if control else at + 1
        if control:
            count, kind = int(control[1]) if (control[1] or "").isdecimal() else 0, control[2]
            row += {"A": -max(1, count), "B": max(1, count)}.get(kind, 0)
            column += {"D": -max(1, count), "C": max(1, count)}.get(kind, 0)
            lines += [""] * (row + 1 - len(lines))
            if kind == "K":
                lines[row] = lines[row][:column] if count == 0 else ""
            elif kind == "J":
                lines[row:] = [lines[row][:column]]
        elif (character := output[at - 1]) == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif character in "\r\b":
            column = 0 if character == "\r" else column - 1
        elif character.isprintable():
            lines[row] = lines[row].ljust(column)[:column] + character + lines[row][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


def shown(cwd: Path, *arguments: str, width: int, status: int = 0) -> tuple[str, str]:
    """What `cli ARGUMENTS` prints where standard output is a terminal of so many columns, and on standard error."""
    main, other = pty.openpty()
    termios.tcsetwinsize(other, (50, width))
    output: list[bytes] = []
    reading = threading.Thread(target=_read_all, args=(main, output))
    reading.start()
    try:
        env = clean_environment(TERM="xterm", NO_COLOR="1", COLUMNS=str(width))
        process = start(cwd, *arguments, env=env, stdout=other)
        _, complaints = process.communicate()
    finally:
        os.close(other)
        reading.join()
        os.close(main)
    assert process.returncode == status, complaints
    return "\n".join(screen(b"".join(output).decode())), complaints


def _read_all(fd: int, output: list[bytes]) -> None:
    with suppress(OSError):  # Linux, once the other side has closed
        while data := os.read(fd, 65536):
            output.append(data)


@dataclass
class Terminal:
    pid: int
    fd: int
    seen: str = ""  # after what was waited for
    output: str = ""  # all of it, with what moves the cursor
    status: int | None = None

    def wait_for(self, text: str) -> None:
        """Until `text` is on the screen, after what was waited for before."""
        deadline = time.monotonic() + patience.seconds(60)
        while text not in self.seen:
            assert self._read(deadline), f"no {text!r} in {self.seen!r}"
        self.seen = self.seen.partition(text)[2]

    def settle(self) -> list[str]:
        """The screen, once nothing more is drawn."""
        while select.select([self.fd], [], [], 0.5)[0]:
            self._read(time.monotonic() + 1)
        return screen(self.output)

    def type(self, *keys: str) -> None:
        for key in keys:
            os.write(self.fd, key.encode())
            # As people type: an escape sequence and what follows it are two things, and so is escape itself.
            time.sleep(0.7 if key == ESCAPE else 0.05)

    def end(self) -> int:
        """The exit code."""
        deadline = time.monotonic() + patience.seconds(120)
        while self._read(deadline):
            pass
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"nothing more than {self.seen!r}"
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # Linux, once the other side has closed
            return False
        text = data.decode(errors="replace")
        self.output += text
        self.seen += _CONTROL.sub("", text)
        return bool(data)


@contextmanager
def terminal(
    cwd: Path, *arguments: str, width: int = 120, before: Sequence[str] = (), **environment: str
) -> Iterator[Terminal]:
    """`cli run ARGUMENTS` on a terminal of so many columns; `before` are words of a program that executes the rest."""
    variables = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "COLUMNS": str(width), "LINES": "50"}
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        argv = [*before, sys.executable, str(ROOT / "cli.py"), "run", *arguments]
        os.execve(argv[0], argv, clean_environment(**variables, **environment))
    termios.tcsetwinsize(fd, (50, width))
    found = Terminal(pid, fd)
    try:
        yield found
    finally:
        if found.status is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(fd)
