"""The landlock level: no namespaces, so no rights and no programs are needed; the machine's network is shared.

Landlock knows TCP ports, not addresses: on the few port numbers that a trial uses, other machines could be reached.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from convex_evals.grading.sandbox.base import (
    PROCESSES,
    SYSTEM_FILES,
    SYSTEM_FOLDERS,
    WRITABLE_BYTES,
    Launch,
    Level,
    Network,
    machine_network,
    unused_user,
)
from convex_evals.grading.sandbox.client import LauncherClient
from convex_evals.grading.sandbox.networks import free_ports
from convex_evals.grading.sandbox.request import LaunchRequest
from convex_evals.process import Child

_ALSO_READABLE = (
    *("/etc/ssl/openssl.cnf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd", "/etc/resolv.conf"),
    # Not all of /proc: it has the command lines of others. Nor all of a process itself: where this is a container, its
    # mounts name the suite's files. What a process starts finds nothing of its own there.
    *(f"/proc/self/{name}" for name in ("auxv", "cgroup", "cmdline", "comm", "environ", "fd", "limits", "maps")),
    *(f"/proc/self/{name}" for name in ("oom_score_adj", "smaps", "stat", "statm", "status")),
    *(f"/proc/{name}" for name in ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys")),
    *(f"/proc/{name}" for name in ("uptime", "version", "version_signature")),
    *("/dev/urandom", "/dev/random", "/dev/zero"),
)
_WRITABLE_DEVICES = ("/dev/null",)
SERVERS = 8  # that a grader may start for a project


@dataclass(frozen=True)
class LandlockSandbox:
    """Needs Linux 6.12; `tools` may be read by every process. `folder` is where all trials are.

    With `as_others`, which takes root, each launch becomes a user of its own.
    """

    launcher: LauncherClient
    folder: Path
    tools: Sequence[Path]
    as_others: bool
    level: Level = Level.LANDLOCK

    async def launch(self, launch: Launch) -> Child:
        servers = launch.network.server_ports if launch.network else ()
        uid = self._give_away(launch) if self.as_others and not launch.shared else None
        env = {**launch.env, "CONVEX_EVALS_SERVER_PORTS": ",".join(map(str, servers))}
        readable = [str(path) for path in (*self.tools, *launch.readable)]
        writable = [str(path) for path in (*launch.writable, *launch.fresh, *launch.shared)]
        request = LaunchRequest(
            argv=[str(word) for word in launch.argv],
            env=env,
            cwd=str(launch.cwd),
            rules={
                "readable": [*SYSTEM_FOLDERS, *SYSTEM_FILES, *_ALSO_READABLE, *readable],
                "writable": [*writable, *_WRITABLE_DEVICES],
                "connect": [*(() if launch.alone else servers), *launch.ports],
                "bind": [0] if launch.project_code else list(servers),
            },
            filter_calls=True,
            uid=uid,
            no_rights=True,
            limits={**launch.limits, **({} if launch.shared else {"processes": PROCESSES})},
            memory_bytes=launch.memory_bytes,
            together=launch.together,
            folders=[] if launch.shared else writable,
            folder_bytes=WRITABLE_BYTES,
        )
        return await self.launcher.launch(request, launch.pass_fds, capture=launch.capture)

    @asynccontextmanager
    async def network(self) -> AsyncIterator[Network]:
        async with AsyncExitStack() as stack:
            network = await stack.enter_async_context(machine_network())
            yield replace(network, server_ports=tuple(free_ports(SERVERS)))

    def _give_away(self, launch: Launch) -> int:
        """Give what is to be written to a user of its own, who may enter the folders above."""
        uid = unused_user()
        for path in (*launch.writable, *launch.fresh, *launch.readable):
            for above in path.parents:
                if above == self.folder or self.folder in above.parents:
                    above.chmod(0o711)
        for path in (*launch.writable, *launch.fresh):
            os.chown(path, uid, uid)
            for folder, folders, files in os.walk(path):
                for name in (*folders, *files):
                    os.chown(Path(folder, name), uid, uid, follow_symlinks=False)
        return uid
