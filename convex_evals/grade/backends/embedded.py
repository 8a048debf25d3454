"""The embedded backend: our Node server around the official `convex-test` runtime."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import ProcessFault
from convex_evals.grade.backends import Endpoints
from convex_evals.grade.sandbox import Launch, Sandbox
from convex_evals.grade.toolchain import Toolchain
from convex_evals.process import read_fd
from convex_evals.records import BackendIdentity

# Raised whenever a rule is added that may turn a verdict. Part of the grading key.
RULES_VERSION = "3"
_READY_SECONDS = 20.0
# Deployed modules are evaluated as ES modules in a realm of their own.
_FLAGS = ("--experimental-vm-modules", "--disable-warning=ExperimentalWarning")


@dataclass(frozen=True)
class EmbeddedBackend:
    toolchain: Toolchain
    sandbox: Sandbox

    @property
    def identity(self) -> BackendIdentity:
        return BackendIdentity(kind="embedded", version=RULES_VERSION)

    @asynccontextmanager
    async def start(self, scratch: Path, listening: Sequence[int] = ()) -> AsyncIterator[Endpoints]:
        ready, write_end = os.pipe()
        node = self.toolchain.node
        argv: list[str | Path] = [
            node.executable,
            *_FLAGS,
            self.toolchain.script("backend/app/backend.bundle.mjs"),
            *("--port", "0", "--site-port", "0", "--exit-with-stdin"),
            *("--ready-fd", str(write_end)),
            *(word for fd in listening for word in ("--listen-fd", str(fd))),
        ]
        try:
            child = await self.sandbox.launch(
                Launch(argv, scratch, node.environment(scratch), writable=[scratch], pass_fds=[write_end, *listening])
            )
        except BaseException:
            os.close(ready)
            raise
        finally:
            os.close(write_end)
        async with child:
            yield await _endpoints(ready, child.stderr.text)


async def _endpoints(ready: int, stderr: Callable[[], str]) -> Endpoints:
    try:
        line = await asyncio.wait_for(read_fd(ready, 4096, line=True), _READY_SECONDS)
        message = json.loads(line)
        return Endpoints(int(message["port"]), int(message["site_port"]))
    except TimeoutError:
        raise ProcessFault(f"the backend was not ready within {_READY_SECONDS:.0f} s") from None
    except (ValueError, KeyError, TypeError):
        tail = stderr().strip().splitlines()
        raise ProcessFault(f"the backend did not start: {tail[-1] if tail else 'no message'}") from None
