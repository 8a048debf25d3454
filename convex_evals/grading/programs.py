"""Programs that a grader starts: project code, each in a containment of its own beside the tester.

The tester's process asks for them over inherited sockets (node/tester/programs/frames.ts has the frames); what goes in
and comes out is relayed here, and none of it is taken in. A program sees the project's folder and the grader's own as
the tester sees them when it starts; what it wrote goes back when it ends, for the tester to take with care. Archives
are made and laid out in the sandboxes: none is opened here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import IntEnum

from convex_evals.errors import ProcessFault
from convex_evals.grading.program_launch import Back, Names, ProgramEnvironment, Start, launch_of, open_names
from convex_evals.process import Child, open_reader, open_writer

MOST_AT_ONCE = 16  # of one grader
LONGEST_PAYLOAD = 2**20
LARGEST_RESULTS = 64 * 2**20
_MOST_WAITING = 16 * 2**20  # bytes that a program was sent and has not read
_CHUNK = 65536
_HEAD = struct.Struct("!IBI")
_DRAIN_SECONDS = 1.0


class FrameKind(IntEnum):
    """What a frame is. An empty payload ends what comes in pieces."""

    START = 1
    FILES = 2
    STDIN = 3
    KILL = 4
    IPC = 5
    STDOUT = 6
    STDERR = 7
    EXIT = 8


@dataclass(eq=False)
class _Program:
    """A program that was asked for, and the ways into it."""

    to: dict[FrameKind, asyncio.StreamWriter] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None
    child: Child | None = None
    killed: bool = False

    async def feed(self, kind: FrameKind, payload: bytes) -> None:
        writer = self.to.get(kind)
        if writer is None or writer.is_closing():
            return
        if not payload:
            del self.to[kind]
            writer.close()
            return
        writer.write(payload)
        if kind is FrameKind.FILES:  # which it takes before anything else
            with contextlib.suppress(ConnectionError):
                await writer.drain()
        elif writer.transport.get_write_buffer_size() > _MOST_WAITING:
            self.kill()

    def kill(self) -> None:
        self.killed = True
        if self.child is not None:
            self.child.started.kill()


@dataclass
class _Connection:
    """One socket of a tester, and the programs that it asked for."""

    place: ProgramEnvironment
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    running: set[_Program]  # of both connections of the tester
    programs: dict[int, _Program] = field(default_factory=dict)

    async def serve(self) -> None:
        """Until the tester closes it, or says what makes no sense."""
        refused = (asyncio.IncompleteReadError, ConnectionError, ValueError, KeyError, TypeError, RecursionError)
        try:
            with contextlib.suppress(*refused):
                while True:
                    size, kind, number = _HEAD.unpack(await self.reader.readexactly(_HEAD.size))
                    if size > LONGEST_PAYLOAD:
                        break
                    await self._take(FrameKind(kind), number, await self.reader.readexactly(size))
        finally:
            await self._close()

    async def _take(self, kind: FrameKind, number: int, payload: bytes) -> None:
        if kind is FrameKind.START:
            program = self.programs[number] = _Program()
            program.task = await _begin(self, number, program, Start.parse(payload))
        elif (found := self.programs.get(number)) is None:
            return
        elif kind is FrameKind.KILL:
            found.kill()
        elif kind in (FrameKind.FILES, FrameKind.STDIN, FrameKind.IPC):
            await found.feed(kind, payload)

    async def send(self, kind: FrameKind, number: int, payload: bytes = b"") -> None:
        with contextlib.suppress(ConnectionError):
            self.writer.write(_HEAD.pack(len(payload), kind, number) + payload)
            await self.writer.drain()

    async def _close(self) -> None:
        tasks = [program.task for program in self.programs.values() if program.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.writer.close()


@dataclass
class _Ends:
    """Of the pipes to a program: its own ends, and what we read."""

    theirs: list[int]
    readers: dict[FrameKind, asyncio.StreamReader]

    def let_go(self) -> None:
        """Our copies of the ends that are the program's."""
        while self.theirs:
            os.close(self.theirs.pop())


async def _open_ends(program: _Program, start: Start, stack: AsyncExitStack) -> _Ends:
    """Make pipes in the order in which `_RUN` wants them."""
    ends = _Ends([], {})
    stack.callback(ends.let_go)
    await _open_in(FrameKind.FILES, program, ends, stack)
    await _open_out(FrameKind.FILES, ends, stack, wanted=start.results)
    if start.stdin:
        await _open_in(FrameKind.STDIN, program, ends, stack)
    else:
        ends.theirs.append(os.open(os.devnull, os.O_RDONLY))
    await _open_out(FrameKind.STDOUT, ends, stack)
    await _open_out(FrameKind.STDERR, ends, stack)
    if start.ipc:
        ours, theirs = socket.socketpair()
        ends.theirs.append(theirs.detach())
        ends.readers[FrameKind.IPC], program.to[FrameKind.IPC] = await asyncio.open_connection(sock=ours)
        stack.callback(program.to[FrameKind.IPC].close)
    return ends


