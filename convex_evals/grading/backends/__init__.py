"""What runs a deployed project: one protocol, several implementations."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from convex_evals.grading.sandbox.base import Network
from convex_evals.records import BackendIdentity

if TYPE_CHECKING:
    import httpx

    from convex_evals.process import Child

# The well-known key of the local development instance "carnitas": public, and valid nowhere else.
ADMIN_KEY = (
    "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f"
    "4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd"
)


@dataclass(frozen=True)
class Endpoints:
    """Where a running backend listens: for us on a Unix socket, for its trial on ports of the trial's loopback."""

    control: Path
    port: int
    site_port: int
    process: Child | None = None  # that is the backend, where it is known

    def client(self, timeout: float | None) -> httpx.AsyncClient:
        """HTTP to the backend, from outside of its network; `timeout` in seconds, None for none."""
        import httpx

        # On a Unix socket nothing is encrypted; to read the system's certificates takes longer than all that is asked.
        no_certificates = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        transport = httpx.AsyncHTTPTransport(uds=str(self.control), verify=no_certificates)
        return httpx.AsyncClient(base_url="http://backend", transport=transport, timeout=timeout, trust_env=False)


class Backend(Protocol):
    """Starts fresh, empty backends. A project gets in by the official push protocol."""

    @property
    def identity(self) -> BackendIdentity: ...

    def start(
        self, scratch: Path, network: Network | None = None, listening: Sequence[int] = ()
    ) -> AbstractAsyncContextManager[Endpoints]:
        """A new backend, until the context ends. `scratch` is a folder it may write to.

        It listens in `network`, and where there is none, for us alone. What reaches its ports there has no rights of an
        administrator, whatever key it has. Once something is deployed, it accepts connections of the tester, which has
        them, on the ports that the network has for that, and on the sockets `listening` (descriptors).

        Raises `InfrastructureError` where it does not come up.
        """
