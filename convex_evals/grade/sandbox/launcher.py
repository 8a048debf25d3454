"""The launcher: a small process that starts all others that execute or open model-written files.

It holds no secret, so a child that looks at its parent finds none; it is quick to fork; and it makes what takes rights:
networks for trials, Landlock domains, filters. When the process that it works for goes away, it ends all that it
started. It speaks over a Unix socket, in messages with descriptors beside them (`channel`):

    {"op": "network", "id": 1}                        -> {"id": 1}, and sockets that listen in it, see `Networks`
    {"op": "close", "network": 1}
    {"op": "ports", "id": 2, "servers": 8}            -> {"id": 2, "servers": [...]}, and sockets that listen:
                                                         without a network of its own
    {"op": "launch", "id": 3, "argv": ..., ...}       -> {"id": 3, "pid": 4711}, see `Request`
    {"op": "kill", "pid": 4711}
                                                         {"exited": 4711, "status": -9, "reason": null}

A request that fails is answered with {"id": ..., "error": "..."}. A launcher that cannot work says {"failed": "..."}.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import selectors
import signal
import socket
import stat
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convex_evals.grade.sandbox.channel import receive_message, send_message
from convex_evals.grade.sandbox.kernel import (
    CLONE_NEWNET,
    become_namespace_root,
    bring_loopback_up,
    drop_capabilities,
    end_with_parent,
    enter,
    limit,
    unshare,
)
from convex_evals.grade.sandbox.landlock import Rules, restrict
from convex_evals.grade.sandbox.seccomp import filter_calls, seccomp_program

# What a project may connect to on its trial's loopback: ports that the system hands out, and those that people like.
EPHEMERAL_PORTS = range(40_000, 44_096)
PROJECT_PORTS = (*range(3000, 4000), *range(8000, 9000), *EPHEMERAL_PORTS)
_HIDDEN_PORTS = range(20_000, 30_000)  # the answer's: no project may connect to it
_WATCH_SECONDS = 0.5
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Request:
    """What is to be started, and how it is confined before `argv` is executed. Descriptors become 0, 1, 2, 3, ..."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    network: int | None = None  # which one to enter
    own_network: bool = False  # enter a new one that nobody else is in
    project_ports_only: bool = False  # connections to what projects may ask, see PROJECT_PORTS
    rules: dict[str, Any] | None = None  # a Landlock domain, see `Rules`
    filter_calls: bool = False  # for a process in the machine's network
    filter_fd: int | None = None  # a filter for a process in a network of its own can be read from this descriptor
    uid: int | None = None  # user and group to become
    no_rights: bool = False  # of root, whoever starts it
    processors: list[int] = field(default_factory=list)  # the ones to run on; none: all
    limits: dict[str, int] = field(default_factory=dict)
    memory_bytes: int | None = None  # of all its processes together
    folders: list[str] = field(default_factory=list)  # on disk, which it may not fill
    folder_bytes: int = 0  # in each of them, and a file counts for at least a page


@dataclass
class Running:
    """A process that was started, and what watches over it."""

    request: Request
    reason: str | None = None  # why it was ended


def listen_on_loopback(port: int) -> list[socket.socket]:
    """One port on 127.0.0.1 and, where that is possible, on ::1: `localhost` may resolve to either. 0: any port."""
    first = socket.create_server(("127.0.0.1", port))
    sockets = [first]
    with contextlib.suppress(OSError):
        sockets.append(socket.create_server(("::1", first.getsockname()[1]), family=socket.AF_INET6))
    return sockets


