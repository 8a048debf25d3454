"""The launcher: a small process that starts all others that execute or open model-written files.

It holds no secret, so a child that looks at its parent finds none; it is quick to fork; and it makes what takes rights:
networks for trials, Landlock domains, filters. When the process that it works for goes away, it ends all that it
started. It speaks over a Unix socket, in messages with descriptors beside them (`channel`):

    {"op": "network", "id": 1}                        -> {"id": 1}, and sockets that listen in it, see `Networks`
    {"op": "close", "network": 1}
    {"op": "ports", "id": 2, "servers": 8}            -> {"id": 2, "servers": [...]}, and sockets that listen:
                                                         without a network of its own
    {"op": "launch", "id": 3, "argv": ..., ...}       -> {"id": 3, "pid": 4711}, see `LaunchRequest`
    {"op": "means", "id": 4}                          -> {"id": 4, "means": "cgroup v2"}: what limits memory, or null
    {"op": "kill", "pid": 4711}
                                                         {"exited": 4711, "status": -9, "reason": null}

A request that fails is answered with {"id": ..., "error": "..."}. A launcher that cannot work says {"failed": "..."}.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import sys
import time
from dataclasses import dataclass

from convex_evals.grading.sandbox.become import become
from convex_evals.grading.sandbox.cgroup import ControlGroup, open_groups
from convex_evals.grading.sandbox.channel import receive_message, send_message
from convex_evals.grading.sandbox.kernel import become_namespace_root
from convex_evals.grading.sandbox.landlock import LandlockRules
from convex_evals.grading.sandbox.networks import PROJECT_PORTS, Networks, free_ports, listen_hidden
from convex_evals.grading.sandbox.request import LaunchRequest
from convex_evals.grading.sandbox.watch import Watch, too_much_memory


@dataclass
class Running:
    """A process that was started, and what watches over it."""

    request: LaunchRequest
    reason: str | None = None  # why it was ended
    group: ControlGroup | None = None


# Why each end is reported once, and no signal reaches a stranger: a process keeps its number, ended or not, until
# `waitpid` has returned it; from then on the kernel may give the number to another process. So a number is in
# `_running` from `fork` until `waitpid`, and requests to kill any other are ignored. What one launch looks like:
#
#   what asks                    this process                               launched processes
#   launch, id 3            ->   fork: 4711, into _running
#                           <-   {"id": 3, "pid": 4711}
#                                                                           4711: setsid, executes, starts 4712
#                                                                           4711 ends, 4712 goes on
#                                SIGCHLD: a byte in the wake pipe
#   kill 4711 (late)        ->   (stays in the socket)
#                                _reap: waitpid gives 4711, out of _running
#                                killpg 4711                                4712 ends
#                           <-   {"exited": 4711, "status": 0, ...}
#                                _receive: kill 4711, which is not in _running: nothing
#
# - The wake pipe: a SIGCHLD that comes between `_reap` and `select` would otherwise be noticed at the next message
#   only, which may never come. Several ends may make one SIGCHLD, so `_reap` asks until there are no more.
# - A `kill` that is read before `_reap` meets a process that ended and is not waited for: it does no harm.
# - `killpg` after `waitpid`: the group's number is not given away while 4712 is in the group. Where none is left in it,
#   there is no such group, and the call fails.
# - What is just forked has not called `setsid` yet and is in this process's group: `_kill` signals it by its own number
#   as well, or a kill that follows the launch at once would miss it.
# - `reason` is set before the exit is sent: an exit without one is the project's own doing.
# - The answer to a launch is always sent before its exit, since both are sent by this one thread.


class Launcher:
    """Serves one socket until its other end is closed."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._networks = Networks()
        self._running: dict[int, Running] = {}
        self._project_rules: int | None = None
        self._watch = Watch()
        self._groups = open_groups()

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
            ready = {key.fd for key, _ in selector.select(self._watch.seconds if self._running else None)}
            if wake_read in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake_read, 4096)
                self._reap()
            if self._channel.fileno() in ready and not self._receive():
                return
            if time.monotonic() - watched >= self._watch.seconds:
                self._look()
                watched = time.monotonic()

    def end(self) -> None:
        """Kill all that still runs."""
        for pid in self._running:
            _kill(pid)
        if self._groups is None:
            return
        for pid, running in self._running.items():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
            if running.group:
                self._groups.leave(running.group)
        self._groups.close()

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
                    self._hand_over({"id": message["id"], "servers": servers}, listen_hidden())
                case "means":
                    self._send({"id": message["id"], "means": self._groups.means if self._groups else None})
                case "launch":
                    identity = message.pop("id")
                    self._send({"id": identity, "pid": self._launch(LaunchRequest(**message), descriptors)})
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

    def _launch(self, request: LaunchRequest, descriptors: list[int]) -> int:
        if request.project_ports_only and self._project_rules is None:
            self._project_rules = LandlockRules(connect=PROJECT_PORTS).prepare()
        group = None
        if self._groups and request.memory_bytes:
            with contextlib.suppress(OSError):  # then it is watched alone
                group = self._groups.make(request.memory_bytes, request.most_processes)
        pid = os.fork()
        if pid == 0:
            try:
                if group:
                    with contextlib.suppress(OSError):
                        group.enter()
                become(request, descriptors, self._networks, self._project_rules)
            except BaseException as error:
                os.write(2, f"cannot start {request.argv[0]}: {error}\n".encode())
            finally:
                os._exit(127)
        self._running[pid] = Running(request, group=group)
        return pid

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
                if running.group and self._groups:
                    if running.group.ran_out():
                        running.reason = too_much_memory(running.request)
                    self._groups.leave(running.group)
                code = os.waitstatus_to_exitcode(status)
                self._send({"exited": pid, "status": code, "reason": running.reason})

    def _look(self) -> None:
        if self._groups:
            self._groups.tidy()
        for pid, running in self._running.items():
            if running.group and running.group.ran_out():
                _kill(pid)  # version 1 ends a process of it at a time
        requests = {pid: running.request for pid, running in self._running.items()}
        for pid, reason in self._watch.look(requests).items():
            self._running[pid].reason = reason
            _kill(pid)


def _kill(pid: int) -> None:
    """Kill a child that was not waited for yet. Just forked, it has no group of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    _kill_group(pid)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


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
