"""Which level of containment works here: found by attacking it, not by asking for versions."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import ProcessFault, UserError
from convex_evals.grading.sandbox.base import Launch, Level, Sandbox
from convex_evals.grading.sandbox.container import ENGINE_VARIABLE
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.toolchain import Toolchain
from convex_evals.inputs.bounded_json import Limits, decode_object
from convex_evals.process import read_fd
from convex_evals.store.files import write_atomic
from convex_evals.text import read_text

_SECONDS = 20
STOPPED = "stopped"


@dataclass(frozen=True)
class Probe:
    """What attacking one level showed."""

    level: Level
    attacks: Mapping[str, str]  # "stopped", with why; or "succeeded"
    needs: Mapping[str, str]  # what graded code needs: "ok", or why not
    problem: str | None = None  # why nothing could be tried

    @property
    def contains(self) -> bool:
        """Every attack was stopped, and nothing else."""
        stopped = all(result.startswith(STOPPED) for result in self.attacks.values())
        return self.problem is None and stopped and all(result == "ok" for result in self.needs.values())

    @property
    def summary(self) -> str:
        """One clause: what is wrong with it."""
        if self.problem:
            return self.problem
        wrong = [name for name, result in self.attacks.items() if not result.startswith(STOPPED)]
        missing = [f"{name}: {result}" for name, result in self.needs.items() if result != "ok"]
        if wrong:
            return f"does not stop: {', '.join(wrong)}"
        return "; ".join(missing) or f"stopped all of {len(self.attacks)} attacks"


async def probe(level: Level, toolchain: Toolchain, cache: Path) -> Probe:
    """Attack `level`, or remember what an attack since the machine was started showed."""
    known = cache / "sandbox" / f"{_occasion(toolchain)}-{level}.json"
    with contextlib.suppress(OSError, UserError, ValueError, KeyError):
        data = json.loads(read_text(known))
        return Probe(level, data["attacks"], data["needs"], data["problem"])
    found = await _attack(level, toolchain)
    if found.problem is None:
        text = json.dumps({"attacks": dict(found.attacks), "needs": dict(found.needs), "problem": None}, indent=1)
        with contextlib.suppress(OSError, UserError):
            known.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(known, text)
    return found


def _occasion(toolchain: Toolchain) -> str:
    """Changes with the machine's start, the user and the user's rights, and what we execute."""
    parts = [str(os.getuid()), str(toolchain.sources), os.environ.get("PATH", ""), os.environ.get(ENGINE_VARIABLE, "")]
    for fact in ("kernel/random/boot_id", "user/max_user_namespaces", "kernel/apparmor_restrict_unprivileged_userns"):
        with contextlib.suppress(OSError):
            parts.append(Path("/proc/sys", fact).read_text())
    with contextlib.suppress(OSError):
        parts.append(str(Path("/proc/self/ns/user").readlink()))
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        parts += [line for line in status.splitlines() if line.startswith(("Cap", "NoNewPrivs", "Seccomp"))]
    parts += [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


async def _attack(level: Level, toolchain: Toolchain) -> Probe:
    with _world() as world, tempfile.TemporaryDirectory(prefix="evals-") as folder:
        try:
            async with open_sandbox(level, toolchain, Path(folder)) as sandbox:
                found = await _inside(sandbox, toolchain, Path(folder), world)
        except (UserError, ProcessFault) as error:
            return Probe(level, {}, {}, str(error))
        attacks: dict[str, str] = found["attacks"]
        if world.got_datagram():
            attacks["send a datagram"] = "succeeded"
        if not world.victim_lives():
            attacks["signal another process"] = "succeeded"
        return Probe(level, attacks, found["needs"])


async def _inside(sandbox: Sandbox, toolchain: Toolchain, folder: Path, world: _World) -> dict[str, dict[str, str]]:
    own = Path(tempfile.mkdtemp(dir=folder))
    read_end, write_end = os.pipe()
    async with sandbox.network() as network:
        told = {**world.told, "hiddenPort": network.answer.number, "own": str(own)}
        argv: list[str | Path] = [
            toolchain.node.executable,
            "--disable-sigusr1",
            toolchain.script("sandbox/probe.ts"),
            json.dumps(told),
        ]
        try:
            child = await sandbox.launch(
                Launch(
                    argv,
                    own,
                    toolchain.node.environment(own),
                    writable=[own],
                    pass_fds=[write_end],
                    network=network,
                    project_code=True,
                )
            )
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        async with child:
            try:
                data = await asyncio.wait_for(read_fd(read_end, 1 << 16, line=True), _SECONDS)
                found: dict[str, dict[str, str]] = decode_object(data, Limits(1 << 16))
                return found
            except (TimeoutError, ValueError):
                raise ProcessFault(f"a program in it did not answer: {child.last_words()}") from None


@dataclass(frozen=True)
class _World:
    """What attacks are aimed at."""

    told: Mapping[str, object]
    victim: subprocess.Popen[bytes]
    datagrams: socket.socket

    def got_datagram(self) -> bool:
        try:
            return bool(self.datagrams.recv(10, socket.MSG_DONTWAIT))
        except BlockingIOError:
            return False

    def victim_lives(self) -> bool:
        return self.victim.poll() is None


@contextmanager
def _world() -> Iterator[_World]:
    marker = secrets.token_hex(16)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evals-")))
        folder.chmod(0o755)
        secret, outside, path = folder / "secret", folder / "outside", folder / "socket"
        secret.write_text(marker)
        outside.mkdir()
        # Whoever the attacker is: only the sandbox is to stop it, no permission.
        outside.chmod(0o777)
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", 0))
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        unix.bind(str(path))
        unix.listen()
        path.chmod(0o777)
        victim = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "input()"],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"MARKER": marker},
        )
        stack.enter_context(victim)
        stack.callback(victim.kill)
        told = {
            "secret": str(secret),
            "outside": str(outside),
            "marker": marker,
            "victim": victim.pid,
            "port": server.getsockname()[1],
            "udpPort": datagrams.getsockname()[1],
            "socket": str(path),
        }
        yield _World(told, victim, datagrams)
