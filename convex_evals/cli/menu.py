"""The menu of `cli run` without a model: what to run, chosen on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from convex_evals.config import Workspace
from convex_evals.models.catalog import load_catalog
from convex_evals.models.keys import key_of
from convex_evals.models.reference import SLUG as REFERENCE_SLUG
from convex_evals.models.replay import DEMO_SLUG, open_demo
from convex_evals.runs.options import DEFAULT_EXPERIMENT, RunOptions, named_experiment
from convex_evals.store.runs import RunStore
from convex_evals.suite.suite import Eval, load_suite, pattern_of
from convex_evals.text import one_line, printable

if TYPE_CHECKING:
    import questionary

_DEMO = DEMO_SLUG.partition("/")[0]
_REFERENCE = REFERENCE_SLUG.partition("/")[0]
_STAND_INS = {
    _DEMO: "recorded replies to some evals, good and bad: no key, no cost",
    _REFERENCE: "the suite's own answers",
}
_HOW = "(space to select, enter to continue)"
_HOW_ALL = "(space to select, enter to continue; none selected: all)"


def choose(options: RunOptions, workspace: Workspace) -> RunOptions:
    """Ask for what `options` leave open. Raises `KeyboardInterrupt` if the user declines."""
    try:
        again = _failures(options, workspace) if options.chooses_nothing else None
        chosen = again if again and _wants(again) else _ask(options, workspace)
        if not _answer("confirm", f"{_shown(chosen.command())}\n  Run this?", default=True):
            raise KeyboardInterrupt
    except EOFError:
        raise KeyboardInterrupt from None
    return chosen


def _ask(options: RunOptions, workspace: Workspace) -> RunOptions:
    evals = load_suite(workspace.suite).select(options.pattern, options.categories)
    options = replace(options, models=tuple(_models(evals, workspace)))
    if options.models == (_DEMO,):
        evals = [e for e in evals if open_demo().has(e)]
    if not options.categories:
        options = replace(options, categories=tuple(_some("Categories:", sorted({e.category for e in evals}))))
        evals = [e for e in evals if not options.categories or e.category in options.categories]
    if not options.pattern:
        options = replace(options, pattern=_pattern(_some("Evals:", [e.id for e in evals])))
    if not options.experiments and not _STAND_INS.keys() >= set(options.models):
        options = replace(options, experiments=_experiments(workspace))
    return options


def _models(evals: Sequence[Eval], workspace: Workspace) -> list[str]:
    import questionary

    entries = load_catalog(workspace.home).entries
    askable = [e for e in entries if key_of(e).is_set]
    titles = {e.slug: f"{e.name or e.slug}  ({e.slug})" for e in askable}
    titles |= {name: f"{name}  ({what})" for name, what in _STAND_INS.items()}
    if not any(map(open_demo().has, evals)):
        del titles[_DEMO]
    choices = [questionary.Choice(_shown(title), value) for value, title in titles.items()]
    if len(askable) < len(entries):
        choices.append(questionary.Separator(f"({len(entries) - len(askable)} more with keys: cli models list)"))
    return _picked("Models:", choices)


def _experiments(workspace: Workspace) -> tuple[str, ...]:
    import questionary

    names = workspace.config.experiments
    picked = _picked(
        "Experiments:", [questionary.Choice(_shown(name), name, checked=name == DEFAULT_EXPERIMENT) for name in names]
    )
    return named_experiment(picked[0]) if len(picked) == 1 else tuple(picked)


def _picked(message: str, choices: Sequence[questionary.Choice]) -> list[str]:
    found: list[str] = _answer(
        "checkbox",
        message,
        choices=choices,
        instruction=_HOW,
        validate=lambda picked: bool(picked) or "select at least one",
    )
    return found


def _some(message: str, values: Sequence[str]) -> list[str]:
    """None chosen is all."""
    import questionary

    choices = [questionary.Choice(_shown(value), value) for value in values]
    picked: list[str] = _answer("checkbox", message, choices=choices, instruction=_HOW_ALL)
    return [] if len(picked) == len(values) else picked


def _pattern(ids: Sequence[str]) -> str | None:
    return pattern_of(ids) if ids else None


def _wants(again: RunOptions) -> bool:
    import questionary

    asked = f"{again.models[0]}, {next(iter(again.experiments), DEFAULT_EXPERIMENT)}"
    what = f"rerun the failures of the last run, with new replies  ({asked})"
    choices = [questionary.Choice("choose models and evals", False), questionary.Choice(_shown(what), True)]
    return bool(_answer("select", "What to run:", choices=choices))


def _answer(kind: str, message: str, **options: Any) -> Any:
    import questionary

    return getattr(questionary, kind)(message, **options).unsafe_ask()


def _shown(text: str) -> str:
    return printable(one_line(text))


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
        pattern=pattern_of(here),
        trials=plan.trials,
        guidelines=None if plan.synthetic or plan.guidelines == experiment.guidelines else plan.guidelines,
        fresh=True,  # existing replies would only fail again
    )
