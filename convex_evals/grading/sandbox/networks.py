"""Network namespaces for trials, and ports."""

from __future__ import annotations

import contextlib
import os
import random
import socket
from collections.abc import Sequence
from pathlib import Path

from convex_evals.grading.sandbox.forward import start_forwarding
from convex_evals.grading.sandbox.kernel import CLONE_NEWNET, bring_loopback_up, enter, unshare

# What a project may connect to on its trial's loopback: ports that the system hands out, and those that servers
# usually take.
EPHEMERAL_PORTS = range(40_000, 44_096)
PROJECT_PORTS = (*range(3000, 4000), *range(8000, 9000), *EPHEMERAL_PORTS)
_PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_HIDDEN_PORTS = range(20_000, 30_000)  # for the tester alone: no project may connect to them
# Of a trial: the answer's, and the tester's own ways to the project's deployment and to its HTTP actions.
HIDDEN_COUNT = 3


def listen_on_loopback(port: int) -> list[socket.socket]:
    """One port on 127.0.0.1 and, where that is possible, on ::1: `localhost` may resolve to either. 0: any port."""
    first = socket.create_server(("127.0.0.1", port))
    sockets = [first]
    with contextlib.suppress(OSError):
        sockets.append(socket.create_server(("::1", first.getsockname()[1]), family=socket.AF_INET6))
    return sockets


def listen_hidden() -> list[socket.socket]:
    """On `HIDDEN_COUNT` ports, where nothing but rules for ports hides them."""
    return [opened for _ in range(HIDDEN_COUNT) for opened in listen_on_loopback(0)]


def free_ports(count: int) -> list[int]:
    """Numbers of free ports outside the range that the system assigns from."""
    first, last = map(int, _PORT_RANGE.read_text(encoding="ascii").split())
    numbers = [port for port in range(10_000, 65_536) if not first <= port <= last]
    random.shuffle(numbers)
    found: list[int] = []
    for port in numbers:
        with contextlib.suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            found.append(port)
        if len(found) == count:
            break
    return found


class Networks:
    """Network namespaces with nothing but a loopback, one for each trial.

    Each comes with sockets that listen on ports which projects may not connect to: on 127.0.0.1, and on ::1 if there
    is one.
    """

    def __init__(self) -> None:
        self._namespaces: dict[int, int] = {}

    def make(self, network: int) -> list[socket.socket]:
        _enter_new()
        self._namespaces[network] = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        hidden = random.sample(_HIDDEN_PORTS, HIDDEN_COUNT)
        return [opened for port in hidden for opened in listen_on_loopback(port)]

    def close(self, network: int) -> None:
        os.close(self._namespaces.pop(network))

    def enter(self, network: int) -> None:
        enter(self._namespaces[network])

    def enter_alone(self, network: int, ports: Sequence[int]) -> None:
        """Enter a new network, in which these ports lead to those of `network`."""
        _enter_new()
        if ports:
            listening = [opened for port in ports for opened in listen_on_loopback(port)]
            start_forwarding(listening, self._namespaces[network])


def _enter_new() -> None:
    unshare(CLONE_NEWNET)
    bring_loopback_up()
    _PORT_RANGE.write_text(f"{EPHEMERAL_PORTS.start} {EPHEMERAL_PORTS.stop - 1}", encoding="ascii")
