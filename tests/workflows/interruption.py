"""A job that is killed while one of its steps runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Interruption:
    """Kill the step `step` (an id, or the beginning of a name) of the job `job` as soon as `when(WORKSPACE)` holds.

    `lost`: the machine is gone, no later step of the job runs, and the job failed. Otherwise somebody cancelled the
    workflow: steps and jobs with `always()` still run.
    """

    job: str
    step: str
    when: Callable[[Path], bool] = lambda workspace: True
    matrix: Mapping[str, Any] = field(default_factory=dict)
    lost: bool = True
    happened: bool = False

    def concerns(self, job: str, matrix: Mapping[str, Any], step_id: str | None, title: str) -> bool:
        leg = all(matrix.get(key) == value for key, value in self.matrix.items())
        return not self.happened and job == self.job and leg and (step_id == self.step or title.startswith(self.step))
