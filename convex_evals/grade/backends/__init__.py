"""What runs a deployed project: one protocol, several implementations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from convex_evals.records import BackendIdentity

# The well-known key of the local development instance "carnitas": public, and valid nowhere else.
ADMIN_KEY = (
    "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f"
    "4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd"
)


@dataclass(frozen=True)
class Endpoints:
    """Where a running backend listens, on the loopback interface."""

    port: int
    site_port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class Backend(Protocol):
    """Starts fresh, empty backends. A project gets in by the official push protocol."""

    @property
    def identity(self) -> BackendIdentity: ...

    def start(self, scratch: Path, listening: Sequence[int] = ()) -> AbstractAsyncContextManager[Endpoints]:
        """A backend of one's own, until the context ends. `scratch` is a folder it may write to.

        Once something is deployed, it accepts connections on the sockets `listening` (descriptors), too.

        Raises `InfrastructureError` where it does not come up.
        """
