"""Memory in the sockets of a network namespace: it is in no process.

Source: sock_diag(7); linux/inet_diag.h, linux/unix_diag.h.
"""

from __future__ import annotations

import os
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from convex_evals.grading.sandbox.kernel import enter

# With fewer, buffers of the usual size come to no more than a few MB.
_MANY = 64
_SOCK_DIAG, _DUMP, _REQUEST, _DONE, _ERROR = 4, 0x300, 0x1, 3, 2
_BY_FAMILY = 20
_INET_MEMORY, _UNIX_MEMORY, _UNIX_USER = 7, 5, 7
_SHOW_MEMORY_AND_USER = 0x20 | 0x40
_ALL_STATES = 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
_INET_BYTES, _INET_USER_AT, _UNIX_BYTES = 72, 64, 16


def memory_in_sockets(pid: int) -> dict[int, int]:
    """Bytes by user in the network of a process; empty where there are few sockets. Leaves the caller in that network.

    Raises `OSError` where the system does not tell.
    """
    if _count(pid) < _MANY:
        return {}
    namespace = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        # In a container it is this process's own already, and to enter it again would need rights that are not there.
        if not os.path.samestat(os.fstat(namespace), Path("/proc/self/ns/net").stat()):
            enter(namespace)
    finally:
        os.close(namespace)
    found: Counter[int] = Counter()
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as asking:
        asking.settimeout(1)
        for family in (socket.AF_INET, socket.AF_INET6):
            for protocol in (socket.IPPROTO_TCP, socket.IPPROTO_UDP):
                wanted = 1 << (_INET_MEMORY - 1)
                request = struct.pack("=BBBxI48x", family, protocol, wanted, _ALL_STATES)
                for message in _dump(asking, request):
                    (user,) = struct.unpack_from("=I", message, _INET_USER_AT)
                    found[user] += _memory(_attributes(message[_INET_BYTES:]).get(_INET_MEMORY))
        request = struct.pack("=BBHIIIII", socket.AF_UNIX, 0, 0, _ALL_STATES, 0, _SHOW_MEMORY_AND_USER, 0, 0)
        for message in _dump(asking, request):
            told = _attributes(message[_UNIX_BYTES:])
            (user,) = struct.unpack("=I", told.get(_UNIX_USER, bytes(4)))
            found[user] += _memory(told.get(_UNIX_MEMORY))
    return found


def _count(pid: int) -> int:
    """Of the sockets of its network, also of those that no process has a descriptor of."""
    told = Path(f"/proc/{pid}/net/sockstat").read_text(encoding="ascii")
    return int(told.split(None, 3)[2])


def _memory(told: bytes | None) -> int:
    """Received, sent and not yet read, optional and backlog."""
    if told is None:
        return 0
    numbers: tuple[int, ...] = struct.unpack_from("=8I", told)
    return numbers[0] + max(numbers[2], numbers[5]) + numbers[6] + numbers[7]


def _dump(asking: socket.socket, request: bytes) -> Iterator[bytes]:
    asking.send(_HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _REQUEST | _DUMP, 0, 0) + request)
    while True:
        data = asking.recv(1 << 18)
        while data:
            size, kind, _, _, _ = _HEADER.unpack_from(data)
            if kind in (_DONE, _ERROR):
                return
            yield data[_HEADER.size : size]
            data = data[(size + 3) & ~3 :]


def _attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        if size < 4:
            break
        found[kind] = data[4:size]
        data = data[(size + 3) & ~3 :]
    return found
