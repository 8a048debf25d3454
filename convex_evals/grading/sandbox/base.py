"""How processes that execute or open model-written files are started: one small interface, several levels.

Callers say what a process is for and what it needs; the level decides how it is contained.
"""

from __future__ import annotations

import random
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from convex_evals.grading.sandbox.client import LauncherClient
from convex_evals.grading.sandbox.networks import listen_hidden
from convex_evals.grading.sandbox.request import LaunchRequest
from convex_evals.process import Child

# Of all processes of one launch together, and of what they write: a trial that needs more is at fault.
MEMORY_BYTES = 2 * 2**30
SHARED_MEMORY_BYTES = 3 * 2**30  # of our own programs, which keep what they know of libraries
WRITABLE_BYTES = 256 * 2**20
WRITABLE_FILES = 2**15  # in a folder in memory: each takes a kilobyte that is in no process
PROCESSES = 512  # threads count
# Of a process: what is only read takes a page of tables for each 2 MiB of addresses, and is not resident. Node.js needs
# 10 GiB of addresses for each WebAssembly memory.
_ADDRESS_BYTES = 128 * 2**30
_LIMITS = {
    "open_files": 2048,
    "file_bytes": WRITABLE_BYTES,
    "data_bytes": MEMORY_BYTES,
    "cpu_seconds": 600,
    "core_bytes": 0,
    "address_bytes": _ADDRESS_BYTES,
    "locked_bytes": 2**16,
    "pending_signals": 1024,  # timers count
    "queue_bytes": 0,
}
_SHARED_LIMITS = {"open_files": 4096, "data_bytes": 2 * SHARED_MEMORY_BYTES, "core_bytes": 0}
# What programs need of the system.
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")


class Level(StrEnum):
    """How model-written code is contained, best first."""

    STRICT = "strict"
    LANDLOCK = "landlock"
    CONTAINER = "container"
    NONE = "none"


@dataclass(frozen=True)
class HiddenPort:
    """Sockets that listen on one port, on 127.0.0.1 and where possible on ::1; no project can connect to it."""

    sockets: tuple[socket.socket, ...]
    number: int

    @property
    def descriptors(self) -> list[int]:
        return [opened.fileno() for opened in self.sockets]

    def close(self) -> None:
        """Leave the sockets to the other process that has them: clients notice when it dies."""
        for opened in self.sockets:
            opened.close()


@dataclass(frozen=True)
class Network:
    """The loopback that the processes of one trial share, with ports that are the tester's alone."""

    answer: HiddenPort
    project: HiddenPort  # its deployment, with the rights of an administrator
    project_site: HiddenPort  # and its HTTP actions
    number: int | None = None
    server_ports: tuple[int, ...] = ()  # on which a grader may have servers for the project

    @classmethod
    def of(
        cls, sockets: Iterable[socket.socket], number: int | None = None, server_ports: Iterable[int] = ()
    ) -> Network:
        """With what listens on its hidden ports, in any number of sockets for each."""
        ports: dict[int, list[socket.socket]] = {}
        for opened in sockets:
            ports.setdefault(opened.getsockname()[1], []).append(opened)
        answer, project, site = (HiddenPort(tuple(found), port) for port, found in ports.items())
        return cls(answer, project, site, number, tuple(server_ports))


@dataclass(frozen=True)
class Launch:
    """What one contained process needs."""

    argv: Sequence[str | Path]
    cwd: Path
    env: Mapping[str, str]
    readable: Sequence[Path] = ()  # files and folders, besides system and toolchain
    writable: Sequence[Path] = ()  # folders; what is written may be gone when the process is
    fresh: Sequence[Path] = ()  # the same, and empty at first
    # Folders that it changes for us: only our own programs have some, which open model-written files and execute none.
    shared: Sequence[Path] = ()
    capture: bool = False  # its stdout can be read
    pass_fds: Sequence[int] = ()  # become 3, 4, ...
    network: Network | None = None
    ports: Sequence[int] = ()  # that it connects to
    alone: bool = False  # nothing else of the network is within its reach
    # Its code is the project's: connections to hidden ports are refused.
    project_code: bool = False
    together: str | None = None  # launches of this name may use together what one may

    @property
    def is_ours(self) -> bool:
        """Whether it executes nothing of a suite or a model."""
        return bool(self.shared)

    @property
    def limits(self) -> Mapping[str, int]:
        """What each of its processes may use; our own programs know limits of their own."""
        return _SHARED_LIMITS if self.is_ours else _LIMITS

    @property
    def memory_bytes(self) -> int:
        """What all its processes may use together."""
        return SHARED_MEMORY_BYTES if self.is_ours else MEMORY_BYTES


def unused_user() -> int:
    """The number of a user that has no processes or files: limits count by user, and signals go by user."""
    return random.randint(1_900_000_000, 1_999_999_999)


class Sandbox(Protocol):
    """A level of containment, at work."""

    @property
    def level(self) -> Level: ...

    async def launch(self, launch: Launch) -> Child:
        """Start a process. Raises `ProcessFault` where that is impossible."""

    def network(self) -> AbstractAsyncContextManager[Network]:
        """A network for one trial."""


@dataclass(frozen=True)
class NoSandbox:
    """Clean environment and an own process group, nothing more; `exposed` hears of code that is not ours."""

    launcher: LauncherClient
    exposed: Callable[[], None] = lambda: None
    level: Level = Level.NONE

    async def launch(self, launch: Launch) -> Child:
        if not launch.is_ours:
            self.exposed()
        request = LaunchRequest([str(word) for word in launch.argv], dict(launch.env), str(launch.cwd))
        return await self.launcher.launch(request, launch.pass_fds, capture=launch.capture)

    def network(self) -> AbstractAsyncContextManager[Network]:
        return machine_network()


@asynccontextmanager
async def machine_network() -> AsyncIterator[Network]:
    """Ports of the machine's own loopback."""
    sockets = listen_hidden()
    try:
        for opened in sockets:
            opened.setblocking(False)
        yield Network.of(sockets)
    finally:
        for opened in sockets:
            opened.close()
