"""Pipes in an event loop, and no more of what comes through them than a limit."""

from __future__ import annotations

import asyncio
import os

OUTPUT_LIMIT = 64 * 1024  # bytes


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


async def open_reader(fd: int, limit: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """A reader of the pipe `fd`, and the transport that closes it; a line may have `limit` bytes."""
    reader = asyncio.StreamReader(limit=limit)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", 0)
    )
    return reader, transport


async def open_writer(fd: int) -> asyncio.StreamWriter:
    """A writer to the pipe `fd`, which closes it, too."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(fd, "wb", 0))
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def drain(stream: asyncio.StreamReader, into: TailBuffer) -> None:
    """Read a stream to its end."""
    while chunk := await stream.read(65536):
        into.feed(chunk)


async def read_fd(fd: int, limit: int, *, line: bool = False) -> bytes:
    """What comes through a pipe until its writers are gone, or its first line: at most `limit` bytes. Closes `fd`."""
    reader, transport = await open_reader(fd, limit)
    data = bytearray()
    try:
        while len(data) < limit and (chunk := await reader.read(65536)):
            data += chunk
            if line and b"\n" in chunk:
                break
    finally:
        transport.close()
    return bytes(data)
