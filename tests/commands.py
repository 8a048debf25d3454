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
from functools import cache
from pathlib import Path

from tests.conftest import ROOT, clean_environment


def command(
    cwd: Path, *arguments: str, env: dict[str, str] | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """What `cli ARGUMENTS` in `cwd` prints and exits with. Raises `TimeoutExpired` after `timeout` seconds."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        asked = {"arguments": arguments, "cwd": str(cwd), "env": clean_environment() if env is None else env}
        # A pipe of its own: what comes of a command that took too long must not be read as the next one's.
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb", buffering=0) as answer:
            try:
                socket.send_fds(_loaded()[0], [json.dumps(asked).encode()], [out.fileno(), err.fileno(), writing])
            finally:
                os.close(writing)
            pid = int(answer.readline())
            if not select.select([answer], [], [], timeout)[0]:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["cli", *arguments], timeout)
            status = int(answer.readline())
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["cli", *arguments], status, out.read(), err.read())


@cache
def _loaded() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The process that commands are forked from, and the way to it; it ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        argv = [sys.executable, "-m", "tests.commands", str(theirs.fileno())]
        fds = [theirs.fileno()]
        process = subprocess.Popen(argv, cwd=ROOT, env=clean_environment(), pass_fds=fds, stdin=subprocess.DEVNULL)
    return ours, process


def _serve(asked: socket.socket) -> None:
    from convex_evals import app
    from convex_evals.generate.provider import load_litellm

    load_litellm()
    while True:
        message, fds, _, _ = socket.recv_fds(asked, 1 << 20, 3)
        if not message:
            return
        out, err, answer = fds
        pid = os.fork()
        if pid == 0:
            asked.close()
            told = json.loads(message)
            os.dup2(out, 1)
            os.dup2(err, 2)
            os.closerange(3, answer + 1)
            os.chdir(told["cwd"])
            os.environ.clear()
            os.environ.update(told["env"])
            sys.argv = ["cli", *told["arguments"]]
            app.main()
        os.write(answer, f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        os.write(answer, f"{os.waitstatus_to_exitcode(status)}\n".encode())
        for fd in fds:
            os.close(fd)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        _serve(connection)