def free_ports(count: int) -> list[int]:
    """Numbers of ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [s.getsockname()[1] for s in sockets]
    finally:
        for opened in sockets:
            opened.close()


class Networks:
    """Network namespaces with nothing but a loopback, one for each trial.

    Each comes with sockets that listen on a port which projects may not connect to: on 127.0.0.1, and on ::1 if there
    is one.
    """

    def __init__(self) -> None:
        self._namespaces: dict[int, int] = {}

    def make(self, network: int) -> list[socket.socket]:
        unshare(CLONE_NEWNET)
        bring_loopback_up()
        ports = f"{EPHEMERAL_PORTS.start} {EPHEMERAL_PORTS.stop - 1}"
        Path("/proc/sys/net/ipv4/ip_local_port_range").write_text(ports, encoding="ascii")
        self._namespaces[network] = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        return listen_on_loopback(random.choice(_HIDDEN_PORTS))

    def close(self, network: int) -> None:
        os.close(self._namespaces.pop(network))

    def enter(self, network: int) -> None:
        enter(self._namespaces[network])


class Launcher:
    """Serves one socket until its other end is closed."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._networks = Networks()
        self._running: dict[int, Running] = {}
        self._project_rules: int | None = None

    def serve(self) -> None:
        selector = selectors.DefaultSelector()
        wake_read, wake_write = os.pipe()
        for end in (wake_read, wake_write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        selector.register(self._channel, selectors.EVENT_READ)
        selector.register(wake_read, selectors.EVENT_READ)
        watched = time.monotonic()
        while True:
            ready = {key.fd for key, _ in selector.select(_WATCH_SECONDS if self._running else None)}
            if wake_read in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake_read, 4096)
                self._reap()
            if self._channel.fileno() in ready and not self._receive():
                return
            if time.monotonic() - watched >= _WATCH_SECONDS:
                self._watch()
                watched = time.monotonic()

    def end(self) -> None:
        """Kill all that still runs."""
        for pid in self._running:
            _kill(pid)

    def _receive(self) -> bool:
        received = receive_message(self._channel)
        if received is None:
            return False
        message, descriptors = received
        try:
            match message.pop("op"):
                case "network":
                    self._hand_over({"id": message["id"]}, self._networks.make(message["id"]))
                case "close":
                    self._networks.close(message["network"])
                case "ports":
                    servers = free_ports(message["servers"])
                    self._hand_over({"id": message["id"], "servers": servers}, listen_on_loopback(0))
                case "launch":
                    identity = message.pop("id")
                    self._send({"id": identity, "pid": self._launch(Request(**message), descriptors)})
                case "kill":
                    if message["pid"] in self._running:
                        _kill(message["pid"])
        except OSError as error:
            self._send({"id": message.get("id"), "error": f"{error.strerror}"})
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def _hand_over(self, message: dict[str, object], sockets: list[socket.socket]) -> None:
        self._send(message, [s.fileno() for s in sockets])
        for opened in sockets:
            opened.close()

    def _send(self, message: dict[str, object], descriptors: list[int] | None = None) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            send_message(self._channel, message, descriptors or [])

    def _launch(self, request: Request, descriptors: list[int]) -> int:
        if request.project_ports_only and self._project_rules is None:
            self._project_rules = Rules(connect=PROJECT_PORTS).prepare()
        pid = os.fork()
        if pid == 0:
            try:
                self._become(request, descriptors)
            except BaseException as error:
                os.write(2, f"cannot start {request.argv[0]}: {error}\n".encode())
            finally:
                os._exit(127)
        self._running[pid] = Running(request)
        return pid

    def _become(self, request: Request, descriptors: list[int]) -> None:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        if request.processors:
            with contextlib.suppress(OSError):  # they may have been taken away meanwhile
                os.sched_setaffinity(0, request.processors)
        end_with_parent(signal.SIGKILL)
        if request.network is not None:
            self._networks.enter(request.network)
        elif request.own_network:
            unshare(CLONE_NEWNET)
        rulesets = [self._project_rules] if request.project_ports_only and self._project_rules is not None else []
        if request.rules is not None:
            rulesets.append(Rules(**request.rules).prepare())
        last = _arrange(descriptors, request.filter_fd, rulesets)
        os.chdir(request.cwd)
        if request.uid is not None:
            os.setgroups([])
            os.setresgid(request.uid, request.uid, request.uid)
            os.setresuid(request.uid, request.uid, request.uid)
            end_with_parent(signal.SIGKILL)  # a change of user takes it back
        limit(_for_everybody(request.limits) if request.uid is None else request.limits)
        for ruleset in range(last, last + len(rulesets)):
            restrict(ruleset)
        os.closerange(last, os.sysconf("SC_OPEN_MAX"))
        if request.no_rights:
            drop_capabilities()
        if request.filter_calls:
            filter_calls(seccomp_program(own_network=False, own_user=request.uid is not None))
        os.execve(request.argv[0], request.argv, request.env)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            running = self._running.pop(pid, None)
            _kill_group(pid)  # what it left behind
            if running is not None:
                code = os.waitstatus_to_exitcode(status)
                self._send({"exited": pid, "status": code, "reason": running.reason})

    def _watch(self) -> None:
        limited = {pid: running for pid, running in self._running.items() if running.request.memory_bytes}
        used = _memory_by_root(limited.keys()) if limited else {}
        for pid, running in limited.items():
            request = running.request
            if request.memory_bytes and sum(used[pid].values()) > request.memory_bytes:
                running.reason = f"used more than {request.memory_bytes // 2**20} MiB of memory"
            elif request.folders and (
                _nameless_size(used[pid]) > request.folder_bytes
                or any(_size(folder, request.folder_bytes) > request.folder_bytes for folder in request.folders)
            ):
                running.reason = f"wrote more than {request.folder_bytes // 2**20} MiB"
            if running.reason:
                _kill(pid)


