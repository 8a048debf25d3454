"""What there is to be attacked: a home with keys, listeners, a process, files of other trials."""

from __future__ import annotations

import os
import re
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

SECRET_NAME = "ATTACKED_API_KEY"
# Stands in graders and answers of the suite.
ANSWER_MARK = "THE-ANSWER-IS-HERE"
_SLEEP = "import time; time.sleep(3600)"
_WAITING_SECONDS = 0.5


@dataclass
class World:
    """Everything lies open to every user of the machine: what stops an attack is the sandbox alone."""

    secret: str
    home: Path
    outside: Path
    victim: subprocess.Popen[bytes]
    ports: dict[str, int]
    unix_path: Path
    abstract_name: str
    address: str | None  # of the machine, and no loopback
    heard: list[bytes] = field(default_factory=list)

    def constants(self) -> dict[str, object]:
        """What a hostile project knows of the world: where things are."""
        return {
            "home": str(self.home),
            "outside": str(self.outside),
            "victim": self.victim.pid,
            "harness": os.getpid(),
            "tcpPort": self.ports["tcp"],
            "udpPort": self.ports["udp"],
            "unixPath": str(self.unix_path),
            "abstractName": self.abstract_name,
            "address": self.address,
        }

    def harm(self, nonce: str) -> list[str]:
        """What somebody who goes by `nonce` has done to the world."""
        found = [f"a listener heard {data[:60]!r}" for data in list(self.heard) if nonce.encode() in data]
        for folder in (self.outside, self.home, Path("/tmp"), Path("/var/tmp")):
            found += [f"{path} is there" for path in folder.glob(f"*{nonce}*")]
        found += self._changed(nonce)
        if self.victim.poll() is not None:
            found.append("the process beside it was killed")
        else:
            limits = Path(f"/proc/{self.victim.pid}/limits").read_text()
            if re.search(r"Max open files +1 +1 ", limits):
                found.append("the process beside it was limited")
        return found

    def _changed(self, nonce: str) -> list[str]:
        """Whether a file was changed, by `nonce` as far as one can tell; it is as before afterwards."""
        kept = self.outside / "file.txt"
        text = kept.read_text() if kept.is_file() else None
        if text and (text == "kept\n" or nonce not in text) and kept.stat().st_mode & 0o777 == 0o666:
            return []
        _write(kept, "kept\n", 0o666)
        return [f"{kept} was changed"]


@contextmanager
def open_world(folder: Path) -> Iterator[World]:
    """A world below `folder`, which everybody can enter."""
    secret = f"sk-{secrets.token_hex(12)}"
    home, outside = folder / "home", folder / "outside"
    for path in (home, home / ".ssh", outside):
        path.mkdir(parents=True)
    for above in (outside, *outside.parents):
        if above != Path("/tmp") and Path("/tmp") in above.parents:
            above.chmod(0o755)
    outside.chmod(0o777)
    home.chmod(0o777)
    for name in ("notes.txt", ".env", ".ssh/id_ed25519"):
        _write(home / name, f"{secret}\n", 0o644)
    _write(home / "keys.json", f'{{"key": "{secret}"}}\n', 0o644)
    _write(home / "broken.json", f'{{"key": "{secret}" oops\n', 0o644)
    _write(outside / "file.txt", "kept\n", 0o666)
    with ExitStack() as stack:
        victim = subprocess.Popen([sys.executable, "-c", _SLEEP, secret], env={SECRET_NAME: secret})
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        name = f"attacked-{secrets.token_hex(4)}"
        world = World(secret, home, outside, victim, {}, folder / "open.sock", name, _own_address())
        tcp = stack.enter_context(_tcp())
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("0.0.0.0", 0))
        by_path = stack.enter_context(socket.socket(socket.AF_UNIX))
        by_path.bind(str(world.unix_path))
        world.unix_path.chmod(0o777)
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{name}")
        # A thread that waits in a system call is not woken when its socket is closed, and may go on with whatever has
        # its number by then: the channel to a launcher had, and messages were lost.
        for waiting in (tcp, udp, by_path, abstract):
            waiting.settimeout(_WAITING_SECONDS)
        for listener in (tcp, by_path, abstract):
            listener.listen(50)
            threading.Thread(target=_answer, args=(listener, world), daemon=True).start()
        threading.Thread(target=_hear, args=(udp, world), daemon=True).start()
        world.ports.update(tcp=tcp.getsockname()[1], udp=udp.getsockname()[1])
        yield world


def _write(path: Path, text: str, mode: int) -> None:
    path.write_text(text)
    path.chmod(mode)


def _tcp() -> socket.socket:
    if socket.has_dualstack_ipv6():
        return socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("0.0.0.0", 0))


def _own_address() -> str | None:
    """The address under which the machine is known elsewhere; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("", 0))
            for _, name in socket.if_nameindex():
                found = _interface_address(probe, name)
                if found and not found.startswith("127."):
                    return found
        except OSError:
            pass
    return None


def _interface_address(probe: socket.socket, name: str) -> str | None:
    import fcntl
    import struct

    try:
        answer = fcntl.ioctl(probe.fileno(), 0x8915, struct.pack("256s", name.encode()[:15]))  # SIOCGIFADDR
    except OSError:
        return None
    return socket.inet_ntoa(answer[20:24])


def _answer(listener: socket.socket, world: World) -> None:
    while True:
        try:
            opened, _ = listener.accept()
        except TimeoutError:
            continue
        except OSError:
            return
        with opened:
            opened.settimeout(1)
            try:
                opened.sendall(f"hello {world.secret}\n".encode())
                world.heard.append(opened.recv(4096))
            except OSError:
                world.heard.append(b"somebody connected")


def _hear(listener: socket.socket, world: World) -> None:
    while True:
        try:
            world.heard.append(listener.recv(4096))
        except TimeoutError:
            continue
        except OSError:
            return
