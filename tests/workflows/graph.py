"""The jobs of a workflow in order of their `needs`, those of workflows that they call included."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.workflows.attempt import Attempt
from tests.workflows.concurrency import Superseded
from tests.workflows.definition import Job, UnsupportedWorkflow, Workflow, load_workflow
from tests.workflows.expressions import Scope, condition, interpolate
from tests.workflows.inputs import InputError, resolve_inputs
from tests.workflows.job import JobRun
from tests.workflows.matrix import Combination, combinations
from tests.workflows.permissions import Rights, cap, check_nested, parse_rights
from tests.workflows.records import CANCELLED, FAILURE, SKIPPED, SUCCESS, JobRecord, combine
from tests.workflows.values import is_true, to_text

# Of a repository with the restricted setting, for workflows that say nothing.
_DEFAULT_RIGHTS = {"contents": "read"}
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Outcome:
    """Of a job; of all of its combinations, where it has a matrix."""

    result: str
    outputs: Mapping[str, str] = field(default_factory=dict)
    ran: bool = True  # in this attempt


@dataclass
class Graph:
    attempt: Attempt
    workflow: Workflow
    inputs: Mapping[str, Any]
    secrets: Mapping[str, str]
    prefix: str = ""  # path of the job that calls this workflow
    outer_rights: Rights | None = None  # of that job
    stale: bool = False  # that job needs what ran in this attempt
    done: dict[str, Outcome] = field(default_factory=dict)

    def run(self) -> Outcome:
        while waiting := [job for job in self.workflow.jobs.values() if job.id not in self.done]:
            ready = [job for job in waiting if all(needed in self.done for needed in job.needs)]
            if not ready:
                raise UnsupportedWorkflow(f"{self.workflow.path.name}: needs go round in a circle")
            for job, outcome in zip(ready, self._each(self._job, ready), strict=True):
                self.done[job.id] = outcome
        outcomes = self.done.values()
        return Outcome(combine([o.result for o in outcomes]), self._outputs(), any(o.ran for o in outcomes))

    def _each(self, do: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """In order; or at the same time, so many of them."""
        if self.attempt.at_once == 1:
            return [do(item) for item in items]
        with ThreadPoolExecutor(self.attempt.at_once) as pool:
            return list(pool.map(do, items))

    def _outputs(self) -> dict[str, str]:
        """Of a workflow that is called."""
        declared = (self.workflow.triggers.get("workflow_call") or {}).get("outputs") or {}
        jobs = {job_id: {"result": o.result, "outputs": dict(o.outputs)} for job_id, o in self.done.items()}
        scope = Scope({**self._contexts(), "jobs": jobs})
        return {name: to_text(interpolate(details["value"], scope)) for name, details in declared.items()}

    def _contexts(self) -> dict[str, Any]:
        vars_ = {} if self.attempt.event.from_fork else dict(self.attempt.hub.vars)
        return {"github": self.attempt.github(), "inputs": dict(self.inputs), "vars": vars_}

    # A job

    def _job(self, job: Job) -> Outcome:
        needs = {n: {"result": self.done[n].result, "outputs": dict(self.done[n].outputs)} for n in job.needs}
        contexts = {**self._contexts(), "needs": needs}
        cancelled = self.attempt.cancellation.is_requested
        stale = self.stale or any(self.done[n].ran for n in job.needs)
        if not condition(job.condition, Scope(contexts, self._status_functions(job))):
            return Outcome(CANCELLED if cancelled else SKIPPED, ran=stale)
        matrix = interpolate(job.matrix, Scope(contexts))
        legs = combinations(matrix) if matrix else [{}]
        if not legs:
            raise InputError(f"{self._path(job)}: the matrix has no combination")
        numbered = list(enumerate(legs))
        found = self._each(lambda leg: self._leg(job, contexts, leg, len(legs), stale), numbered)
        outputs: dict[str, str] = {}
        for outcome in found:
            outputs |= {k: v for k, v in outcome.outputs.items() if v or k not in outputs}
        if self.attempt.stop_after == self._path(job):
            self.attempt.cancellation.cancel()
        return Outcome(combine([o.result for o in found]), outputs, any(o.ran for o in found))

    def _path(self, job: Job) -> str:
        return self.prefix + job.id

    def _status_functions(self, job: Job) -> dict[str, Callable[[], bool]]:
        results = [self.done[n].result for n in self.workflow.ancestors(job.id)]
        cancelled = self.attempt.cancellation.is_requested
        return {
            "always": lambda: True,
            "success": lambda: not cancelled and all(r == SUCCESS for r in results),
            "failure": lambda: not cancelled and FAILURE in results,
            "cancelled": lambda: cancelled,
        }

    def _leg(self, job: Job, contexts: dict[str, Any], leg: tuple[int, Combination], of: int, stale: bool) -> Outcome:
        at, matrix = leg
        contexts = {**contexts, "matrix": matrix, "strategy": {"job-index": at, "job-total": of, "fail-fast": False}}
        key = self._path(job) + (json.dumps(matrix) if matrix else "")
        earlier = self.attempt.earlier.get(key)
        if earlier and earlier.result == SUCCESS and not stale:
            self.attempt.records[key] = earlier
            return Outcome(SUCCESS, earlier.outputs, ran=False)
        group, cancels = parse_concurrency(job.concurrency, Scope(contexts))
        try:
            with self.attempt.hub.groups.turn(group, self.attempt.cancellation, cancels=cancels):
                if job.uses:
                    return self._call(job, contexts, stale)
                record = self._run(job, contexts, key)
        except Superseded:
            return Outcome(CANCELLED)
        return Outcome(record.result, record.outputs)

    def _rights(self, job: Job) -> Rights:
        default = _DEFAULT_RIGHTS if self.outer_rights is None else self.outer_rights
        rights = parse_rights(job.permissions, parse_rights(self.workflow.permissions, default))
        if self.outer_rights is not None:
            check_nested(rights, self.outer_rights, self._path(job))
        return cap(rights, self.attempt.event.from_fork) if self.outer_rights is None else rights

    def _run(self, job: Job, contexts: dict[str, Any], key: str) -> JobRecord:
        attempt, rights = self.attempt, self._rights(job)
        token = attempt.hub.issue_token(rights)
        environment = interpolate(job.environment, Scope(contexts))
        name = environment["name"] if isinstance(environment, dict) else environment
        secrets = {**self.secrets, **attempt.hub.environments.get(name or "", {}), "GITHUB_TOKEN": token}
        contexts = {**contexts, "github": attempt.github(job.id, token), "secrets": secrets}
        outer = interpolate(dict(self.workflow.env), Scope({**self._contexts(), "secrets": secrets}))
        folder = attempt.hub.folder / "jobs" / f"{attempt.run_id}-{attempt.number}-{next(attempt.counter)}-{job.id}"
        title = self._title(job, contexts)
        run = JobRun(attempt, job, self._path(job), title, folder, rights, token, contexts, outer)
        attempt.records[key] = run.record
        return run.run()

    def _title(self, job: Job, contexts: Mapping[str, Any]) -> str:
        own = {k: v for k, v in contexts.items() if k != "secrets"}
        values = ", ".join(to_text(v) for v in contexts["matrix"].values())
        if job.name:
            return to_text(interpolate(job.name, Scope(own)))
        return f"{job.id} ({values})" if values else job.id

    # A workflow that is called

    def _call(self, job: Job, contexts: dict[str, Any], stale: bool) -> Outcome:
        uses = re.sub(r"^\$/", "./", str(job.uses))
        if not uses.startswith("./.github/workflows/"):
            raise UnsupportedWorkflow(f"{self._path(job)}: uses {uses}, which is not a file here")
        called = load_workflow(self.attempt.root / uses)
        if "workflow_call" not in called.triggers:
            raise UnsupportedWorkflow(f"{uses} cannot be called")
        terms = called.triggers["workflow_call"] or {}
        inputs = resolve_inputs(terms.get("inputs") or {}, interpolate(dict(job.inputs), Scope(contexts)))
        secrets = self._handed_on(job, terms.get("secrets") or {}, contexts)
        rights = self._rights(job)
        return Graph(self.attempt, called, inputs, secrets, f"{self._path(job)}/", rights, stale).run()

    def _handed_on(self, job: Job, declared: Mapping[str, Any], contexts: dict[str, Any]) -> dict[str, str]:
        if job.secrets == "inherit":
            return dict(self.secrets)
        given = job.secrets or {}
        unknown = given.keys() - declared.keys()
        missing = {name for name, d in declared.items() if (d or {}).get("required")} - given.keys()
        if unknown or missing:
            raise InputError(f"{self._path(job)}: secrets unknown: {sorted(unknown)}, missing: {sorted(missing)}")
        scope = Scope({**contexts, "secrets": dict(self.secrets)})
        return {name: to_text(interpolate(value, scope)) for name, value in given.items()}


def parse_concurrency(declared: Any, scope: Scope) -> tuple[str | None, bool]:
    """The group, and whether what is in progress is cancelled."""
    value = interpolate(declared, scope)
    if value is None or isinstance(value, str):
        return value, False
    return to_text(value["group"]), is_true(value.get("cancel-in-progress", False))
