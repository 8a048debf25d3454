"""The menu of `cli run` without a model: what to run, chosen on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from convex_evals.cli.questions import GoBack, ask, checkbox, select
from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.models.catalog import load_catalog
from convex_evals.models.keys import key_of
from convex_evals.models.reference import SLUG as REFERENCE_SLUG
from convex_evals.models.replay import DEMO_SLUG, open_demo
from convex_evals.render.numbers import dollars
from convex_evals.runs.costs import Estimate
from convex_evals.runs.options import DEFAULT_EXPERIMENT, RunOptions, named_experiment
from convex_evals.store.runs import RunStore
from convex_evals.suite.id_filter import pattern_of
from convex_evals.suite.suite import Eval, load_suite
from convex_evals.text import counted

_MOST_TRIALS = 100
_DEMO = DEMO_SLUG.partition("/")[0]
_REFERENCE = REFERENCE_SLUG.partition("/")[0]
_STAND_INS = {
    _DEMO: "recorded replies to some evals, good and bad: no key, no cost",
    _REFERENCE: "the suite's own answers",
}
_HOW = "space to select, enter to continue"
_HOW_ALL = f"{_HOW}; none selected: all"
Step = tuple[Callable[[RunOptions], bool], Callable[[RunOptions], RunOptions]]  # whether it is asked, and how


@dataclass(frozen=True)
class Preview:
    """What a command would ask of models."""

    trials: int
    price: Estimate


def choose(options: RunOptions, workspace: Workspace, preview: Callable[[RunOptions], Preview]) -> RunOptions:
    """Ask for what `options` leave open. Raises `KeyboardInterrupt` if the user declines."""
    try:
        return _walk(_Menu(options, workspace, preview).steps(), options)
    except EOFError:
        raise KeyboardInterrupt from None


def _walk(steps: Sequence[Step], options: RunOptions) -> RunOptions:
    """What one question after the other makes of `options`; each can go back to the one before it."""
    answered: list[tuple[int, RunOptions]] = []
    at = 0
    while at < len(steps):
        is_asked, ask_for = steps[at]
        try:
            after = ask_for(options) if is_asked(options) else options
        except GoBack:
            at, options = answered.pop() if answered else (at, options)
            continue
        if is_asked(options):
            answered.append((at, options))
        at, options = at + 1, after
    return options


@dataclass
class _Menu:
    """The questions, and what was on the command line before them."""

    typed: RunOptions
    workspace: Workspace
    preview: Callable[[RunOptions], Preview]

    def __post_init__(self) -> None:
        self.again = _failures(self.typed, self.workspace) if self.typed.chooses_nothing else None

    def steps(self) -> list[Step]:
        typed = self.typed

        def choosing(options: RunOptions) -> bool:
            return options is not self.again

        return [
            (lambda _: self.again is not None, self._what),
            (choosing, self._models),
            (lambda o: choosing(o) and not typed.categories, self._categories),
            (lambda o: choosing(o) and not typed.patterns, self._evals),
            (lambda o: choosing(o) and not typed.experiments and not _is_synthetic(o), self._experiments),
            (lambda _: True, self._review),
        ]

    def _what(self, options: RunOptions) -> RunOptions:
        assert self.again is not None
        asked = f"{self.again.models[0]}, {next(iter(self.again.experiments), DEFAULT_EXPERIMENT)}"
        what = f"rerun the failures of the last run, with new replies  ({asked})"
        return self.again if select("What to run:", {"choose models and evals": False, what: True}) else options

    def _models(self, options: RunOptions) -> RunOptions:
        return replace(options, models=tuple(_models(self._chosen(options), self.workspace, first=self.again is None)))

    def _categories(self, options: RunOptions) -> RunOptions:
        categories = sorted({e.category for e in self._chosen(options)})
        return replace(options, categories=tuple(_some("Categories:", categories)))

    def _evals(self, options: RunOptions) -> RunOptions:
        ids = _some("Evals:", [e.id for e in self._chosen(options)])
        return replace(options, patterns=(pattern_of(ids),) if ids else ())

    def _experiments(self, options: RunOptions) -> RunOptions:
        names = list(self.workspace.config.experiments)
        picked = checkbox("Experiments:", names, how=_HOW, checked=[DEFAULT_EXPERIMENT], required=True)
        return replace(options, experiments=named_experiment(picked[0]) if len(picked) == 1 else tuple(picked))

    def _chosen(self, options: RunOptions) -> list[Eval]:
        evals = load_suite(self.workspace.suite).select(options.patterns, options.categories, options.tags)
        return [e for e in evals if open_demo().has(e)] if options.models == (_DEMO,) else evals

    def _review(self, options: RunOptions) -> RunOptions:
        """What will be done and what it may cost, until it is to be done."""
        while True:
            found = self.preview(options)
            budget = "none" if options.budget is None else dollars(options.budget)
            choices: dict[str, str] = {"run": "run", f"change the trials per eval  ({options.trials})": "trials"}
            if not _is_synthetic(options):
                choices[f"change the budget  ({budget})"] = "budget"
            chosen = select(
                f"{options.command()}\n  {_cost(found, options)}\n  Run this?", choices | {"go back": "back"}
            )
            if chosen == "run":
                return options
            if chosen == "back":
                raise GoBack
            with suppress(GoBack):
                options = self._trials(options) if chosen == "trials" else self._budget(options)

    def _trials(self, options: RunOptions) -> RunOptions:
        def problem(text: str) -> str | None:
            return None if text.isdecimal() and 1 <= int(text) <= _MOST_TRIALS else f"a number from 1 to {_MOST_TRIALS}"

        return replace(options, trials=int(ask("Trials per eval:", str(options.trials), problem)))

    def _budget(self, options: RunOptions) -> RunOptions:
        def problem(text: str) -> str | None:
            try:
                self.preview(replace(options, budget=_amount(text)))
            except UserError as error:
                return str(error)
            except ValueError:
                return "dollars, such as 20 or 2.50; nothing for no limit"
            return None

        now = "" if options.budget is None else f"{options.budget:g}"
        return replace(options, budget=_amount(ask("Hard limit on spending, in dollars:", now, problem)))


def _amount(text: str) -> float | None:
    """Raises `ValueError`."""
    amount = float(text.strip().removeprefix("$") or "nan")
    if text.strip() and not 0 <= amount < float("inf"):
        raise ValueError
    return amount if text.strip() else None


def _is_synthetic(options: RunOptions) -> bool:
    return _STAND_INS.keys() >= set(options.models)


def _cost(found: Preview, options: RunOptions) -> str:
    """`12 trials, usually $0.36, at most $17.64; no budget`"""
    trials = counted(found.trials, "trial")
    if not found.price.calls:
        return f"{trials}; no model is asked, so it costs nothing"
    budget = "no budget" if options.budget is None else f"budget {dollars(options.budget)}"
    return f"{trials}, {found.price.words.partition(', ')[2]}; {budget}"


def _models(evals: Sequence[Eval], workspace: Workspace, *, first: bool) -> list[str]:
    entries = load_catalog(workspace.home).entries
    askable = [e for e in entries if key_of(e).is_set]
    titles = {e.slug: f"{e.name or e.slug}  ({e.slug})" for e in askable}
    titles |= {name: f"{name}  ({what})" for name, what in _STAND_INS.items()}
    if not any(map(open_demo().has, evals)):
        del titles[_DEMO]
    hidden = len(entries) - len(askable)
    note = f"({hidden} more with keys: cli models list)" if hidden else None
    return checkbox("Models:", titles, how=_HOW, required=True, note=note, first=first)


def _some(message: str, values: Sequence[str]) -> list[str]:
    """None chosen is all."""
    picked = checkbox(message, values, how=_HOW_ALL)
    return [] if len(picked) == len(values) else picked


def _failures(options: RunOptions, workspace: Workspace) -> RunOptions | None:
    """`options` to rerun what the last run failed; None if nothing failed, or the model is no longer known here."""
    run = next(RunStore(workspace.runs_dir).all(), None)
    summary = run.summary() if run else None
    if run is None or summary is None:
        return None
    failed = [e for e, found in summary.evals.items() if found.counts.failed]
    askable = {DEMO_SLUG, REFERENCE_SLUG, *(e.slug for e in load_catalog(workspace.home).entries)}
    experiment = workspace.config.experiments.get(run.plan.experiment)
    here = [e.id for e in load_suite(workspace.suite).evals if e.id in failed]
    if not here or run.plan.model not in askable or experiment is None:
        return None
    plan = run.plan
    return replace(
        options,
        models=(plan.model,),
        experiments=named_experiment(plan.experiment),
        patterns=(pattern_of(here),),
        trials=plan.trials,
        guidelines=None if plan.synthetic or plan.guidelines == experiment.guidelines else plan.guidelines,
        fresh=True,  # existing replies would only fail again
    )
