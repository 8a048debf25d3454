"""Child processes: each leads a process group of its own, and the whole group ends with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from convex_evals.process.pipes import TailBuffer, drain, open_reader, open_writer
from convex_evals.process.reaper import REAPER, kill_group

_LONGEST_WORDS = 1_000  # characters of a child's last line
_LONGEST_LINE = 8 * 1024 * 1024  # bytes


@dataclass
class Started:
    """A process as the one who started it knows it: this process, or the launcher of a sandbox."""

    pid: int
    ended: asyncio.Future[int]  # the exit status; negative where a signal ended it
    kill: Callable[[], None]  # its whole group, at once
    reason: str | None = None  # why it was ended, where a limit was exceeded


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
        """Why it was ended, where it exceeded a limit that is watched."""
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


async def spawn(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path,
    env: Mapping[str, str],
    pass_fds: Sequence[int] = (),
    capture: bool = False,
) -> Child:
    """Start a child in its own process group, with exactly this environment.

    stdin is a pipe that stays open as long as this process lives: our own children exit when it closes. With
    `capture`, stdout can be read.
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
    # Pipes of our own: asyncio would wait for theirs to close, and a process that inherited them may never do that.
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
    return Child(started, stdin, out, tail, asyncio.create_task(drain(err, tail)), pipes)


async def _open_pipe() -> tuple[asyncio.StreamReader, asyncio.ReadTransport, int]:
    """A new pipe: its reader, the transport that closes that, and the end to write to."""
    read_end, write_end = os.pipe()
    reader, transport = await open_reader(read_end, _LONGEST_LINE)
    return reader, transport, write_end
