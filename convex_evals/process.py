"""Subprocesses: one way to start them, one way to end them, and nobody left behind.

Every child leads its own process group and is registered with a reaper, a tiny process that outlives us by
moments: when this process goes away for whatever reason, `kill -9` included, the pipe to the reaper closes and
it kills every group that is still registered. A child that has just started may not be, for some milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from convex_evals.clock import step_timeout

OUTPUT_LIMIT = 64 * 1024
_LOOK_SECONDS = 0.2
_LONGEST_WORDS = 1_000  # characters of a child's last line
_LONGEST_LINE = 8 * 1024 * 1024
_REAPER_SOURCE = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    op, pgid = line[0], int(line[1:])
    (groups.add if op == "+" else groups.discard)(pgid)
for pgid in groups:
    try: os.killpg(pgid, signal.SIGKILL)
    except OSError: pass
"""


class Reaper:
    """Kills registered process groups once this process is gone."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def stand_by(self) -> None:
        """Before a child starts, so that it is registered the moment after."""
        self._pipe()

    def register(self, pgid: int) -> None:
        self._tell(f"+{pgid}\n")

    def forget(self, pgid: int) -> None:
        if self._process is not None:
            self._tell(f"-{pgid}\n")

    def _tell(self, line: str) -> None:
        pipe = self._pipe()
        with contextlib.suppress(BrokenPipeError):
            pipe.write(line)
            pipe.flush()

    def _pipe(self) -> IO[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _REAPER_SOURCE],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
                # Model-written code of the same user could read its environment, and keys may stand in ours.
                env={k: os.environ[k] for k in ("LD_LIBRARY_PATH", "SYSTEMROOT") if k in os.environ},
            )
        assert self._process.stdin is not None
        return self._process.stdin


REAPER = Reaper()


class TailBuffer:
    """The end of a stream, at most `limit` bytes: enough to say what went wrong, whatever a child prints."""

    def __init__(self, limit: int = OUTPUT_LIMIT) -> None:
        self._limit = limit
        self._data = bytearray()

    def feed(self, chunk: bytes) -> None:
        self._data += chunk
        if len(self._data) > 2 * self._limit:
            del self._data[: -self._limit]

    def text(self) -> str:
        return bytes(self._data[-self._limit :]).decode("utf-8", "replace")


@dataclass
class Started:
    """What somebody started for us."""

    pid: int
    ended: asyncio.Future[int]  # the exit status; negative where a signal ended it
    kill: Callable[[], None]  # its whole group, at once
    reason: str | None = None  # why it was ended, if whoever started it did that


@dataclass
class Child:
    """A running subprocess and its process group."""

    started: Started
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader | None
    stderr: TailBuffer
    drained: asyncio.Task[None]
    _pipes: list[asyncio.ReadTransport]

    @property
    def pid(self) -> int:
        return self.started.pid

    @property
    def reason(self) -> str | None:
        """Why it was ended, where somebody who watches over it did that."""
        return self.started.reason

    def last_words(self) -> str:
        """In one line, what it is known to have ended for."""
        lines = [line for line in self.stderr.text().splitlines() if line.strip()]
        return self.reason or (lines[-1].strip()[:_LONGEST_WORDS] if lines else "no message")

    async def wait(self) -> int:
        """The exit status; negative where a signal ended it."""
        return await asyncio.shield(self.started.ended)

    async def stop(self) -> None:
        """Kill the whole group, at once, and reap the child."""
        self.started.kill()
        self.stdin.close()
        await self.wait()
        self.drained.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.drained
        for pipe in self._pipes:
            pipe.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.shield(self.stop())


def kill_group(pgid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, signal.SIGKILL)


async def spawn(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path,
    env: Mapping[str, str],
    pass_fds: Sequence[int] = (),
    capture: bool = False,
) -> Child:
    """Start a child in its own process group, with exactly this environment.

    stdin is a pipe that stays open as long as we live: children of ours exit when it closes. With `capture`, stdout
    can be read.
    """
    start = _Subprocess(argv, cwd, env, pass_fds)
    return await start_child(start, capture=capture)


@dataclass(frozen=True)
class _Subprocess:
    """Starts a subprocess of ours."""

    argv: Sequence[str | os.PathLike[str]]
    cwd: Path
    env: Mapping[str, str]
    pass_fds: Sequence[int]

    async def __call__(self, stdin: int, stdout: int, stderr: int) -> Started:
        REAPER.stand_by()
        process = await asyncio.create_subprocess_exec(
            *self.argv,
            cwd=self.cwd,
            env=dict(self.env),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=tuple(self.pass_fds),
            start_new_session=True,
        )
        REAPER.register(process.pid)

        def kill() -> None:
            kill_group(process.pid)
            REAPER.forget(process.pid)

        return Started(process.pid, asyncio.ensure_future(process.wait()), kill)


async def start_child(start: Callable[[int, int, int], Awaitable[Started]], *, capture: bool = False) -> Child:
    """A child that `start` starts with descriptors for stdin, stdout and stderr; these are pipes to us.

    Without `capture`, what it prints to stdout is dropped.
    """
    # Pipes of our own: asyncio would wait for theirs to close, and whoever inherited them may never do that.
    err, err_pipe, err_end = await _open_pipe()
    out, out_pipe, out_end = await _open_pipe() if capture else (None, None, os.open(os.devnull, os.O_WRONLY))
    in_end, in_write = os.pipe()
    stdin = await open_writer(in_write)
    pipes = [p for p in (err_pipe, out_pipe) if p]
    try:
        started = await start(in_end, out_end, err_end)
    except BaseException:
        stdin.close()
        for pipe in pipes:
            pipe.close()
        raise
    finally:
        for end in (in_end, out_end, err_end):
            os.close(end)
    tail = TailBuffer()
    drained = asyncio.create_task(_drain(err, tail))
    return Child(started, stdin, out, tail, drained, pipes)


async def _open_pipe() -> tuple[asyncio.StreamReader, asyncio.ReadTransport, int]:
    """A pipe: what reads it, and the end to write to."""
    read_end, write_end = os.pipe()
    reader, transport = await open_reader(read_end, _LONGEST_LINE)
    return reader, transport, write_end


async def open_reader(fd: int, limit: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """What reads from a pipe, and what closes it."""
    reader = asyncio.StreamReader(limit=limit)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", 0)
    )
    return reader, transport


async def open_writer(fd: int) -> asyncio.StreamWriter:
    """What writes to a pipe, and closes it."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(fd, "wb", 0))
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _drain(stream: asyncio.StreamReader, into: TailBuffer) -> None:
    while chunk := await stream.read(65536):
        into.feed(chunk)


