"""What a forked launcher does to become the process that was asked for."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from pathlib import Path
from typing import NoReturn

from convex_evals.grading.sandbox.kernel import (
    CLONE_NEWNET,
    drop_capabilities,
    end_with_parent,
    leave_mounts,
    limit,
    mount_memory,
    unshare,
)
from convex_evals.grading.sandbox.landlock import LandlockRules, restrict
from convex_evals.grading.sandbox.networks import Networks
from convex_evals.grading.sandbox.request import LaunchRequest
from convex_evals.grading.sandbox.seccomp import filter_calls, seccomp_program


def become(request: LaunchRequest, descriptors: list[int], networks: Networks, project_rules: int | None) -> NoReturn:
    """Confine this process, which was just forked, and execute what was asked for."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    if request.processors:
        with contextlib.suppress(OSError):  # they may have been taken away meanwhile
            os.sched_setaffinity(0, request.processors)
    end_with_parent(signal.SIGKILL)
    if request.network is not None and request.reach is not None:
        networks.enter_alone(request.network, request.reach)
    elif request.network is not None:
        networks.enter(request.network)
    elif request.own_network:
        unshare(CLONE_NEWNET)
    rulesets = [project_rules] if request.project_ports_only and project_rules is not None else []
    if request.rules is not None:
        rulesets.append(LandlockRules(**request.rules).prepare())
    if request.memory_places:
        leave_mounts()
        for place in request.memory_places:
            mount_memory(place, request.place_bytes, request.place_files)
    last = _arrange(descriptors, request.filter_fd, rulesets)
    os.chdir(request.cwd)
    if request.uid is not None:
        os.setgroups([])
        os.setresgid(request.uid, request.uid, request.uid)
        os.setresuid(request.uid, request.uid, request.uid)
        end_with_parent(signal.SIGKILL)  # a change of user takes it back
    limit(_counting_others(request.limits) if request.uid is None else request.limits)
    for ruleset in range(last, last + len(rulesets)):
        restrict(ruleset)
    os.closerange(last, os.sysconf("SC_OPEN_MAX"))
    if request.no_rights:
        drop_capabilities()
    if request.filter_calls:
        filter_calls(seccomp_program(own_network=False, own_user=request.uid is not None))
    os.execve(request.argv[0], request.argv, request.env)


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


def _counting_others(limits: dict[str, int]) -> dict[str, int]:
    """With room for the processes that this user has already: the system counts all of them."""
    if "processes" not in limits:
        return limits
    present = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                present += sum(1 for _ in (entry / "task").iterdir())
    return {**limits, "processes": limits["processes"] + present}
