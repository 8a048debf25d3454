"""The command line in processes of their own, forked from one that has loaded everything.

LiteLLM takes seconds of processor time to load, and tests give hundreds of commands. What a command gets is as in a
shell: arguments, folder, environment and output of its own. What it must not have is anything an earlier one did.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import FileIO
from pathlib import Path
from typing import IO, Any

from tests.conftest import ROOT, clean_environment


@dataclass
class Command:
    """A running command, with as much of `Popen` as tests need."""

    pid: int
    _answer: FileIO  # gets a line with the exit status
    _out: IO[str]
    _err: IO[str]
    returncode: int | None = None

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float = 300) -> int:
        """The exit status. Raises `TimeoutExpired` after `timeout` seconds."""
        if self.returncode is None:
            if not select.select([self._answer], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("cli", timeout)
            self.returncode = int(self._answer.readline())
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = 300) -> tuple[str, str]:
        """What it printed to stdout and to stderr. One that takes longer than `timeout` seconds is killed."""
        try:
            self.wait(timeout)
        finally:
            self.kill()
        texts = []
        for file in (self._out, self._err):
            file.seek(0)
            texts.append(file.read())
        return texts[0], texts[1]


def start(cwd: Path, *arguments: str, env: dict[str, str] | None = None, stdout: int | None = None) -> Command:
    """Start `cli ARGUMENTS` in `cwd`; `stdout` is a file descriptor for what it prints, which is kept otherwise."""
    out, err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")  # noqa: SIM115 closed with the command
    asked = {"arguments": arguments, "cwd": str(cwd), "env": clean_environment() if env is None else env}
    reading, writing = os.pipe()
    try:
        fds = [out.fileno() if stdout is None else stdout, err.fileno(), writing]
        socket.send_fds(_loaded()[0], [json.dumps(asked).encode()], fds)
    finally:
        os.close(writing)
    answer = FileIO(reading)
    return Command(int(answer.readline()), answer, out, err)


def command(cwd: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """What `cli ARGUMENTS` in `cwd` prints and exits with."""
    process = start(cwd, *arguments, env=env)
    out, err = process.communicate()
    return subprocess.CompletedProcess(["cli", *arguments], process.wait(), out, err)


@cache
def _loaded() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The process that commands are forked from, and the way to it; it ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        argv = [sys.executable, "-m", "tests.commands", str(theirs.fileno())]
        process = subprocess.Popen(
            argv,
            cwd=ROOT,
            env=clean_environment(),
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for pytest
        )
    return ours, process


def _serve(asked: socket.socket) -> None:
    from convex_evals.cli import app
    from convex_evals.models.litellm_loader import load_litellm

    load_litellm()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who waits for a command is nobody's business
    while True:
        message, fds, _, _ = socket.recv_fds(asked, 1 << 20, 3)
        if not message:
            return
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asked.close()
            out, err, answer = fds
            pid = os.fork()
            if pid == 0:
                _become(json.loads(message), out, err)
                os.closerange(3, max(fds) + 1)
                app.main()
            os.write(answer, f"{pid}\n".encode())
            _, status = os.waitpid(pid, 0)
            os.write(answer, f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os._exit(0)
        for fd in fds:
            os.close(fd)


def _become(asked: dict[str, Any], out: int, err: int) -> None:
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = ["cli", *asked["arguments"]]


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        _serve(connection)