@dataclass(frozen=True)
class Completed:
    """A subprocess that has ended."""

    status: int | None  # exit status, negative for a signal; None where `run` ended it
    stdout: str  # the last 64 KiB
    stderr: str  # the last 64 KiB


async def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    hopeless: Callable[[str], bool] = lambda stderr: False,
) -> Completed:
    """Run a command to its end, at most `timeout` seconds; then its whole process group is killed.

    It is killed earlier once `hopeless` says so of the end of its standard error, which is asked now and then.
    """
    async with await spawn(argv, cwd=cwd, env=env, capture=True) as child:
        assert child.stdout is not None
        child.stdin.close()
        out = TailBuffer()
        drain = asyncio.create_task(_drain(child.stdout, out))
        status: int | None = None
        try:
            async with step_timeout(timeout):
                while status is None and not hopeless(child.stderr.text()):
                    with contextlib.suppress(TimeoutError):
                        status = await asyncio.wait_for(child.wait(), _LOOK_SECONDS)
            if status is not None:
                await asyncio.wait({drain, child.drained}, timeout=1)
        except TimeoutError:
            pass
        finally:
            drain.cancel()
        return Completed(status, out.text(), child.stderr.text())


async def read_fd(fd: int, limit: int, *, line: bool = False) -> bytes:
    """What comes through a pipe until its writers are gone, or its first line: at most `limit` bytes. Closes `fd`."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=limit)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", 0))
    data = bytearray()
    try:
        while len(data) < limit and (chunk := await reader.read(65536)):
            data += chunk
            if line and b"\n" in chunk:
                break
    finally:
        transport.close()
    return bytes(data)
