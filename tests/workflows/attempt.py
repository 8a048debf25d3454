"""What all jobs of an attempt at a workflow run share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.workflows.concurrency import Cancellation
from tests.workflows.hub import OWNER, REPOSITORY, Event, Hub
from tests.workflows.interruption import Interruption
from tests.workflows.records import JobRecord


@dataclass
class Attempt:
    hub: Hub
    event: Event
    root: Path  # the checkout whose workflow files are run
    workflow: str
    run_id: int
    number: int
    at_once: int
    interruption: Interruption | None
    stop_after: str | None
    earlier: dict[str, JobRecord] = field(default_factory=dict)  # of the attempt before, by key
    records: dict[str, JobRecord] = field(default_factory=dict)  # by path and matrix
    cancellation: Cancellation = field(default_factory=Cancellation)
    counter: Iterator[int] = field(default_factory=itertools.count)  # of its jobs

    def github(self, job_id: str | None = None, token: str = "") -> dict[str, Any]:
        """The context of that name."""
        event = self.event
        return {
            "event_name": event.name,
            "event": event.payload,
            "ref": event.ref,
            "ref_name": event.ref.split("/", 2)[2],
            "ref_type": "tag" if event.ref.startswith("refs/tags/") else "branch",
            "sha": event.sha,
            "repository": REPOSITORY,
            "repository_owner": OWNER,
            "run_id": str(self.run_id),
            "run_number": str(self.run_id),
            "run_attempt": str(self.number),
            "actor": "somebody",
            "workflow": self.workflow,
            "job": job_id,
            "token": token,
            "server_url": self.hub.url,
            "api_url": f"{self.hub.url}/api",
            "base_ref": event.base_ref,
            "head_ref": event.head_ref,
        }
