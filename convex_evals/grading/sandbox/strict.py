"""The strict level: namespaces made by bubblewrap, a network for each trial, Landlock and seccomp inside."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.grading.sandbox.base import (
    PROCESSES,
    SYSTEM_FILES,
    SYSTEM_FOLDERS,
    WRITABLE_BYTES,
    WRITABLE_FILES,
    Launch,
    Level,
    Network,
    unused_user,
)
from convex_evals.grading.sandbox.client import LauncherClient
from convex_evals.grading.sandbox.etc import ETC_FILES
from convex_evals.grading.sandbox.networks import PROJECT_PORTS
from convex_evals.grading.sandbox.request import LaunchRequest
from convex_evals.process import Child

_SEED = "/run/seed"
_INSIDE_UID = 1000
# Limits that count per user are set inside, where the user is the sandbox's own; then copies of writable folders are
# made, since what is written must stay in memory of bounded size.
_SETUP = """
ulimit -u "$1" 2>/dev/null || ulimit -p "$1"
shift
while [ "$1" != -- ]; do cp -dR "$1/." "$2" && shift 2 || exit 125; done
shift
exec "$@"
"""


@dataclass(frozen=True)
class StrictSandbox:
    """Needs Linux with bubblewrap; `tools` may be read by every process. `etc` is a folder made by `make_etc`."""

    launcher: LauncherClient
    bwrap: str
    setpriv: str | None  # started as root: how the sandbox becomes another user
    etc: Path
    places: Sequence[Path]  # folders, for files in memory to be mounted at
    tools: Sequence[Path]
    level: Level = Level.STRICT

    async def launch(self, launch: Launch) -> Child:
        request = LaunchRequest(
            argv=self._command(launch, 3 + len(launch.pass_fds)),
            env={},
            cwd="/",
            network=launch.network.number if launch.network else None,
            reach=list(launch.ports) if launch.alone else None,
            own_network=launch.network is None,
            project_ports_only=launch.project_code,
            filter_fd=3 + len(launch.pass_fds),
            limits=dict(launch.limits),
            memory_bytes=launch.memory_bytes,
            together=launch.together,
            memory_places=[str(place) for place in self.places[: 1 + len(launch.writable) + len(launch.fresh)]],
            place_bytes=WRITABLE_BYTES,
            place_files=WRITABLE_FILES,
        )
        return await self.launcher.launch(request, launch.pass_fds, capture=launch.capture)

    @asynccontextmanager
    async def network(self) -> AsyncIterator[Network]:
        async with self.launcher.network() as (number, sockets):
            yield Network.of(sockets, number, PROJECT_PORTS)

    def _command(self, launch: Launch, filter_fd: int) -> list[str]:
        copied = [(f"{_SEED}/{n}", str(path)) for n, path in enumerate(launch.writable) if any(path.iterdir())]
        mounts = _Mounts()
        mounts.read_only_system()
        mounts.memory(Path("/tmp"), self.places[0])
        for name in ETC_FILES:
            mounts.bind(self.etc / name, Path("/etc", name))
        for path in (*self.tools, *launch.readable):
            mounts.bind(path, path)
        for place, target in copied:
            mounts.bind(Path(target), Path(place))
        for path, held in zip((*launch.writable, *launch.fresh), self.places[1:], strict=False):
            mounts.memory(path, held)
        for path in launch.shared:
            mounts.share(path)
        mounts.seal()
        inner = ["/bin/sh", "-c", _SETUP, "sh", str(PROCESSES), *(word for pair in copied for word in pair), "--"]
        return [
            self.bwrap,
            *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
            *("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
            *(word for name, value in launch.env.items() for word in ("--setenv", name, value)),
            *self._user(launch),
            *mounts.arguments,
            *("--seccomp", str(filter_fd), "--chdir", str(launch.cwd), "--"),
            *self._become(launch),
            *inner,
            *(str(word) for word in launch.argv),
        ]

    def _user(self, launch: Launch) -> list[str]:
        if self.setpriv:
            return [] if launch.shared else ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        # Not with bubblewrap as the first process, which others of the same user could trace. Started as root it must
        # be: the system ends a sandbox with its parent only where the first process is of the parent's user.
        return ["--as-pid-1", "--unshare-user", "--uid", str(_INSIDE_UID), "--gid", str(_INSIDE_UID)]

    def _become(self, launch: Launch) -> list[str]:
        if not self.setpriv or launch.shared:
            return []  # or it could not change what is ours
        uid = str(unused_user())
        return [self.setpriv, "--reuid", uid, "--regid", uid, "--clear-groups", "--no-new-privs", "--inh-caps=-all"]


class _Mounts:
    """The mounts of a sandbox, as bubblewrap's arguments; folders above a mount can be entered by every user."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self._bound: set[Path] = set()
        self._made = {Path("/")}

    def read_only_system(self) -> None:
        for folder in map(Path, SYSTEM_FOLDERS):
            if folder.is_symlink():
                self.arguments += ["--symlink", str(folder.readlink()), str(folder)]
            elif folder.is_dir():
                self.bind(folder, folder)
        for file in SYSTEM_FILES:
            if Path(file).exists():
                self.bind(Path(file), Path(file))
        # A shared mapping of /dev/zero is memory that may be in no process; /dev/full reads alike. There are no
        # terminals: they are counted for the whole machine.
        devices = {"null": "null", "zero": "full", "full": "full", "random": "random", "urandom": "urandom"}
        self.arguments += ["--proc", "/proc", "--tmpfs", "/dev", "--symlink", "/proc/self/fd", "/dev/fd"]
        for name, device in devices.items():
            self.arguments += ["--dev-bind", f"/dev/{device}", f"/dev/{name}"]
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            self.arguments += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]

    def bind(self, source: Path, target: Path) -> None:
        self._make_above(target)
        self.arguments += ["--ro-bind", str(source), str(target)]
        self._bound.add(target)

    def share(self, folder: Path) -> None:
        self._make_above(folder)
        self.arguments += ["--bind", str(folder), str(folder)]
        self._bound.add(folder)

    def memory(self, target: Path, place: Path) -> None:
        self._make_above(target)
        self.arguments += ["--bind", str(place), str(target)]
        self._made.add(target)

    def seal(self) -> None:
        """Make what holds the mounts read-only: it is memory without a limit, of the user who started the sandbox."""
        self.arguments += ["--remount-ro", "/dev", "--remount-ro", "/"]

    def _make_above(self, target: Path) -> None:
        for folder in reversed(target.parents):
            if folder in self._bound:
                return  # below it is what is there
            if folder not in self._made:
                self.arguments += ["--perms", "0755", "--dir", str(folder)]
                self._made.add(folder)