def _size(folder: str, enough: int) -> int:
    """Bytes below a folder; counting stops when there are more than `enough`."""
    size = 0
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            with contextlib.suppress(OSError):
                size += max(_PAGE_BYTES, os.lstat(f"{parent}/{name}").st_blocks * 512)
        if size > enough:
            break
    return size


def _nameless_size(pids: Iterable[int]) -> int:
    """Bytes of files that processes have open and that have no name any more, as far as we may look."""
    sizes: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    found = Path(entry.path).stat()
                    if found.st_nlink == 0 and stat.S_ISREG(found.st_mode):
                        sizes[found.st_dev, found.st_ino] = found.st_blocks * 512
    return sum(sizes.values())


def _arrange(descriptors: list[int], filter_fd: int | None, rulesets: list[int]) -> int:
    """Move descriptors to 0, 1, 2, ..., a filter to its place, and rulesets behind them: the first number of these."""
    wanted = list(descriptors)
    if filter_fd is not None:
        read_end, write_end = os.pipe()
        os.write(write_end, seccomp_program(own_network=True))
        os.close(write_end)
        wanted.insert(filter_fd, read_end)
    last = len(wanted)
    wanted += rulesets
    # First out of each other's way.
    moved = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 200) for number in wanted]
    for place, number in enumerate(moved):
        os.dup2(number, place)
    return last


def _for_everybody(limits: dict[str, int]) -> dict[str, int]:
    """Processes are counted by user: those that are there already must not count."""
    if "processes" not in limits:
        return limits
    present = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                present += sum(1 for _ in (entry / "task").iterdir())
    return {**limits, "processes": limits["processes"] + present}


def _kill(pid: int) -> None:
    """Kill a child that was not waited for yet. Just forked, it has no group of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    _kill_group(pid)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _memory_by_root(roots: Iterable[int]) -> dict[int, dict[int, int]]:
    """Resident bytes of each root process, all its descendants, and all of its process group, by process."""
    parents: dict[int, int] = {}
    groups: dict[int, int] = {}
    resident: dict[int, int] = {}
    for pid in (int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()):
        try:
            # It is read for every process twice a second: without the layers of Python's files.
            opened = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        except OSError:
            continue
        try:
            line = os.read(opened, 4096)
        except OSError:
            continue
        finally:
            os.close(opened)
        fields = line[line.rindex(b")") + 2 :].split()
        parents[pid], groups[pid] = int(fields[1]), int(fields[2])
        resident[pid] = int(fields[21]) * _PAGE_BYTES
    used: dict[int, dict[int, int]] = {root: {} for root in roots}
    for pid, size in resident.items():
        above: int | None = pid
        while above is not None and above not in used:
            above = parents.get(above)
        if above is None and groups[pid] in used:
            above = groups[pid]
        if above is not None:
            used[above][pid] = size
    return used


def _open_channel(where: str) -> socket.socket:
    if where.isdecimal():
        return socket.socket(fileno=int(where))
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.connect(where)
    return channel


def main() -> None:
    """`launcher FD|PATH own-user|new-user`: serve the socket FD, or the one that listens at PATH; with `new-user`, from
    a user namespace of its own."""
    channel = _open_channel(sys.argv[1])
    # What a terminal sends to all is for the process that we work for: it says what is to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.argv[2] == "new-user":
        try:
            become_namespace_root()
        except OSError as error:
            with contextlib.suppress(OSError):
                send_message(channel, {"failed": f"no user namespaces: {error.strerror}"})
            return
    launcher = Launcher(channel)
    try:
        launcher.serve()
    finally:
        launcher.end()
