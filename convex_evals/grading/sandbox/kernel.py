"""Linux system calls that Python does not offer, and limits. Standard library only: the launcher must be small."""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import socket
import struct
import sys
from collections.abc import Mapping
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
CLONE_NEWNET, CLONE_NEWUSER, CLONE_NEWNS = 0x40000000, 0x10000000, 0x20000


def syscall(number: int, *arguments: object) -> int:
    """Make a system call that the C library has no function for. Raises `OSError`."""
    return checked(LIBC.syscall(ctypes.c_long(number), *arguments))


def checked(result: int) -> int:
    """What a function of the C library returned. Raises `OSError` where that is a failure."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def end_with_parent(signal_number: int) -> None:
    """Get this signal when the parent goes away, where the system can do that."""
    if sys.platform != "linux":
        return
    checked(LIBC.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0))


def no_new_privileges() -> None:
    """Nothing that is executed from here on gains rights: no set-uid program, no file capability."""
    checked(LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def drop_capabilities() -> None:
    """Give up root's rights, in this process and all that it starts."""
    no_new_privileges()
    checked(LIBC.capset(struct.pack("Ii", 0x20080522, 0), bytes(24)))


# --- Namespaces


def unshare(flags: int) -> None:
    """Leave the namespaces in `flags` for new ones. Raises `OSError` where that is not allowed."""
    checked(LIBC.unshare(flags))


def enter(namespace: int) -> None:
    """Join the namespace behind a descriptor."""
    checked(LIBC.setns(namespace, 0))


_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_PRIVATE = 0x2, 0x4, 0x4000, 0x40000


def leave_mounts() -> None:
    """From here on, what is mounted is seen by this process, and those that it starts, alone."""
    unshare(CLONE_NEWNS)
    checked(LIBC.mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None))


def mount_memory(place: str, size: int, files: int) -> None:
    """Mount files in memory at `place`: at most `size` bytes, and so many of them, folders and links included."""
    options = f"mode=1777,size={size},nr_inodes={files}".encode()
    flags = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV)
    checked(LIBC.mount(b"tmpfs", os.fsencode(place), b"tmpfs", flags, options))


def become_namespace_root() -> None:
    """Enter a user namespace in which this user may make networks, and appears as root."""
    uid, gid = os.getuid(), os.getgid()
    unshare(CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        Path(f"/proc/self/{name}").write_text(text, encoding="ascii")


CAP_CHOWN, CAP_SETUID, CAP_SYS_ADMIN = 0, 7, 21


def is_root_with(*capabilities: int) -> bool:
    """Whether this is root on Linux, of all users, and no container took these rights from it."""
    if sys.platform != "linux":
        return False
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    effective = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:"))
    has_rights = all(effective >> capability & 1 for capability in capabilities)
    return os.getuid() == 0 and has_rights and _maps_all_users()


def _maps_all_users() -> bool:
    """Whether processes can become any user: in a user namespace of one's own, only a few exist."""
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    return any(int(first) == 0 and int(count) >= 2**31 for first, _, count in map(str.split, lines))


def bring_loopback_up() -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING


# --- Limits

_LIMITS = {
    "processes": resource.RLIMIT_NPROC,
    "open_files": resource.RLIMIT_NOFILE,
    "file_bytes": resource.RLIMIT_FSIZE,
    "data_bytes": resource.RLIMIT_DATA,
    "cpu_seconds": resource.RLIMIT_CPU,
    "core_bytes": resource.RLIMIT_CORE,
    "address_bytes": resource.RLIMIT_AS,
    "locked_bytes": resource.RLIMIT_MEMLOCK,
}
# Linux alone has these.
for _name, _kind in (("pending_signals", "RLIMIT_SIGPENDING"), ("queue_bytes", "RLIMIT_MSGQUEUE")):
    if hasattr(resource, _kind):
        _LIMITS[_name] = getattr(resource, _kind)


def limit(limits: Mapping[str, int]) -> None:
    """Set resource limits by name, soft and hard; a limit that is lower already stays."""
    for name, value in limits.items():
        kind = _LIMITS[name]
        hardest = resource.getrlimit(kind)[1]
        bound = value if hardest == resource.RLIM_INFINITY else min(value, hardest)
        resource.setrlimit(kind, (bound, bound))
