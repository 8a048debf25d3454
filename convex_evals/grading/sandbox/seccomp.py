"""Seccomp: which system calls a process may make, as a program in classic BPF.

Source: seccomp(2) and https://docs.kernel.org/userspace-api/seccomp_filter.html.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import signal
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from convex_evals.grading.sandbox.kernel import LIBC, checked, no_new_privileges
from convex_evals.grading.sandbox.system_calls import system_calls

_PR_SET_SECCOMP = 22
_AF_NETLINK = 16
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# In the machine's own namespaces: they change files of the same user by path, which Landlock lets pass, ...
_BY_PATH = frozenset(
    {
        *("chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utime", "utimes", "futimesat"),
        *("setxattr", "lsetxattr", "setxattrat", "removexattr", "lremovexattr", "removexattrat"),
    }
)
# ... or another process of the same user, unless this argument is 0: the caller itself.
_BY_PROCESS = {
    **dict.fromkeys(("prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"), 0),
    **dict.fromkeys(("migrate_pages", "move_pages"), 0),
    **dict.fromkeys(("setpriority", "ioprio_set"), 1),
}
# Which argument is the signal. Node.js takes SIGUSR1 as a request to be debugged, and then listens on the loopback of
# its network; the other one may make our own programs write reports.
_SIGNALS = {
    **dict.fromkeys(("kill", "tkill", "rt_sigqueueinfo", "pidfd_send_signal"), 1),
    **dict.fromkeys(("tgkill", "rt_tgsigqueueinfo"), 2),
}
# A byte in a pipe or a socket may hold a whole page, which then is in no process. Programs that try these fall back to
# copying.
_BY_REFERENCE = ("sendfile", "splice", "tee", "vmsplice")
_SET_SIGNAL = 10  # fcntl: a signal of one's choice for what happens to a descriptor, to a process of one's choice
# With conditions of their own; the rest of the table is refused whatever the arguments are.
_CONDITIONAL = frozenset(
    {"socket", "clone", "clone3", "setpgid", "setsid", "ioctl", "sendto", "sendmsg", "sendmmsg", "mmap", "utimensat"}
    | {"fcntl", *_BY_REFERENCE}
    | _SIGNALS.keys()
    | _BY_PATH
    | _BY_PROCESS.keys()
)
_SHARED, _ANONYMOUS = 0x1, 0x20
_NAMESPACE_FLAGS = 0x7E020080  # every CLONE_NEW*
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_FAST_OPEN = 0x20000000
_LOAD, _EQUALS, _GREATER, _MASKS, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_NR, _ARCH, _ARGUMENTS = 0, 4, 16


def _errno(code: int) -> int:
    return 0x00050000 | code


@dataclass
class _Assembler:
    """Classic BPF, block after block: each falls through to the next, or returns."""

    code: list[tuple[int, int, int, int]] = field(default_factory=list)

    def load(self, offset: int) -> None:
        self.code.append((_LOAD, 0, 0, offset))

    def answer(self, action: int) -> None:
        self.code.append((_RETURN, 0, 0, action))

    def on_call(self, number: int, block: _Assembler) -> None:
        """Run `block` for this system call; it ends with an answer."""
        self.code.append((_EQUALS, 0, len(block.code), number))
        self.code += block.code

    def bytes(self) -> bytes:
        return b"".join(struct.pack("HBBI", *instruction) for instruction in self.code)


def _refuse(action: int) -> _Assembler:
    block = _Assembler()
    block.answer(action)
    return block


def _refuse_flags(argument: int, mask: int, code: int) -> _Assembler:
    block = _Assembler()
    block.load(_ARGUMENTS + 8 * argument)
    block.code.append((_MASKS, 0, 1, mask))
    block.answer(_errno(code))
    block.answer(_ALLOW)
    return block


def _refuse_values(argument: int, values: Sequence[int], code: int) -> _Assembler:
    block = _Assembler()
    block.load(_ARGUMENTS + 8 * argument)
    for value in values:
        block.code.append((_EQUALS, 0, 1, value))
        block.answer(_errno(code))
    block.answer(_ALLOW)
    return block


def _refuse_all_but_zero(argument: int, code: int) -> _Assembler:
    """Refused unless an argument is 0, in all of its 64 bits."""
    block = _Assembler()
    for half in (0, 4):
        block.load(_ARGUMENTS + 8 * argument + half)
        block.code.append((_EQUALS, 1, 0, 0))
        block.answer(_errno(code))
    block.answer(_ALLOW)
    return block


def _refuse_shared_memory() -> _Assembler:
    """No shared anonymous memory: it may be unmapped and stay, and then it is in no process."""
    block = _Assembler()
    block.load(_ARGUMENTS + 8 * 3)
    block.code.append((_AND, 0, 0, _SHARED | _ANONYMOUS))
    block.code.append((_EQUALS, 0, 1, _SHARED | _ANONYMOUS))
    block.answer(_errno(errno.EPERM))
    block.answer(_ALLOW)
    return block


def _judge_sockets(network: bool) -> _Assembler:
    """TCP; with a network of one's own UDP, queries of interfaces and Unix sockets, too. Never packets or vsock.

    Landlock does not judge connections to Unix sockets, and servers of the machine may listen on some; pairs of
    connected ones can be had without this call.
    """
    block = _Assembler()
    block.load(_ARGUMENTS)
    allowed = [socket.AF_INET, socket.AF_INET6, *([socket.AF_UNIX, _AF_NETLINK] if network else [])]
    for index, family in enumerate(allowed):
        block.code.append((_EQUALS, len(allowed) - index, 0, family))
    block.answer(_errno(errno.EAFNOSUPPORT))
    if not network:
        block.load(_ARGUMENTS + 8)
        block.code.append((_AND, 0, 0, 0xF))
        block.code.append((_EQUALS, 1, 0, socket.SOCK_STREAM))
        block.answer(_errno(errno.EACCES))
    block.answer(_ALLOW)
    return block


def seccomp_program(*, own_network: bool, own_user: bool = False) -> bytes:
    """The filter as an array of `struct sock_filter`.

    Without `own_network` the process shares the machine's: it gets stream sockets only (Landlock judges those), and
    cannot leave its process group, by which it is found and ended. With `own_user` there is nothing of others whose
    mode or times it could change.

    Raises `OSError` for a machine whose system calls are not in the table.
    """
    return _assemble(platform.machine(), own_network, own_user)


@cache
def _assemble(machine: str, own_network: bool, own_user: bool) -> bytes:
    numbers = system_calls(machine)
    program = _Assembler()
    program.load(_ARCH)
    program.code.append((_EQUALS, 1, 0, _AUDIT_ARCH[machine]))
    program.answer(_KILL)
    program.load(_NR)
    program.code.append((_GREATER, 0, 1, 0x40000000))  # the x32 calls
    program.answer(_KILL)
    for name in sorted(numbers.keys() - _CONDITIONAL):
        program.on_call(numbers[name], _refuse(_errno(errno.EPERM)))
    for name in _BY_REFERENCE:
        program.on_call(numbers[name], _refuse(_errno(errno.EINVAL)))
    program.on_call(numbers["clone3"], _refuse(_errno(errno.ENOSYS)))  # its flags are out of reach; clone is tried
    program.on_call(numbers["clone"], _refuse_flags(0, _NAMESPACE_FLAGS, errno.EPERM))
    program.on_call(numbers["ioctl"], _refuse_values(1, (_TIOCSTI, _TIOCLINUX), errno.EPERM))
    program.on_call(numbers["socket"], _judge_sockets(own_network))
    program.on_call(numbers["mmap"], _refuse_shared_memory())
    for name, argument in _SIGNALS.items():
        program.on_call(numbers[name], _refuse_values(argument, (signal.SIGUSR1, signal.SIGUSR2), errno.EPERM))
    program.on_call(numbers["fcntl"], _refuse_values(1, (_SET_SIGNAL,), errno.EPERM))
    if not own_network:
        for name, argument in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
            program.on_call(numbers[name], _refuse_flags(argument, _FAST_OPEN, errno.EPERM))
        by_path = () if own_user else sorted(_BY_PATH & numbers.keys())
        for name in ("setsid", "setpgid", *by_path):
            program.on_call(numbers[name], _refuse(_errno(errno.EPERM)))
        for name, argument in _BY_PROCESS.items():
            program.on_call(numbers[name], _refuse_all_but_zero(argument, errno.EPERM))
        if not own_user:
            # Without a path it changes an open file.
            program.on_call(numbers["utimensat"], _refuse_all_but_zero(1, errno.EPERM))
    program.answer(_ALLOW)
    return program.bytes()


def filter_calls(program: bytes) -> None:
    """Put this process, and all that it starts, under a seccomp filter, for ever."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    no_new_privileges()
    argument = Program(len(program) // 8, program)
    checked(LIBC.prctl(_PR_SET_SECCOMP, 2, ctypes.byref(argument), 0, 0))
