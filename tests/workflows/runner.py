"""Run a workflow file as it stands: its shell steps are executed, its actions replaced by what they do to files.

    with hosting(tmp_path / "hub", clone, secrets={"STUB_KEY": "k"}) as hub:
        run = run_workflow(hub, ROOT / ".github/workflows/pr.yml", hub.pull_request(clone))
        assert run.result == "success", run.report()
        assert run.job("guidelines").step("diff").secrets == frozenset()

`hosting` (hub.py) makes the repository that jobs clone and push to over HTTP, each with a token of its own rights. Its
keywords: `secrets`, `vars`, `environments`, `machine` (environment of the runners), `shims` (commands in front of
PATH), `actions` (more actions, as in actions.py). `cli` is this checkout's; pip, sudo and apt-get only leave a line in
`hub.calls()`. Events: `hub.pushed`, `tagged`, `scheduled`, `dispatched` and `pull_request`.

What is not known (a key of the file, an action, an input of one, a context where GitHub has none) raises. Filters of
paths are not looked at: a test starts what it wants to run.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.workflows.attempt import Attempt
from tests.workflows.concurrency import Superseded
from tests.workflows.definition import UnsupportedWorkflow, Workflow, load_workflow
from tests.workflows.expressions import Scope
from tests.workflows.graph import Graph, parse_concurrency
from tests.workflows.hub import Event, Hub
from tests.workflows.inputs import resolve_inputs
from tests.workflows.interruption import Interruption
from tests.workflows.records import CANCELLED, JobRecord

_PULL_REQUEST_TYPES = ("opened", "synchronize", "reopened")


@dataclass
class WorkflowRun:
    """One attempt, complete."""

    attempt: Attempt
    workflow: Workflow
    result: str
    results: dict[str, str]  # of the workflow's own jobs, those that were skipped included

    def jobs(self, path: str) -> list[JobRecord]:
        """The combinations of a job that have run: in this attempt, or in an earlier one that counts."""
        return [r for r in self.attempt.records.values() if r.path == path]

    def job(self, path: str) -> JobRecord:
        found = self.jobs(path)
        assert len(found) == 1, f"{path!r}: of the jobs {list(self.attempt.records)}; {self.results}"
        return found[0]

    @property
    def summary(self) -> str:
        """The page of the run: what its jobs wrote to GITHUB_STEP_SUMMARY."""
        return "".join(record.summary for record in self.attempt.records.values())

    def report(self) -> str:
        """All output, for the message of an assertion."""
        jobs = (f"=== {key}: {r.result}\n{r.output}" for key, r in self.attempt.records.items())
        return "\n".join([str(self.results), *jobs])

    def rerun_failed(self, interruption: Interruption | None = None) -> WorkflowRun:
        """`Re-run failed jobs`: those, and the ones that need them."""
        old = self.attempt
        attempt = Attempt(
            hub=old.hub,
            event=old.event,
            root=old.root,
            workflow=old.workflow,
            run_id=old.run_id,
            number=old.number + 1,
            at_once=old.at_once,
            interruption=interruption,
            stop_after=None,
            earlier=old.records,
        )
        return _run(attempt, self.workflow)


def run_workflow(
    hub: Hub,
    path: Path,
    event: Event,
    *,
    at_once: int = 1,
    interruption: Interruption | None = None,
    stop_after: str | None = None,
) -> WorkflowRun:
    """Run `path` for `event`. `at_once` jobs run at the same time.

    `stop_after`: somebody cancels the workflow when this job is done; then only jobs with `always()` follow.
    """
    workflow = load_workflow(path)
    _check_trigger(workflow, event)
    root = path.parents[2]
    attempt = Attempt(hub, event, root, workflow.name, hub.next_run(), 1, at_once, interruption, stop_after)
    return _run(attempt, workflow)


def _run(attempt: Attempt, workflow: Workflow) -> WorkflowRun:
    event = attempt.event
    declared = (workflow.triggers.get("workflow_dispatch") or {}).get("inputs") or {}
    inputs = resolve_inputs(declared, event.inputs) if event.name == "workflow_dispatch" else {}
    secrets = {} if event.from_fork else attempt.hub.secrets
    graph = Graph(attempt, workflow, inputs, secrets)
    contexts: dict[str, Any] = {"github": attempt.github(), "inputs": inputs, "vars": dict(attempt.hub.vars)}
    group, cancels = parse_concurrency(workflow.concurrency, Scope(contexts))
    try:
        with attempt.hub.groups.turn(group, attempt.cancellation, cancels=cancels):
            result = graph.run().result
    except Superseded:
        result = CANCELLED
    assert not attempt.interruption or attempt.interruption.happened, "the step ended before it was interrupted"
    return WorkflowRun(attempt, workflow, result, {job_id: o.result for job_id, o in graph.done.items()})


def _check_trigger(workflow: Workflow, event: Event) -> None:
    if event.name not in workflow.triggers:
        raise UnsupportedWorkflow(f"{workflow.path.name} does not start on {event.name}")
    terms = workflow.triggers[event.name]
    if event.name == "schedule":  # a list of times
        return
    if event.name == "pull_request" and event.payload["action"] not in terms.get("types", _PULL_REQUEST_TYPES):
        raise UnsupportedWorkflow(f"{workflow.path.name} does not start on pull_request {event.payload['action']}")
    filters = {"tags": "refs/tags/", "branches": "refs/heads/"}
    wanted = [start + p for key, start in filters.items() for p in terms.get(key) or ()]
    ref = f"refs/heads/{event.base_ref}" if event.base_ref else event.ref
    if event.name in ("push", "pull_request") and wanted and not any(fnmatchcase(ref, p) for p in wanted):
        raise UnsupportedWorkflow(f"{workflow.path.name} does not start on {event.name} of {ref}")
