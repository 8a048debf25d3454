"""Record what became of each test, for `scripts/check.py`: a line of JSON for each report of pytest's."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

VARIABLE = "TEST_RESULTS"


@dataclass(frozen=True)
class Report:
    """One phase of one test."""

    test: str  # the node id
    group: str  # of pytest-xdist; empty where there are none
    when: str  # setup, call or teardown; "???" where a worker died
    outcome: str  # passed, failed or skipped
    seconds: float
    text: str  # of a failure
    output: list[list[str]]  # title and text of what was captured


class _Recorder:
    def __init__(self, path: Path, has_groups: bool) -> None:
        self._path, self._has_groups = path, has_groups

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # pytest-xdist appends the group.
        test, _, group = report.nodeid.rpartition("@") if self._has_groups else (report.nodeid, "", "")
        line = Report(
            test or report.nodeid,
            group,
            report.when or "???",
            report.outcome,
            round(getattr(report, "duration", 0.0), 3),
            "" if report.passed else report.longreprtext,
            [[title, text] for title, text in report.sections],
        )
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(asdict(line))}\n")


def pytest_configure(config: pytest.Config) -> None:
    """Record where asked to. With pytest-xdist, the controller gets the reports of all workers."""
    path = os.environ.get(VARIABLE)
    if path and not hasattr(config, "workerinput"):
        has_groups = config.getoption("dist", "no") == "loadgroup"
        config.pluginmanager.register(_Recorder(Path(path), has_groups), "results")


def read_reports(path: Path) -> list[Report]:
    """Return the reports that were recorded in `path`; none where no test ran."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Report(**json.loads(line)) for line in lines]
