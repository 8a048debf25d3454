"""Watches over what launches use, where the system does not limit it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from convex_evals.grading.sandbox.request import LaunchRequest
from convex_evals.grading.sandbox.sockets import memory_in_sockets
from convex_evals.grading.sandbox.usage import Use, folder_size, nameless_size, use_by_root

_SECONDS = 0.5
_SECONDS_OF_A_BURST = 0.05
_BURST = 1 / 16  # of a limit, between two looks
# Descriptors of a launch: each may be a socket, a pipe or a queue, with memory that is in no process.
_MOST_DESCRIPTORS = 4096


@dataclass
class Watch:
    """Looks now and then, and more often at those who take a lot at once."""

    seconds: float = _SECONDS  # until the next look
    _before: dict[int, float] = field(default_factory=dict)

    def look(self, launches: Mapping[int, LaunchRequest]) -> dict[int, str]:
        """Which of these launches, by their first process, use more than they may, and what of."""
        limited = {pid: request for pid, request in launches.items() if request.memory_bytes}
        used = use_by_root(limited) if limited else {}
        answers_for = _answers_for(limited, {pid: _counted(limited[pid], use, pid) for pid, use in used.items()})
        found: dict[int, str] = {}
        shares: dict[int, float] = {}
        for pid, request in limited.items():
            shares[pid], reason = _judge(request, answers_for[pid], used[pid].pids)
            if reason:
                found[pid] = reason
        burst = any(share > self._before.get(pid, 0) + _BURST for pid, share in shares.items())
        self.seconds = _SECONDS_OF_A_BURST if burst else _SECONDS
        self._before = shares
        return found


def too_much_memory(request: LaunchRequest) -> str:
    """Why a launch was ended, in the words that verdicts have."""
    return f"used more than {(request.memory_bytes or 0) // 2**20} MiB of memory"


@dataclass(frozen=True)
class _Counted:
    """What is held against a limit."""

    memory: int  # bytes
    descriptors: int


def _counted(request: LaunchRequest, use: Use, pid: int) -> _Counted:
    memory = use.memory
    # In a network of its own, those of root are connections that were never accepted, and a few of ours. In the
    # machine's network, only what a user of its own has is known to be the launch's.
    own_network = request.network is not None or request.own_network
    users = use.users | {0} if own_network else set() if request.uid is None else {request.uid}
    if users:
        with contextlib.suppress(OSError):
            memory += sum(size for user, size in memory_in_sockets(pid).items() if user in users)
    return _Counted(memory, use.descriptors)


def _answers_for(launches: Mapping[int, LaunchRequest], counted: Mapping[int, _Counted]) -> dict[int, _Counted]:
    """What each launch answers for: its own use, and the largest of those that share a limit for that of all of them.

    So the largest is ended first, and the next one at the next look, where that was not enough.
    """
    shared: dict[str, list[int]] = {}
    for pid, request in launches.items():
        if request.together:
            shared.setdefault(request.together, []).append(pid)
    found = dict(counted)
    for pids in shared.values():
        largest = max(pids, key=lambda pid: counted[pid].memory)
        busiest = max(pids, key=lambda pid: counted[pid].descriptors)
        found[largest] = replace(found[largest], memory=sum(counted[pid].memory for pid in pids))
        found[busiest] = replace(found[busiest], descriptors=sum(counted[pid].descriptors for pid in pids))
    return found


def _judge(request: LaunchRequest, use: _Counted, pids: Sequence[int]) -> tuple[float, str | None]:
    """How much of what it may use a launch does, and why it is to end, if it is."""
    most = request.memory_bytes or 0
    share = use.memory / most
    if use.memory > most:
        return share, too_much_memory(request)
    if use.descriptors > _MOST_DESCRIPTORS:
        return share, f"opened more than {_MOST_DESCRIPTORS} files, sockets and pipes at once"
    if request.folders:
        written = max(nameless_size(pids), *(folder_size(folder, request.folder_bytes) for folder in request.folders))
        share = max(share, written / request.folder_bytes)
        if written > request.folder_bytes:
            return share, f"wrote more than {request.folder_bytes // 2**20} MiB"
    return share, None
