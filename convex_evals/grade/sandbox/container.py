"""The container level: one container of podman or docker for a command, with the launcher as its first process.

What is launched is contained as at the landlock level, in a place that has neither a network nor the machine's files
and processes.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.grade.sandbox.base import SYSTEM_FILES, SYSTEM_FOLDERS, Level, Network
from convex_evals.grade.sandbox.client import PACKAGE_ROOT, LauncherClient, at_work, launcher_command, libraries
from convex_evals.grade.sandbox.etc import ETC_FILES, make_etc
from convex_evals.grade.sandbox.landlocked import SERVERS, LandlockSandbox
from convex_evals.process import run

INSTALL_CONTAINER = "Debian, Ubuntu: apt-get install --no-install-recommends podman crun"
# All that is in a container is mounted: its image has no contents, and a registry is never asked.
_IMAGE = "localhost/convex-evals-empty:1"
_LABEL = "convex-evals"
_PLACE = Path("/run/convex-evals")
_CHANNEL = "channel"
# Of root's rights what the launcher needs: to become the users of launches, end their processes, and count what they
# wrote, also in files without a name. No launch of a project has any.
_CAPABILITIES = ("SETUID", "SETGID", "KILL", "DAC_OVERRIDE", "SYS_PTRACE")
# With no more of our environment than the engine goes by: keys may stand in the rest.
_ENVIRONMENT = (
    *("PATH", "HOME", "USER", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("DBUS_SESSION_BUS_ADDRESS", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINER_HOST"),
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
)
# What a launch may use is for the launcher to limit: the container's own limits must only be wide enough for several.
_NUMBER = 16384
_OPTIONS = {
    # Its groups of processes are no use to us, and are not to be had everywhere. Proxies' addresses hold passwords.
    "podman": ("--cgroups=disabled", "--read-only-tmpfs=false", "--no-hosts", "--http-proxy=false"),
    "docker": ("--userns=host", "--pids-limit=-1"),
}
_COMMAND_SECONDS = 60
_START_SECONDS = 30


@dataclass(frozen=True)
class ContainerSandbox(LandlockSandbox):
    """As the landlock level, by a launcher in a container: `folder` and `tools` have the same names there."""

    level: Level = Level.CONTAINER

    @asynccontextmanager
    async def network(self) -> AsyncIterator[Network]:
        async with self.launcher.ports(SERVERS) as (servers, sockets):
            yield Network(tuple(sockets), server_ports=tuple(servers))


@asynccontextmanager
async def open_container(readable: Sequence[Path], folder: Path) -> AsyncIterator[LauncherClient]:
    """A launcher in a new container, which is gone with the context, and soon after this process.

    It sees the system's programs, `readable`, and `folder`, which can be written to. Raises `UserError` where no engine
    works.
    """
    if sys.platform != "linux":
        raise UserError(
            "a container has the programs of this machine mounted, so this must be Linux: "
            "run the whole command in a Linux machine or container (docs/security.md)"
        )
    engine = await _find_engine()
    name = f"convex-evals-{secrets.token_hex(6)}"
    with tempfile.TemporaryDirectory(prefix="evals-", dir="/tmp") as place, tempfile.TemporaryFile() as said:
        own = Path(place)
        make_etc(own / "etc")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(own / _CHANNEL))
            listener.listen()
            listener.setblocking(False)
            command = [*engine.command(name, _mounts(readable, folder, own)), *_launcher()]
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
                env=_environment(),
            )
            try:
                channel = await _connected(listener, process)
                if channel is None:
                    said.seek(0)
                    raise UserError(f"{engine.name}: {_last_line(said.read())}")
            except BaseException:
                process.kill()
                process.wait()
                await asyncio.shield(engine.remove(name))
                raise
        async with at_work(process, channel) as launcher:
            yield launcher
        if process.returncode == -signal.SIGKILL:  # it took too long to end
            await asyncio.shield(engine.remove(name))


@dataclass(frozen=True)
class _Engine:
    """A program that starts containers."""

    name: str

    def command(self, name: str, mounts: Iterable[str]) -> list[str]:
        """What runs a container, up to the command in it."""
        return [
            *(self.name, "run", "--rm", f"--name={name}", f"--label={_LABEL}", "--pull=never", "--log-driver=none"),
            *("--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"),
            *(f"--cap-add={capability}" for capability in _CAPABILITIES),
            "--security-opt=label=disable",  # SELinux would hide what is mounted
            *(f"--ulimit={limit}={_NUMBER}:{_NUMBER}" for limit in ("nofile", "nproc")),
            *_OPTIONS[self.name],
            *mounts,
            _IMAGE,
        ]

    async def make_image(self) -> str | None:
        """Have the image there; why that is impossible."""
        if (await self._run("image", "inspect", _IMAGE))[0] == 0:
            return None
        with tempfile.TemporaryDirectory(prefix="evals-") as folder:
            archive = Path(folder, "empty.tar")
            archive.write_bytes(b"\0" * 10240)  # as tar writes one without members
            status, words = await self._run("import", str(archive), _IMAGE)
        return None if status == 0 else words

    async def remove(self, name: str) -> None:
        await self._run("rm", "--force", name)

    async def _run(self, *words: str) -> tuple[int | None, str]:
        done = await run([self.name, *words], cwd=Path("/"), env=_environment(), timeout=_COMMAND_SECONDS)
        return done.status, _last_line(done.stderr.encode())


async def _find_engine() -> _Engine:
    problems = []
    for engine in map(_Engine, _OPTIONS):
        if shutil.which(engine.name):
            problem = await engine.make_image()
            if problem is None:
                return engine
            problems.append(f"{engine.name}: {problem}")
    raise UserError("; ".join(problems) or f"neither podman nor docker is on PATH ({INSTALL_CONTAINER})")


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}


def _launcher() -> list[str]:
    """Without what engines put into an environment."""
    words = [f"{name}={value}" for name, value in libraries().items()]
    python = str(Path(sys.executable).resolve())
    return ["/usr/bin/env", "-i", *words, *launcher_command(python, str(_PLACE / _CHANNEL), "own-user")]


def _mounts(readable: Sequence[Path], folder: Path, own: Path) -> list[str]:
    package = Path(__file__).parents[2]
    launcher = [package / "__init__.py", package / "grade" / "__init__.py", Path(__file__).parent]
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
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        try:
            channel, _ = await asyncio.wait_for(asyncio.get_running_loop().sock_accept(listener), 0.1)
        except TimeoutError:
            if process.poll() is not None:
                break
        else:
            channel.setblocking(True)
            return channel
    return None


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("Error: ") if lines else "no message"
