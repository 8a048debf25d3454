"""What a `cli run` command line says: read from one, resolved into requests, and written where a command is proposed.

The command line itself is declared in `cli/`; a test holds that it reads what `RunOptions.arguments` writes.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convex_evals.render.formats import DEFAULT
from convex_evals.runs.shard import Shard
from convex_evals.runs.stage import Stage

if TYPE_CHECKING:
    # Options are declared where commands are: without waiting for pydantic.
    from convex_evals.config import Experiment
    from convex_evals.records import ComparisonRules, RunPlan

DEFAULT_EXPERIMENT = "default"

# In the order in which a proposed command has them, each as it is written there; -C stands before the command's name.
_FLAGS = {
    "runs": "--run",
    "due": "--due",
    "models": "-m",
    "experiments": "-e",
    "guidelines": "--guidelines",
    "trials": "--trials",
    "categories": "-c",
    "patterns": "-f",
    "sessions": "--sessions",
    "status": "--status",
    "tags": "--tag",
    "compare": "--compare",
    "threshold": "--threshold",
    "judge": "--judge",
    "rubric": "--rubric",
    "run_id": "--run-id",
    "day": "--date",
    "shard": "--shard",
    "only": "--only",
    "budget": "--budget",
    "batch_wait": "--batch-wait",
    "concurrency": "--concurrency",
    "timeout": "--timeout",
    "workers": "--workers",
    "sandbox": "--sandbox",
    "unsafe_no_sandbox": "--unsafe-no-sandbox",
    "dry_run": "--dry-run",
    "fresh": "--fresh",
    "retry_unscored": "--retry-unscored",
    "fail_on_failure": "--fail-on-failure",
    "commit": "--commit",
    "push": "--push",
    "runs_dir": "--runs-dir",
    "form": "--format",
}


@dataclass(frozen=True)
class RunOptions:
    """The options of `cli run`, as they are given."""

    suite: Path | None = None
    runs: tuple[str, ...] = ()
    due: bool = False  # the models and experiments that `cli due` lists
    models: tuple[str, ...] = ()
    experiments: tuple[str, ...] = ()  # none: the default one
    guidelines: str | None = None  # instead of what the experiments say
    trials: int = 1
    categories: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()  # of ids; any of them, and none of those that begin with `!`
    sessions: bool = False  # sessions are asked again, and not the suite's evals
    status: str | None = None  # only sessions with this status
    tags: tuple[str, ...] = ()  # only evals, or sessions, with each of these tags
    compare: str | None = None  # how replies to sessions are compared; None: the usual way
    threshold: float | None = None  # least similarity of a pass; None: the usual one
    judge: str | None = None  # model that is asked for its opinion of replies to sessions
    rubric: str | None = None  # file that the judge decides by; None: the usual rubric
    run_id: str | None = None  # of the one run that is meant; None: one is made up
    day: str | None = None  # of planning, YYYY-MM-DD; None: today
    shard: Shard | None = None
    only: Stage | None = None  # None: replies are asked for and graded
    budget: float | None = None  # dollars, of all shards together
    batch_wait: float | None = None  # minutes for which batches are followed; None: to their end
    concurrency: int | None = None
    timeout: float | None = None  # seconds of silence after which a request is given up; None: the usual ones
    workers: int | None = None
    sandbox: str | None = None
    unsafe_no_sandbox: bool = False
    dry_run: bool = False
    fresh: bool = False
    retry_unscored: bool = False
    fail_on_failure: bool = False
    commit: bool = False
    push: bool = False
    runs_dir: Path | None = None
    form: str = DEFAULT

    def arguments(self, *command: str) -> list[str]:
        """What follows the program's name; an option with its default value is left out.

        `command` are the words of another command that has these options.
        """
        words = [] if self.suite is None else ["-C", str(self.suite)]
        words += command or ["run"]
        plain = RunOptions()
        for name, flag in _FLAGS.items():
            value = getattr(self, name)
            if value != getattr(plain, name):
                words += _words(flag, value)
        return words

    def command(self, *command: str) -> str:
        """The command line, quoted for a shell; of `cli run`, or of another `command`."""
        return shlex.join(["cli", *self.arguments(*command)])

    def with_environment(self, environment: Mapping[str, str]) -> RunOptions:
        """With the variables that stand for options that are not given. Raises `UserError`."""
        from convex_evals.suite.id_filter import id_filter

        patterns = self.patterns
        if not patterns and (pattern := environment.get("TEST_FILTER")):
            id_filter([pattern], "TEST_FILTER")
            patterns = (pattern,)
        guidelines = self.guidelines
        if guidelines is None:
            guidelines = environment.get("CUSTOM_GUIDELINES_PATH") or None
        return replace(
            self,
            models=self.models or _split(environment.get("MODELS", "")),
            experiments=self.experiments or _split(environment.get("EVALS_EXPERIMENT", "")),
            patterns=patterns,
            guidelines=guidelines,
        )

    def for_runs(self, run_ids: Sequence[str]) -> RunOptions:
        """The same for existing runs: without what their plans say."""
        plain = RunOptions()
        settled = (
            "due",
            "models",
            "experiments",
            "guidelines",
            "trials",
            "categories",
            "patterns",
            "status",
            "tags",
            "compare",
            "threshold",
            "judge",
            "rubric",
            "run_id",
            "day",
            "fresh",
        )
        return replace(self, runs=tuple(run_ids), **{name: getattr(plain, name) for name in settled})

    def after_interruption(self, run_ids: Sequence[str]) -> RunOptions | None:
        """What resumes the runs that these options created; None: the same options do."""
        if not run_ids or not self.fresh or self.runs or self.run_id:
            return None
        return self.for_runs(run_ids)

    def choosing(self, evals: Collection[str], suite_evals: Collection[str]) -> RunOptions:
        """The same for these evals and no others of the suite."""
        from convex_evals.suite.id_filter import pattern_of

        chosen, categories = set(evals), sorted({e.partition("/")[0] for e in evals})
        plain = replace(self, categories=(), patterns=(), tags=())
        if chosen == set(suite_evals):
            return plain
        if chosen == {e for e in suite_evals if e.partition("/")[0] in categories}:
            return replace(plain, categories=tuple(categories))
        pattern = pattern_of(list(evals))
        # One id needs no group.
        return replace(plain, patterns=(f"^{pattern[2:-2]}$" if len(chosen) == 1 else pattern,))

    @property
    def chooses_nothing(self) -> bool:
        """Whether nothing is chosen that a plan would record."""
        return self.for_runs(self.runs) == replace(self, fresh=False)

    @property
    def own_budget(self) -> float | None:
        """Dollars of this process: each of N shards has an N-th."""
        return self.budget if self.budget is None or self.shard is None else self.budget / self.shard.of


def resume(plan: RunPlan) -> RunOptions:
    """What completes exactly this run."""
    # A plan does not say where the replies are that it replays.
    recorded = ("replay:PATH",) if plan.model.startswith("replay/") else ()
    return RunOptions(runs=(plan.run_id,), models=recorded, sessions=plan.comparison is not None)


def repeat(plan: RunPlan, suite_evals: Sequence[str], experiments: Mapping[str, Experiment]) -> RunOptions:
    """What means the same work as `plan`, as far as the plan tells."""
    usual = experiments.get(plan.experiment)
    other = plan.guidelines if plan.guidelines and usual and plan.guidelines != usual.guidelines else None
    options = RunOptions(
        models=(_model_word(plan),), experiments=named_experiment(plan.experiment), guidelines=other, trials=plan.trials
    )
    if plan.comparison:
        return _repeat_sessions(options, plan, plan.comparison)
    return options.choosing(tuple(plan.evals), suite_evals)


def _repeat_sessions(options: RunOptions, plan: RunPlan, rules: ComparisonRules) -> RunOptions:
    from convex_evals.suite.id_filter import pattern_of

    return replace(
        options,
        sessions=True,
        experiments=(plan.experiment,),
        patterns=(pattern_of(list(plan.evals)),),
        compare=rules.method.value,
        threshold=rules.threshold if rules.method.value == "similarity" else None,
        judge=rules.judge,
        rubric=rules.rubric,
    )


def named_experiment(name: str) -> tuple[str, ...]:
    """`RunOptions.experiments` for one experiment."""
    return () if name == DEFAULT_EXPERIMENT else (name,)


def _model_word(plan: RunPlan) -> str:
    """What `-m` takes: stand-ins go by the first part of their slug; a plan does not say what it replays."""
    provider = plan.model.partition("/")[0]
    if provider == "replay":
        return "replay:PATH"
    return provider if plan.synthetic else plan.model


def _words(flag: str, value: Any) -> list[str]:
    if value is True:
        return [flag]
    values = value if isinstance(value, tuple) else (value,)
    return [word for one in values for word in (flag, _word(one))]


def _word(value: Any) -> str:
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _split(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
