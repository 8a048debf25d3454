"""A workflow file as it stands: its jobs and steps, with expressions not yet evaluated.

What the runner does not know to do is an error here, so that no key of a file is passed over in silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_IGNORED = {"timeout-minutes", "run-name"}  # time limits are of the machine that executes the tests
_WORKFLOW = {"name", "on", "permissions", "env", "concurrency", "defaults", "jobs"}
_JOB = {"name", "needs", "if", "runs-on", "permissions", "environment", "concurrency", "outputs", "env", "defaults"}
_JOB |= {"strategy", "steps", "uses", "with", "secrets"}
_STEP = {"name", "id", "if", "uses", "with", "run", "shell", "env", "working-directory", "continue-on-error"}
_STRATEGY = {"matrix", "fail-fast", "max-parallel"}


class UnsupportedWorkflow(Exception):
    """The file has what this runner would have to skip."""


class _Loader(yaml.SafeLoader):
    """YAML 1.2, as far as the two differ in workflow files: `on` is a word, `true` and `false` are the booleans."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag.rpartition(":")[2] not in ("bool", "timestamp")]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false"), list("tf"))


@dataclass(frozen=True)
class Defaults:
    """Of `run:` steps."""

    shell: str | None = None
    working_directory: str | None = None

    def under(self, outer: Defaults) -> Defaults:
        return Defaults(self.shell or outer.shell, self.working_directory or outer.working_directory)


@dataclass(frozen=True)
class Step:
    place: str  # for messages: `pr.yml: jobs.check.steps[2]`
    name: str | None
    id: str | None
    condition: Any
    uses: str | None
    inputs: Mapping[str, Any]
    run: str | None
    defaults: Defaults
    env: Mapping[str, Any]
    continue_on_error: Any

    def title(self) -> str:
        return self.name or self.uses or "Run " + str(self.run).strip().partition("\n")[0]


@dataclass(frozen=True)
class Job:
    id: str
    name: str | None
    needs: tuple[str, ...]
    condition: Any
    permissions: Any
    environment: Any
    concurrency: Any
    outputs: Mapping[str, Any]
    env: Mapping[str, Any]
    defaults: Defaults
    matrix: Any
    steps: tuple[Step, ...]
    uses: str | None
    inputs: Mapping[str, Any]
    secrets: Any


@dataclass(frozen=True)
class Workflow:
    path: Path
    name: str
    triggers: Mapping[str, Any]
    permissions: Any
    env: Mapping[str, Any]
    concurrency: Any
    jobs: Mapping[str, Job]

    def ancestors(self, job_id: str) -> set[str]:
        """What a job needs, and what that needs."""
        found: set[str] = set()
        for needed in self.jobs[job_id].needs:
            found |= {needed} | self.ancestors(needed)
        return found


def load_workflow(path: Path) -> Workflow:
    data = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    _only(data, _WORKFLOW, path.name)
    defaults = _defaults(data, path.name)
    jobs = {job_id: _job(job_id, job, defaults, f"{path.name}: jobs.{job_id}") for job_id, job in data["jobs"].items()}
    for job in jobs.values():
        unknown = set(job.needs) - jobs.keys()
        if unknown:
            raise UnsupportedWorkflow(f"{path.name}: {job.id} needs {', '.join(unknown)}")
    on = data["on"]
    triggers = {on: None} if isinstance(on, str) else dict.fromkeys(on) if isinstance(on, list) else on
    return Workflow(
        path=path,
        name=data.get("name") or path.name,
        triggers={name: details or {} for name, details in triggers.items()},
        permissions=data.get("permissions"),
        env=data.get("env") or {},
        concurrency=data.get("concurrency"),
        jobs=jobs,
    )


def _only(data: Mapping[str, Any], known: set[str], place: str) -> None:
    unknown = data.keys() - known - _IGNORED
    if unknown:
        raise UnsupportedWorkflow(f"{place}: {', '.join(sorted(unknown))}")


def _defaults(data: Mapping[str, Any], place: str) -> Defaults:
    outer = data.get("defaults") or {}
    _only(outer, {"run"}, f"{place}: defaults")
    run = outer.get("run") or {}
    _only(run, {"shell", "working-directory"}, f"{place}: defaults.run")
    return Defaults(run.get("shell"), run.get("working-directory"))


def _job(job_id: str, data: Mapping[str, Any], outer: Defaults, place: str) -> Job:
    _only(data, _JOB, place)
    if ("uses" in data) == ("steps" in data):
        raise UnsupportedWorkflow(f"{place}: needs either steps or a workflow that it uses")
    defaults = _defaults(data, place).under(outer)
    strategy = data.get("strategy") or {}
    _only(strategy, _STRATEGY, f"{place}.strategy")
    if strategy and strategy.get("fail-fast") is not False:
        raise UnsupportedWorkflow(f"{place}.strategy: only `fail-fast: false`")
    needs = data.get("needs") or ()
    steps = enumerate(data.get("steps") or ())
    return Job(
        id=job_id,
        name=data.get("name"),
        needs=(needs,) if isinstance(needs, str) else tuple(needs),
        condition=data.get("if"),
        permissions=data.get("permissions"),
        environment=data.get("environment"),
        concurrency=data.get("concurrency"),
        outputs=data.get("outputs") or {},
        env=data.get("env") or {},
        defaults=defaults,
        matrix=strategy.get("matrix"),
        steps=tuple(_step(step, defaults, f"{place}.steps[{n}]") for n, step in steps),
        uses=data.get("uses"),
        inputs=data.get("with") or {},
        secrets=data.get("secrets"),
    )


def _step(data: Mapping[str, Any], outer: Defaults, place: str) -> Step:
    _only(data, _STEP, place)
    if ("uses" in data) == ("run" in data):
        raise UnsupportedWorkflow(f"{place}: needs either `uses` or `run`")
    return Step(
        place=place,
        name=data.get("name"),
        id=data.get("id"),
        condition=data.get("if"),
        uses=data.get("uses"),
        inputs=data.get("with") or {},
        run=data.get("run"),
        defaults=Defaults(data.get("shell"), data.get("working-directory")).under(outer),
        env=data.get("env") or {},
        continue_on_error=data.get("continue-on-error", False),
    )
