"""What the call filter lets processes do to each other by signals."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from convex_evals.grading.sandbox.client import PACKAGE_ROOT
from tests import patience

# Starts a child that dies of any signal, filters its own calls, and then tries every way to send one.
_PROGRAM = """
import ctypes, errno, fcntl, os, signal, sys, threading, time
sys.path.insert(0, {root!r})
from convex_evals.grading.sandbox.seccomp import filter_calls, seccomp_program

child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    while True:
        time.sleep(60)
while os.getpgid(child) != child:
    time.sleep(0.01)
pidfd = os.pidfd_open(child)
filter_calls(seccomp_program(own_network={own_network}))
libc = ctypes.CDLL(None, use_errno=True)
X86 = {x86}
info = (ctypes.c_int * 32)()

def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "")

def queued(wanted):
    info[0], info[2] = wanted, -1
    return info

def outcome(work, *arguments):
    try:
        work(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "sent"

def set_signal(wanted):
    ends = os.pipe()
    fcntl.fcntl(ends[0], fcntl.F_SETOWN, child)
    fcntl.fcntl(ends[0], 10, wanted)

WAYS = {{
    "kill": lambda wanted: os.kill(child, wanted),
    "group": lambda wanted: os.killpg(os.getpgid(child), wanted) if wanted else None,
    "tkill": lambda wanted: call(200 if X86 else 130, child, wanted),
    "tgkill": lambda wanted: call(234 if X86 else 131, child, child, wanted),
    "sigqueue": lambda wanted: call(129 if X86 else 138, child, wanted, queued(wanted)),
    "tgsigqueue": lambda wanted: call(297 if X86 else 240, child, child, wanted, queued(wanted)),
    "pidfd": lambda wanted: call(424, pidfd, wanted, None, 0),
    "descriptor": set_signal,
}}
for wanted in (signal.SIGUSR1, signal.SIGUSR2):
    print(wanted.name, {{name: outcome(way, wanted) for name, way in WAYS.items()}})
print("look", outcome(os.kill, child, 0), "end", outcome(os.kill, child, signal.SIGTERM))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="filters are Linux's")
@pytest.mark.parametrize("own_network", [True, False])
def test_nobody_is_sent_the_signals_that_open_a_debugger(own_network: bool) -> None:
    """Ending one's own children goes on working."""
    program = _PROGRAM.format(root=str(PACKAGE_ROOT), own_network=own_network, x86=platform.machine() == "x86_64")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=patience.seconds(30), check=True
    )
    ways = ("kill", "group", "tkill", "tgkill", "sigqueue", "tgsigqueue", "pidfd", "descriptor")
    refused = dict.fromkeys(ways, "EPERM")
    expected = [f"SIGUSR1 {refused}", f"SIGUSR2 {refused}", "look sent end sent", "-15"]
    assert done.stdout.splitlines() == expected, done.stderr
