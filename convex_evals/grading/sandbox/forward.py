"""Ports of a network that lead to the same ports of another: what a program is given of its trial, and nothing else.

Standard library only: the launcher forks this, in the process group and with the limits of the program that it serves.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import struct
from collections.abc import Sequence

from convex_evals.grading.sandbox.kernel import drop_capabilities, end_with_parent, enter

_MOST_CONNECTIONS = 128
_PIECE = 65536
_CONNECT_SECONDS = 2.0
_NOBODY = 65534
_RESET = struct.pack("ii", 1, 0)
_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


def start_forwarding(listening: Sequence[socket.socket], network: int) -> None:
    """Have a process of its own connect who comes to these sockets to the same port of `network`, a descriptor.

    It ends with the calling process, or what that executes.
    """
    if os.fork() == 0:
        try:
            enter(network)
            _keep_only([opened.fileno() for opened in listening])
            _become_nobody()
            _Forwarder(listening).serve()
        finally:
            os._exit(0)
    for opened in listening:
        opened.close()


def _keep_only(descriptors: Sequence[int]) -> None:
    """Or a pipe of the program would have no end."""
    first = 0
    for descriptor in (*sorted(descriptors), os.sysconf("SC_OPEN_MAX")):
        os.closerange(first, descriptor)
        first = descriptor + 1


def _become_nobody() -> None:
    with contextlib.suppress(OSError):  # only root may
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    drop_capabilities()
    end_with_parent(signal.SIGKILL)


class _Pair:
    """A connection of the program's, and the one that it is forwarded by."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self.other = {near: far, far: near}
        self.waiting = {near: b"", far: b""}  # came from this one, and is to go to the other
        self.ended = {near: False, far: False}  # nothing more comes from it

    def take(self, opened: socket.socket, events: int) -> None:
        """Move what can be moved. Raises `OSError` where one of the two is broken."""
        if events & _READ:
            self.waiting[opened] = opened.recv(_PIECE)
            self.ended[opened] = not self.waiting[opened]
            self._send(opened)
        if events & _WRITE:
            self._send(self.other[opened])

    def _send(self, source: socket.socket) -> None:
        target = self.other[source]
        with contextlib.suppress(BlockingIOError):
            self.waiting[source] = self.waiting[source][target.send(self.waiting[source]) :]
        if self.ended[source] and not self.waiting[source]:
            target.shutdown(socket.SHUT_WR)

    def awaits(self, opened: socket.socket) -> int:
        """The events to wait for."""
        reads = _READ if not self.ended[opened] and not self.waiting[opened] else 0
        return reads | (_WRITE if self.waiting[self.other[opened]] else 0)

    @property
    def over(self) -> bool:
        return all(self.ended.values()) and not any(self.waiting.values())


class _Forwarder:
    """Serves all sockets of one program."""

    def __init__(self, listening: Sequence[socket.socket]) -> None:
        self._selector = selectors.DefaultSelector()
        self._pairs: set[_Pair] = set()
        for opened in listening:
            opened.setblocking(False)
            self._selector.register(opened, _READ)

    def serve(self) -> None:
        while True:
            for key, events in self._selector.select():
                opened = key.fileobj
                assert isinstance(opened, socket.socket)
                if key.data is None:
                    self._accept(opened)
                elif key.data in self._pairs:
                    self._move(key.data, opened, events)

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            near, _ = listening.accept()
            far = _connect(near) if len(self._pairs) < _MOST_CONNECTIONS else None
            if far is None:
                near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                near.close()
                return
            pair = _Pair(near, far)
            self._pairs.add(pair)
            for opened in pair.other:
                # What waits in here is bounded; and a small message is not to wait for the next one.
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIECE)
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                opened.setblocking(False)
                self._selector.register(opened, _READ, pair)

    def _move(self, pair: _Pair, opened: socket.socket, events: int) -> None:
        try:
            pair.take(opened, events)
        except BlockingIOError:
            return
        except OSError:
            self._close(pair)
            return
        if pair.over:
            self._close(pair)
            return
        for each in pair.other:
            self._watch(each, pair)

    def _watch(self, opened: socket.socket, pair: _Pair) -> None:
        wanted = pair.awaits(opened)
        watched = opened in self._selector.get_map()
        if wanted and watched:
            self._selector.modify(opened, wanted, pair)
        elif wanted:
            self._selector.register(opened, wanted, pair)
        elif watched:
            self._selector.unregister(opened)

    def _close(self, pair: _Pair) -> None:
        self._pairs.discard(pair)
        for opened in pair.other:
            with contextlib.suppress(KeyError):
                self._selector.unregister(opened)
            opened.close()


def _connect(near: socket.socket) -> socket.socket | None:
    """To the port that `near` connected to, over IPv4 or IPv6 as it did, or over the other where that fails."""
    port = near.getsockname()[1]
    addresses = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}
    for family in sorted(addresses, key=lambda family: family != near.family):
        far = socket.socket(family)
        far.settimeout(_CONNECT_SECONDS)
        try:
            far.connect((addresses[family], port))
        except OSError:
            far.close()
        else:
            return far
    return None