async def _open_in(kind: FrameKind, program: _Program, ends: _Ends, stack: AsyncExitStack) -> None:
    read_end, write_end = os.pipe()
    ends.theirs.append(read_end)
    program.to[kind] = await open_writer(write_end)
    stack.callback(program.to[kind].close)


async def _open_out(kind: FrameKind, ends: _Ends, stack: AsyncExitStack, *, wanted: bool = True) -> None:
    if not wanted:
        ends.theirs.append(os.open(os.devnull, os.O_WRONLY))
        return
    read_end, write_end = os.pipe()
    ends.theirs.append(write_end)
    ends.readers[kind], transport = await open_reader(read_end, _CHUNK)
    stack.callback(transport.close)


async def _begin(connection: _Connection, number: int, program: _Program, start: Start) -> asyncio.Task[None]:
    """Have the ways into a program there before anything is sent to it; the rest is a task's."""
    async with AsyncExitStack() as stack:
        ends = await _open_ends(program, start, stack)
        return asyncio.create_task(_run(connection, number, program, start, ends, stack.pop_all()))


async def _run(
    connection: _Connection, number: int, program: _Program, start: Start, ends: _Ends, stack: AsyncExitStack
) -> None:
    """One program from its start to its end."""
    came_to: dict[str, object] = {"code": None, "signal": None, "error": None, "timedOut": False}
    async with stack:
        if len(connection.running) >= MOST_AT_ONCE:
            came_to["error"] = f"a grader may have {MOST_AT_ONCE} programs at a time"
        else:
            connection.running.add(program)
            stack.callback(connection.running.discard, program)
            try:
                names = await stack.enter_async_context(open_names(connection.place))
                child = await connection.place.sandbox.launch(launch_of(connection.place, start, names, ends.theirs))
                ends.let_go()
                async with child:
                    program.child = child
                    if program.killed:
                        program.kill()
                    came_to |= await _attend(connection, number, start, names, ends, child)
            except ProcessFault as fault:
                came_to["error"] = str(fault)
        await connection.send(FrameKind.EXIT, number, json.dumps(came_to).encode())
    del connection.programs[number]


async def _attend(
    connection: _Connection, number: int, start: Start, names: Names, ends: _Ends, child: Child
) -> dict[str, object]:
    """Relay what it says until it ends: how it did."""
    pumps = [
        asyncio.create_task(_relay(connection, number, kind, reader, Back(names)))
        for kind, reader in ends.readers.items()
    ]
    timed_out = False
    try:
        try:
            status = await asyncio.wait_for(child.wait(), start.timeout)
        except TimeoutError:
            timed_out = True
            child.started.kill()
            status = await child.wait()
        await asyncio.wait([*pumps, child.drained], timeout=_DRAIN_SECONDS)
    finally:
        for pump in pumps:
            pump.cancel()
    if child.reason:
        await connection.send(FrameKind.STDERR, number, f"\n[ended: {child.reason}]\n".encode())
    # What a program prints goes elsewhere: these are words of the sandbox.
    failed = child.last_words() if status > 0 and child.stderr.text().strip() else None
    return {**_code_and_signal(status), "error": failed, "timedOut": timed_out}


def _code_and_signal(status: int) -> dict[str, object]:
    """As Node.js has them, by the name of the signal; one that has no name is a code, as a shell tells it."""
    told = 128 - status if status < 0 else status
    if 128 < told <= 128 + signal.SIGSYS:
        return {"code": None, "signal": signal.Signals(told - 128).name}
    return {"code": told, "signal": None}


async def _relay(
    connection: _Connection, number: int, kind: FrameKind, reader: asyncio.StreamReader, back: Back
) -> None:
    sent = 0
    while chunk := await reader.read(_CHUNK):
        sent += len(chunk)
        if kind is FrameKind.FILES and sent > LARGEST_RESULTS:
            continue
        words = chunk if kind is FrameKind.FILES else back.feed(chunk)
        if words:
            await connection.send(kind, number, words)
    if rest := back.feed(b"", last=True):
        await connection.send(kind, number, rest)
    if kind is FrameKind.IPC:
        await connection.send(kind, number)


@asynccontextmanager
async def serve_programs(place: ProgramEnvironment) -> AsyncIterator[list[int]]:
    """Two descriptors for a tester, through which it asks for programs; all of them end with the context.

    It may close its copies; ours are closed by the caller's `os.close` once the tester has them.
    """
    running: set[_Program] = set()
    tasks: list[asyncio.Task[None]] = []
    theirs: list[int] = []
    try:
        for _ in range(2):
            ours, end = socket.socketpair()
            theirs.append(end.detach())
            reader, writer = await asyncio.open_connection(sock=ours)
            tasks.append(asyncio.create_task(_Connection(place, reader, writer, running).serve()))
        yield theirs
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for descriptor in theirs:
            os.close(descriptor)
