"""The container level: one container of podman or docker for a command, with the launcher as its first process.

What is launched is contained as at the landlock level, in a place that has neither a network nor the machine's files
and processes.
"""

from __future__ import annotations

import asyncio
import os
import resource
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from convex_evals.errors import UserError
from convex_evals.grading.sandbox.base import SYSTEM_FILES, SYSTEM_FOLDERS, Level, Network
from convex_evals.grading.sandbox.client import PACKAGE_ROOT, LauncherClient, at_work, launcher_command, libraries
from convex_evals.grading.sandbox.etc import ETC_FILES, make_etc
from convex_evals.grading.sandbox.landlocked import SERVERS, LandlockSandbox
from convex_evals.process import run

INSTALL_CONTAINER = "Debian, Ubuntu: apt-get install --no-install-recommends podman crun"
# All that is in a container is mounted: its image has no contents, and a registry is never asked.
_IMAGE = "localhost/convex-evals-empty:1"
_LABEL = "convex-evals"
_PLACE = Path("/run/convex-evals")
_CHANNEL = "channel"
# Of root's rights what the launcher needs, to count what launches write, also to files without a name; and, where these
# are users of their own, to become them and end them. What it launches has none of them.
_TO_COUNT = ("DAC_READ_SEARCH", "SYS_PTRACE")
_FOR_OTHERS = ("SETUID", "SETGID", "KILL")
# No more of our environment than engines go by: keys may stand in the rest.
_ENVIRONMENT = (
    *("PATH", "HOME", "USER", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("DBUS_SESSION_BUS_ADDRESS", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINER_HOST"),
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
)
# What a launch may use is for the launcher to limit: the container's own limits must only be wide enough for several.
_WIDE = {"nofile": (resource.RLIMIT_NOFILE, 16384), "nproc": (resource.RLIMIT_NPROC, 16384)}
ENGINE_VARIABLE = "CONVEX_EVALS_CONTAINER_ENGINE"
_OPTIONS = {
    # Its groups of processes are no use to us, and are not to be had everywhere. Proxies' addresses hold passwords.
    "podman": ("--cgroups=disabled", "--read-only-tmpfs=false", "--no-hosts", "--http-proxy=false"),
    "docker": ("--userns=host", "--pids-limit=-1"),
}
_COMMAND_SECONDS = 60
_START_SECONDS = 30
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class ContainerSandbox(LandlockSandbox):
    """As the landlock level, by a launcher in a container: `folder` and `tools` have the same names there."""

    level: Level = Level.CONTAINER

    @asynccontextmanager
    async def network(self) -> AsyncIterator[Network]:
        async with self.launcher.ports(SERVERS) as (servers, sockets):
            yield Network.of(sockets, server_ports=servers)


def need_linux() -> None:
    """Raises `UserError` elsewhere."""
    if sys.platform != "linux":
        from convex_evals.vcs.origin import own_origin

        raise UserError(
            "a container has the programs of this machine mounted, so this must be Linux: "
            f"run the whole command in a Linux machine or container ({own_origin().page('docs/security.md')})"
        )


@asynccontextmanager
async def open_container(readable: Sequence[Path], folder: Path, as_others: bool) -> AsyncIterator[LauncherClient]:
    """A launcher in a new container, which is gone with the context, and soon after this process.

    It sees the system's programs, `readable`, and `folder`, which can be written to. With `as_others`, which takes
    root, it may start processes as any user. Raises `UserError` where no engine works.
    """
    with tempfile.TemporaryDirectory(prefix="container-", dir=folder) as place:
        make_etc(Path(place) / "etc")
        container = await _start_any(as_others, _mounts(readable, folder, Path(place)), Path(place))
        async with at_work(container.process, container.channel) as launcher:
            yield launcher
        if container.process.returncode == -signal.SIGKILL:  # it took too long to end
            await asyncio.shield(container.engine.remove(container.name))


async def _start_any(as_others: bool, mounts: Sequence[str], place: Path) -> _Container:
    """A container of the first engine that works."""
    wanted = os.environ.get(ENGINE_VARIABLE)
    if wanted and wanted not in _OPTIONS:
        raise UserError(f"{ENGINE_VARIABLE}={wanted}: it must be {' or '.join(_OPTIONS)}")
    names = [wanted] if wanted else list(_OPTIONS)
    problems = []
    for engine in (_Engine(name, as_others) for name in names if shutil.which(name)):
        try:
            await engine.prepare()
            return await engine.start(mounts, place)
        except UserError as error:
            problems.append(f"{engine.name}: {error}")
    raise UserError("; ".join(problems) or f"{' and '.join(names)}: not on PATH ({INSTALL_CONTAINER})")


@dataclass(frozen=True)
class _Container:
    """A container whose launcher has connected."""

    engine: _Engine
    name: str
    process: subprocess.Popen[bytes]  # ends with it
    channel: socket.socket


@dataclass(frozen=True)
class _Engine:
    """A program that starts containers."""

    name: str
    as_others: bool

    async def prepare(self) -> None:
        """Have the image there, and nothing of commands that the machine went down with.

        Raises `UserError` where that is impossible.
        """
        if self.name == "docker" and not self.as_others:
            raise UserError("starts containers as root, and this is not: install podman, which needs no root")
        stale = ("--force", f"--filter=label={_LABEL}", "--filter=until=1h")
        _, (status, _) = await asyncio.gather(
            self._run("container", "prune", *stale), self._run("image", "inspect", _IMAGE)
        )
        if status == 0:
            return
        with tempfile.TemporaryDirectory(prefix="evals-") as folder:
            archive = Path(folder, "empty.tar")
            archive.write_bytes(bytes(1024))  # the end of an archive
            status, words = await self._run("import", str(archive), _IMAGE)
        if status != 0:
            raise UserError(words)

    async def start(self, mounts: Sequence[str], place: Path) -> _Container:
        """Raises `UserError` where no launcher comes to the channel in `place`."""
        name = f"convex-evals-{secrets.token_hex(6)}"
        with tempfile.TemporaryFile() as said, _listen(place / _CHANNEL) as listener:
            process = _spawn([*self._command(name), *mounts, _IMAGE, *_launcher()], said)
            try:
                channel = await _connected(listener, process)
                if channel is None:
                    said.seek(0)
                    raise UserError(_last_line(said.read()))
                return _Container(self, name, process, channel)
            except BaseException:
                process.kill()
                process.wait()
                await asyncio.shield(self.remove(name))
                raise
            finally:
                (place / _CHANNEL).unlink()

    def _command(self, name: str) -> list[str]:
        return [
            *(self.name, "run", "--rm", f"--name={name}", f"--label={_LABEL}", "--pull=never", "--log-driver=none"),
            *("--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"),
            *(f"--cap-add={right}" for right in (*_TO_COUNT, *(_FOR_OTHERS if self.as_others else ()))),
            "--security-opt=label=disable",  # SELinux would hide what is mounted
            *(f"--ulimit={kind}={_bound(*wide)}:{_bound(*wide)}" for kind, wide in _WIDE.items()),
            *_OPTIONS[self.name],
        ]

    async def remove(self, name: str) -> None:
        await self._run("rm", "--force", name)

    async def _run(self, *words: str) -> tuple[int | None, str]:
        done = await run([self.name, *words], cwd=Path("/"), env=_environment(), timeout=_COMMAND_SECONDS)
        return done.status, _last_line(done.stderr.encode())


def _bound(kind: int, wide: int) -> int:
    """Limits cannot be raised above ours."""
    hardest = resource.getrlimit(kind)[1]
    return wide if hardest == resource.RLIM_INFINITY else min(wide, hardest)


def _listen(path: Path) -> socket.socket:
    """A socket at `path`, which may be longer than the system takes names of sockets."""
    listener = socket.socket(socket.AF_UNIX)
    folder = os.open(path.parent, os.O_PATH)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
    listener.listen()
    listener.setblocking(False)
    return listener


def _spawn(command: Sequence[str], said: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
        start_new_session=True,
        env=_environment(),
    )


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}


def _launcher() -> list[str]:
    """Without what engines put into an environment."""
    words = [f"{name}={value}" for name, value in libraries().items()]
    python = str(Path(sys.executable).resolve())
    return ["/usr/bin/env", "-i", *words, *launcher_command(python, str(_PLACE / _CHANNEL), "own-user")]


def _mounts(readable: Sequence[Path], folder: Path, own: Path) -> list[str]:
    package = Path(__file__).parents[2]
    launcher = [package / "__init__.py", package / "grading" / "__init__.py", Path(__file__).parent]
    assert package.parent == PACKAGE_ROOT
    python = [Path(prefix) for prefix in (sys.base_prefix, sys.base_exec_prefix)]
    system = [Path(path) for path in (*SYSTEM_FOLDERS, *SYSTEM_FILES)]
    seen = [path.absolute() for path in (*system, *python, *launcher, *readable) if path.exists()]
    mounted: list[Path] = []
    for path in sorted(set(seen), key=lambda path: len(path.parts)):
        if not {path, *path.parents} & {*mounted, folder}:
            mounted.append(path)
    return [
        *(_mount(path.resolve(), path) for path in mounted),
        *(_mount(own / "etc" / name, Path("/etc", name)) for name in ETC_FILES),
        _mount(own, _PLACE),
        _mount(folder, folder, read_only=False),
    ]


def _mount(source: Path, target: Path, *, read_only: bool = True) -> str:
    if "," in f"{source}{target}":
        raise UserError(f"{source}: containers cannot mount a path with a comma; move it")
    return f"--mount=type=bind,src={source},dst={target}{',readonly' if read_only else ''}"


async def _connected(listener: socket.socket, process: subprocess.Popen[bytes]) -> socket.socket | None:
    """The launcher's end of the channel, or None where it does not come."""
    accepted = asyncio.ensure_future(asyncio.get_running_loop().sock_accept(listener))
    deadline = time.monotonic() + _START_SECONDS
    try:
        while not accepted.done() and process.poll() is None and time.monotonic() < deadline:
            await asyncio.wait({accepted}, timeout=_LOOK_SECONDS)
        if not accepted.done():
            return None
        channel, _ = accepted.result()
        channel.setblocking(True)
        return channel
    finally:
        accepted.cancel()
        await asyncio.wait({accepted})  # before another file gets this socket's number


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("Error: ") if lines else "no message"
