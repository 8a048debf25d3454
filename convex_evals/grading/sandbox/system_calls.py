"""The numbers of system calls, by machine, from the kernel's tables. By hand: docs/adr/0017."""

from __future__ import annotations

import errno

# Calls that the filter refuses or judges by their arguments: tests, bundlers and servers have no use for them, and
# kernels were broken through them, or they reach into other processes, or take memory that belongs to no process.
# Name, number on x86_64, number on aarch64 ("-": it has no such call).
_CALLS = """
acct 163 89
add_key 248 217
adjtimex 159 171
bpf 321 280
chmod 90 -
chown 92 -
chroot 161 51
clock_adjtime 305 266
clock_settime 227 112
clone 56 220
clone3 435 435
delete_module 176 106
fanotify_init 300 262
fchmodat 268 53
fchmodat2 452 452
fchownat 260 54
fcntl 72 25
finit_module 313 273
fsconfig 431 431
fsmount 432 432
fsopen 430 430
fspick 433 433
futimesat 261 -
init_module 175 105
io_setup 206 0
io_uring_enter 426 426
io_uring_register 427 427
io_uring_setup 425 425
ioctl 16 29
ioperm 173 -
iopl 172 -
ioprio_set 251 30
kcmp 312 272
kexec_file_load 320 294
kexec_load 246 104
keyctl 250 219
kill 62 129
landlock_add_rule 445 445
landlock_create_ruleset 444 444
landlock_restrict_self 446 446
lchown 94 -
lremovexattr 198 15
lsetxattr 189 6
memfd_create 319 279
memfd_secret 447 447
migrate_pages 256 238
mmap 9 222
mount 165 40
mount_setattr 442 442
move_mount 429 429
move_pages 279 239
mq_open 240 180
msgget 68 186
open_by_handle_at 304 265
open_tree 428 428
perf_event_open 298 241
personality 135 92
pidfd_getfd 438 438
pidfd_send_signal 424 424
pivot_root 155 41
prlimit64 302 261
process_madvise 440 440
process_vm_readv 310 270
process_vm_writev 311 271
ptrace 101 117
quotactl 179 60
quotactl_fd 443 443
reboot 169 142
removexattr 197 14
removexattrat 466 466
request_key 249 218
rt_sigqueueinfo 129 138
rt_tgsigqueueinfo 297 240
sched_setaffinity 203 122
sched_setattr 314 274
sched_setparam 142 118
sched_setscheduler 144 119
semget 64 190
sendfile 40 71
sendmmsg 307 269
sendmsg 46 211
sendto 44 206
setdomainname 171 162
sethostname 170 161
setns 308 268
setpgid 109 154
setpriority 141 140
setsid 112 157
settimeofday 164 170
setxattr 188 5
setxattrat 463 463
shmget 29 194
socket 41 198
splice 275 76
swapoff 168 225
swapon 167 224
syslog 103 116
tee 276 77
tgkill 234 131
tkill 200 130
umount2 166 39
unshare 272 97
userfaultfd 323 282
utime 132 -
utimensat 280 88
utimes 235 -
vhangup 153 58
vmsplice 278 75
"""
_MACHINES = ("x86_64", "aarch64")  # in the order of the columns


def system_calls(machine: str) -> dict[str, int]:
    """The numbers of the calls that `machine` has, by name. Raises `OSError` for one that is not in the table."""
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no system call table for {machine}")
    column = _MACHINES.index(machine) + 1
    rows = [line.split() for line in _CALLS.split("\n") if line]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}
