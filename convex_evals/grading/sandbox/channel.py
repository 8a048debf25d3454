"""Messages with descriptors over a Unix socket: a JSON document each, after its length."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any

_LENGTH = struct.Struct("!I")
_MOST_DESCRIPTORS = 64


def make_channel() -> tuple[socket.socket, socket.socket]:
    """Both ends. A stream, since packets with an end of file are not to be had everywhere."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)


def send_message(channel: socket.socket, message: Mapping[str, object], descriptors: Sequence[int] = ()) -> None:
    """Send a message whole. Raises `OSError` where the other end is closed."""
    body = json.dumps(message).encode()
    data = _LENGTH.pack(len(body)) + body
    sent = socket.send_fds(channel, [data], list(descriptors))
    if sent < len(data):
        channel.sendall(data[sent:])


def receive_message(channel: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and its descriptors; None when the other end is closed. Blocks until it is there, whole."""
    try:
        head, descriptors, _, _ = socket.recv_fds(channel, _LENGTH.size, _MOST_DESCRIPTORS)
    except ConnectionResetError:  # killed with a message from here unread
        return None
    if not head:
        return None
    head += _exactly(channel, _LENGTH.size - len(head))
    message: dict[str, Any] = json.loads(_exactly(channel, _LENGTH.unpack(head)[0]))
    return message, descriptors


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = channel.recv(size - len(data))
        if not chunk:
            raise ConnectionResetError("the other end was closed amid a message")
        data += chunk
    return data
