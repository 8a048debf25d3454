"""Landlock: which files and TCP ports a process may use, decided by itself, for ever.

Source: https://docs.kernel.org/userspace-api/landlock.html.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from convex_evals.grading.sandbox.kernel import no_new_privileges, syscall
from convex_evals.grading.sandbox.system_calls import system_calls

_CALLS = system_calls("x86_64")  # calls as young as these have the same numbers on all machines
_CREATE_RULESET = _CALLS["landlock_create_ruleset"]
_ADD_RULE, _RESTRICT_SELF = _CALLS["landlock_add_rule"], _CALLS["landlock_restrict_self"]
_RULE_PATH, _RULE_PORT = 1, 2
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15  # and TRUNCATE, IOCTL_DEV
_READ_RIGHTS = _EXECUTE | _READ_FILE | _READ_DIR
_ALL_RIGHTS = (1 << 16) - 1
_MAKE_DEVICES = 1 << 6 | 1 << 11  # character and block devices
_BIND_TCP, _CONNECT_TCP = 1, 2
_SCOPES = 3  # abstract Unix sockets, signals
# Files by rights, networks and scopes: Linux 6.12.
NEEDED_LANDLOCK = 6


def landlock_version() -> int:
    """The kernel's Landlock ABI; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    try:
        return syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


@dataclass(frozen=True)
class LandlockRules:
    """What a Landlock domain allows; what is None is not restricted."""

    readable: Sequence[str] | None = None  # files and folders
    writable: Sequence[str] = ()
    connect: Iterable[int] | None = None  # TCP ports, at any address
    bind: Iterable[int] | None = None

    def prepare(self) -> int:
        """A descriptor of the ruleset, for `restrict`. Raises `OSError`."""
        files = _ALL_RIGHTS if self.readable is not None else 0
        network = (_CONNECT_TCP if self.connect is not None else 0) | (_BIND_TCP if self.bind is not None else 0)
        attributes = struct.pack("QQQ", files, network, _SCOPES)
        ruleset = syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
        for path in self.readable or ():
            _allow_path(ruleset, path, _READ_RIGHTS)
        for path in self.writable if self.readable is not None else ():
            _allow_path(ruleset, path, _ALL_RIGHTS & ~_MAKE_DEVICES)
        for right, ports in ((_CONNECT_TCP, self.connect), (_BIND_TCP, self.bind)):
            for port in ports or ():
                rule = struct.pack("QQ", right, port)
                syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_RULE_PORT), rule, ctypes.c_uint32(0))
        return ruleset


def _allow_path(ruleset: int, path: str, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        allowed = rights if stat.S_ISDIR(os.fstat(opened).st_mode) else rights & _FILE_RIGHTS
        rule = struct.pack("=Qi", allowed, opened)
        syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_RULE_PATH), rule, ctypes.c_uint32(0))
    finally:
        os.close(opened)


def restrict(ruleset: int) -> None:
    """Confine this process, and all that it starts, to a prepared ruleset, for ever."""
    no_new_privileges()
    syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
