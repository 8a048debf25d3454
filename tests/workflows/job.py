"""One job on a machine of its own: its steps in order, and what each of them sees."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.workflows.actions import ACTIONS, ActionFailed
from tests.workflows.artifacts import ArtifactError, Artifacts
from tests.workflows.attempt import Attempt
from tests.workflows.definition import Job, Step, UnsupportedWorkflow
from tests.workflows.expressions import Scope, condition, interpolate
from tests.workflows.hub import NAME, Hub
from tests.workflows.permissions import Rights
from tests.workflows.records import CANCELLED, FAILURE, SKIPPED, SUCCESS, JobRecord, StepRecord
from tests.workflows.shell import end_strays, execute, read_assignments
from tests.workflows.values import ExpressionError, is_true, to_text

_FILES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
_MAX_SUMMARY = 1024 * 1024  # bytes, a step
_IN_IF = {"github", "needs", "strategy", "matrix", "job", "runner", "env", "vars", "steps", "inputs"}
Contexts = Mapping[str, Any]


@dataclass
class JobRun:
    """`contexts` are github, needs, vars, inputs, matrix, strategy and secrets; `outer_env` is the workflow's."""

    attempt: Attempt
    job: Job
    path: str
    name: str
    folder: Path
    rights: Rights
    token: str
    contexts: Contexts
    outer_env: Mapping[str, Any]
    status: str = SUCCESS
    lost: bool = False
    persisted_token: bool = False
    env: dict[str, str] = field(default_factory=dict)
    search_path: list[str] = field(default_factory=list)
    steps: dict[str, Any] = field(default_factory=dict)  # the context of that name
    at_end: list[Callable[[], object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace = self.folder / "work" / NAME / NAME
        self.temp, self.home = self.folder / "temp", self.folder / "home"
        for folder in (self.workspace, self.temp, self.home):
            folder.mkdir(parents=True)
        self.record = JobRecord(self.path, self.name, self.contexts["matrix"], self.rights, self.folder, self.workspace)
        self.env |= self._texts(self.outer_env, without={"env", "runner", "job", "steps"})
        self.env |= self._texts(self.job.env, without={"env", "runner", "job", "steps"})

    @property
    def hub(self) -> Hub:
        return self.attempt.hub

    @property
    def artifacts(self) -> Artifacts:
        return self.hub.artifacts(self.attempt.run_id)

    def run(self) -> JobRecord:
        try:
            for n, step in enumerate(self.job.steps):
                self.record.steps.append(self._step(n, step))
                if self.lost:
                    break
            if self.status == SUCCESS:
                for action in self.at_end:
                    action()
            self.record.result = self.status
            self.record.outputs = self._outputs()
        finally:
            end_strays(self._tracking_id)
            self.hub.revoke_token(self.token)
        return self.record

    # Contexts

    def scope(self, env: Mapping[str, str] | None = None, without: set[str] | frozenset[str] = frozenset()) -> Scope:
        known = {
            **self.contexts,
            "env": dict(self.env if env is None else env),
            "job": {"status": self.status},
            "runner": {"os": "Linux", "arch": "X64", "name": "runner", "temp": str(self.temp)},
            "steps": self.steps,
        }
        return Scope({k: v for k, v in known.items() if k not in without}, self._functions())

    def _functions(self) -> dict[str, Callable[..., Any]]:
        cancelled = self.status == CANCELLED or self.attempt.cancellation.is_requested
        return {
            "always": lambda: True,
            "success": lambda: self.status == SUCCESS and not cancelled,
            "failure": lambda: self.status == FAILURE,
            "cancelled": lambda: cancelled,
            "hashFiles": self._hash_files,
        }

    def _hash_files(self, *patterns: str) -> str:
        files = sorted({f for p in patterns for f in self.workspace.glob(p) if f.is_file()})
        digests = b"".join(hashlib.sha256(f.read_bytes()).digest() for f in files)
        return hashlib.sha256(digests).hexdigest() if files else ""

    def _texts(
        self,
        values: Mapping[str, Any],
        env: Mapping[str, str] | None = None,
        without: frozenset[str] | set[str] = frozenset(),
    ) -> dict[str, str]:
        return {str(k): to_text(v) for k, v in interpolate(dict(values), self.scope(env, without)).items()}

    def _outputs(self) -> dict[str, str]:
        """Without those that have a secret in them, which GitHub drops."""
        texts = self._texts(self.job.outputs)
        hidden = [v for v in self.contexts["secrets"].values() if v]
        return {name: text for name, text in texts.items() if not any(secret in text for secret in hidden)}

    # Steps

    def _step(self, n: int, step: Step) -> StepRecord:
        title = to_text(interpolate(step.title(), self.scope()))
        only_if = Scope({k: v for k, v in self.scope().contexts.items() if k in _IN_IF}, self._functions())
        if not condition(step.condition, only_if):
            return self._conclude(step, StepRecord(self.path, title, step.id, SKIPPED, SKIPPED))
        env = {**self.env, **self._texts(step.env)}
        inputs = self._texts(step.inputs, env)
        facts: dict[str, Any] = {"job": self.path, "name": title, "id": step.id}
        do = self._script if step.run is not None else self._action
        try:
            done = do(n, step, env, inputs, facts)
        except ExpressionError as e:
            raise ExpressionError(f"{step.place}: {e}") from e
        return self._conclude(step, done)

    def _conclude(self, step: Step, record: StepRecord) -> StepRecord:
        if step.id:
            outcome = {"outcome": record.outcome, "conclusion": record.conclusion}
            self.steps[step.id] = {**outcome, "outputs": dict(record.outputs)}
        if self.status == SUCCESS and record.conclusion in (FAILURE, CANCELLED):
            self.status = record.conclusion
        return record

    def _conclusion(self, step: Step, outcome: str) -> str:
        forgiven = outcome == FAILURE and is_true(interpolate(step.continue_on_error, self.scope()))
        return SUCCESS if forgiven else outcome

    def secrets_in(self, *values: str) -> frozenset[str]:
        named = {name for name, secret in self.contexts["secrets"].items() if secret}
        seen = {name for name in named if any(self.contexts["secrets"][name] in value for value in values)}
        return frozenset(seen | ({"GITHUB_TOKEN"} if self.persisted_token else set()))

    def _action(
        self, n: int, step: Step, env: dict[str, str], inputs: dict[str, str], facts: dict[str, Any]
    ) -> StepRecord:
        name = str(step.uses).partition("@")[0]
        action = self.hub.actions.get(name) or ACTIONS.get(name)
        if action is None:
            raise UnsupportedWorkflow(f"{step.place}: no action {name}")
        output, outputs = "", {}
        outcome = SUCCESS
        try:
            outputs = action(self, inputs)
        except (ActionFailed, ArtifactError) as e:
            outcome, output = FAILURE, f"Error: {e}\n"
        return StepRecord(
            **facts,
            outcome=outcome,
            conclusion=self._conclusion(step, outcome),
            env=env,
            secrets=self.secrets_in(*env.values(), *inputs.values()),
            output=output,
            outputs=outputs,
        )

    def _script(
        self, n: int, step: Step, env: dict[str, str], inputs: dict[str, str], facts: dict[str, Any]
    ) -> StepRecord:
        scratch = self.folder / "steps" / str(n)
        whole = self._environment(env, scratch)
        script = to_text(interpolate(step.run, self.scope(env)))
        shell, below = (
            None if value is None else to_text(interpolate(value, self.scope(env)))
            for value in (step.defaults.shell, step.defaults.working_directory)
        )
        ended = execute(script, shell, whole, self.workspace / (below or ""), scratch / "process", self._stop(facts))
        files = {name: Path(whole[name]) for name in _FILES}
        self.env |= read_assignments(files["GITHUB_ENV"])
        self.search_path[:0] = reversed(files["GITHUB_PATH"].read_text().split("\n")[:-1])
        summary = files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        outcome = self._outcome(ended.code)
        if len(summary.encode()) > _MAX_SUMMARY:
            raise ValueError(f"{step.place}: a summary of more than {_MAX_SUMMARY} bytes")
        return StepRecord(
            **facts,
            outcome=outcome,
            conclusion=self._conclusion(step, outcome),
            env=whole,
            secrets=self.secrets_in(*whole.values()),
            code=ended.code,
            output=ended.output,
            outputs=read_assignments(files["GITHUB_OUTPUT"]),
            summary=summary,
        )

    def _outcome(self, code: int | None) -> str:
        if code is None:
            return FAILURE if self.lost else CANCELLED
        return SUCCESS if code == 0 else FAILURE

    def _stop(self, facts: Mapping[str, Any]) -> Callable[[], bool]:
        """Whether to kill the step now: by an interruption that the test wants, or because its run was cancelled."""
        interruption = self.attempt.interruption
        matrix = self.contexts["matrix"]
        concerned = interruption and interruption.concerns(self.path, matrix, facts["id"], facts["name"])
        cancelled_before = self.attempt.cancellation.is_requested  # then this step runs in spite of it

        def should_stop() -> bool:
            if interruption and concerned and interruption.when(self.workspace):
                interruption.happened = True
                self.lost = interruption.lost
                if not interruption.lost:
                    self.attempt.cancellation.cancel()
                return True
            return self.attempt.cancellation.is_requested and not cancelled_before

        return should_stop

    # The environment of scripts

    @property
    def _tracking_id(self) -> str:
        return f"github_{self.folder.name}_{id(self)}"

    def _environment(self, env: Mapping[str, str], scratch: Path) -> dict[str, str]:
        scratch.mkdir(parents=True)
        github = self.contexts["github"]
        event = self.folder / "event.json"
        event.write_text(json.dumps(github["event"]))
        for name in _FILES:
            (scratch / name).touch()
        own: tuple[str, ...] = (
            "event_name",
            "ref",
            "ref_name",
            "ref_type",
            "sha",
            "repository",
            "repository_owner",
            "run_id",
            "actor",
        )
        own += ("run_number", "run_attempt", "workflow", "job", "server_url", "api_url", "base_ref", "head_ref")
        path = [*self.search_path, str(self.hub.commands), self.hub.machine["PATH"]]
        return {
            **self.hub.machine,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "GIT_TERMINAL_PROMPT": "0",
            **{f"GITHUB_{name.upper()}": to_text(github[name]) for name in own},
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_WORKSPACE": str(self.workspace),
            **{name: str(scratch / name) for name in _FILES},
            "RUNNER_OS": "Linux",
            "RUNNER_ARCH": "X64",
            "RUNNER_TEMP": str(self.temp),
            "RUNNER_TRACKING_ID": self._tracking_id,
            **env,
            "PATH": ":".join(path),
        }
