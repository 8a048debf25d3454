"""The embedded backend: our Node server around the official `convex-test` runtime."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.clock import step_timeout
from convex_evals.errors import ProcessFault
from convex_evals.grading.backends import Endpoints
from convex_evals.grading.sandbox.base import Launch, Network, Sandbox
from convex_evals.grading.toolchain import Toolchain
from convex_evals.inputs.bounded_json import Limits, decode_object
from convex_evals.process import Child, read_fd
from convex_evals.records import BackendIdentity

# Raised whenever a rule is added that may turn a verdict. Part of the grading key.
RULES_VERSION = "14"
_READY_SECONDS = 20.0
_READY = Limits(4096, values=10, depth=1)
# Of a local deployment of Convex's own, by the names of the options here: functions see them in their URLs.
_LOCAL_PORTS = ("--port", "3210", "--site-port", "3211")
_LONGEST_SOCKET_PATH = 100  # bytes; the system takes 107
# Node's flags: deployed modules are evaluated as ES modules in a realm of their own. Compiled code is recorded under
# these: V8 refuses it under others.
_FLAGS = "backend/flags.json"


@dataclass(frozen=True)
class Kept:
    """What makes a backend outlive its process: a folder for its data, ports that stay, and its lock on the folder."""

    data: Path
    port: int  # 0 for any free one; so is `site_port`
    site_port: int
    lock: int  # a descriptor that the process inherits: the folder is its own until the process is gone


@dataclass(frozen=True)
class EmbeddedBackend:
    toolchain: Toolchain
    sandbox: Sandbox
    kept: Kept | None = None

    @property
    def identity(self) -> BackendIdentity:
        return BackendIdentity(kind="embedded", version=RULES_VERSION)

    @asynccontextmanager
    async def start(
        self, scratch: Path, network: Network | None = None, listening: Sequence[int] = ()
    ) -> AsyncIterator[Endpoints]:
        ready, write_end = os.pipe()
        with _control_socket(scratch) as (control, path):
            try:
                for_tester = [*listening, *(network.project.descriptors if network else [])]
                site = network.project_site.descriptors if network else []
                lock = [self.kept.lock] if self.kept else []
                launch = self._launch(scratch, network, [write_end, control.fileno(), *lock], for_tester, site)
                child = await self.sandbox.launch(launch)
            except BaseException:
                os.close(ready)
                raise
            finally:
                os.close(write_end)
                control.close()
                if network:
                    network.project.close()
                    network.project_site.close()
            async with child:
                port, site_port = await _ports(ready, child)
                yield Endpoints(path, port, site_port, child)

    def _ports(self, network: Network | None) -> Sequence[str | Path]:
        if self.kept is None:
            is_own = network is not None and network.number is not None
            return _LOCAL_PORTS if is_own else ("--port", "0", "--site-port", "0")
        ports = ("--port", str(self.kept.port), "--site-port", str(self.kept.site_port))
        return (*ports, "--data", self.kept.data)

    def _launch(
        self,
        scratch: Path,
        network: Network | None,
        ours: Sequence[int],
        for_tester: Sequence[int],
        site: Sequence[int],
    ) -> Launch:
        node = self.toolchain.node
        pass_fds = [*ours, *for_tester, *site]
        first_site = 3 + len(ours) + len(for_tester)
        argv: list[str | Path] = [
            # What the project runs beside it, of the same user, cannot look into it.
            self.toolchain.sealed_node,
            *json.loads(self.toolchain.script(_FLAGS).read_text(encoding="utf-8")),
            self.toolchain.script("backend/app/backend.bundle.mjs"),
            *self._ports(network),
            *("--exit-with-stdin", "--ready-fd", "3", "--control-fd", "4"),
            *(word for fd in range(3 + len(ours), first_site) for word in ("--listen-fd", str(fd))),
            *(word for fd in range(first_site, 3 + len(pass_fds)) for word in ("--listen-site-fd", str(fd))),
        ]
        return Launch(
            argv,
            scratch,
            node.environment(scratch),
            writable=[scratch, *([self.kept.data] if self.kept else [])],
            pass_fds=pass_fds,
            network=network,
            project_code=True,
        )


@contextmanager
def _control_socket(scratch: Path) -> Iterator[tuple[socket.socket, Path]]:
    """A Unix socket that listens beside `scratch`, where it does not see it."""
    with ExitStack() as stack:
        path = scratch.with_name(f"{scratch.name}.sock")
        if len(str(path)) > _LONGEST_SOCKET_PATH:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evals-", dir="/tmp")), "control.sock")
        with socket.socket(socket.AF_UNIX) as control:
            control.bind(str(path))
            control.listen()
            yield control, path


async def _ports(ready: int, child: Child) -> tuple[int, int]:
    try:
        async with step_timeout(_READY_SECONDS):
            line = await read_fd(ready, _READY.size, line=True)
        message = decode_object(line, _READY)
        return int(message["port"]), int(message["site_port"])
    except TimeoutError:
        raise ProcessFault(f"the backend was not ready within {_READY_SECONDS:.0f} s") from None
    except (ValueError, KeyError, TypeError, OverflowError):
        raise ProcessFault(f"the backend did not start: {child.last_words()}") from None
