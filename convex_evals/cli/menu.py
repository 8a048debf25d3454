"""The menu of `cli run` without a model: what to run, chosen on a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from convex_evals.config import Workspace
from convex_evals.models.catalog import load_models
from convex_evals.models.reference import SLUG as REFERENCE_SLUG
from convex_evals.models.replay import DEMO_SLUG, open_demo
from convex_evals.runs.request import DEFAULT_EXPERIMENT, Order
from convex_evals.store.runs import Run, RunStore
from convex_evals.suite.suite import load_suite, pattern_of
from convex_evals.text import one_line, printable

_DEMO = DEMO_SLUG.partition("/")[0]
_REFERENCE = REFERENCE_SLUG.partition("/")[0]
_STAND_INS = {_DEMO: "recorded replies to some evals, good and bad: no key, no cost", _REFERENCE: "the suite's answers"}
_NOTHING_SAID = Order(models=())
_HOW = "(space chooses, enter goes on)"
_HOW_ALL = "(space chooses, enter goes on; none chosen: all)"


@dataclass(frozen=True)
class Choice:
    """What was chosen; `fresh` where replies that are there already are no answer to it."""

    order: Order
    fresh: bool = False


def choose(order: Order, workspace: Workspace, given: Sequence[str]) -> Choice:
    """Ask for what `order` leaves open; `given` are the words that it was made of, after the program's name.

    Raises `KeyboardInterrupt` where the user wants nothing after all.
    """
    try:
        again = _failures(workspace) if order == _NOTHING_SAID else None
        chosen = again if again and _wants(again) else Choice(_ask(order, workspace))
        command = shlex.join(["cli", *given, *_added(order, chosen)])
        if not _answer("confirm", f"{_shown(command)}\n  Run this?", default=True):
            raise KeyboardInterrupt
    except EOFError:
        raise KeyboardInterrupt from None
    return chosen


def _added(before: Order, chosen: Choice) -> list[str]:
    """What the command line has to say besides."""
    after = chosen.order
    words = _options("-m", after.models)
    words += [] if after.categories == before.categories else _options("-c", after.categories)
    words += ["-f", after.pattern] if after.pattern and after.pattern != before.pattern else []
    words += [] if tuple(after.experiments) == tuple(before.experiments) else _options("-e", after.experiments)
    words += ["--trials", str(after.trials)] if after.trials != before.trials else []
    words += ["--guidelines", after.guidelines] if after.guidelines != before.guidelines and after.guidelines else []
    return [*words, "--fresh"] if chosen.fresh else words


def _ask(order: Order, workspace: Workspace) -> Order:
    import questionary

    entries = load_models(workspace.home)
    evals = load_suite(workspace.suite).select(order.pattern, order.categories)
    titles = {e.slug: f"{e.name or e.slug}  ({e.slug})" for e in entries}
    titles |= {name: f"{name}  ({what})" for name, what in _STAND_INS.items()}
    if not any(map(open_demo().has, evals)):
        del titles[_DEMO]
    models: list[str] = _answer(
        "checkbox",
        "Models:",
        choices=[questionary.Choice(_shown(title), value) for value, title in titles.items()],
        instruction=_HOW,
        validate=lambda picked: bool(picked) or "choose at least one",
    )
    if models == [_DEMO]:
        evals = [e for e in evals if open_demo().has(e)]
    order = replace(order, models=models)
    if not order.categories:
        order = replace(order, categories=_some("Categories:", sorted({e.category for e in evals})))
        evals = [e for e in evals if not order.categories or e.category in order.categories]
    if not order.pattern:
        order = replace(order, pattern=_pattern(_some("Evals:", [e.id for e in evals])))
    if tuple(order.experiments) == (DEFAULT_EXPERIMENT,) and not _STAND_INS.keys() >= set(models):
        experiments: list[str] = _answer(
            "checkbox",
            "Experiments:",
            choices=[
                questionary.Choice(_shown(name), name, checked=name == DEFAULT_EXPERIMENT)
                for name in workspace.config.experiments
            ],
            instruction=_HOW,
            validate=lambda picked: bool(picked) or "choose at least one",
        )
        order = replace(order, experiments=experiments)
    return order


def _some(message: str, values: Sequence[str]) -> list[str]:
    """None chosen is all."""
    import questionary

    choices = [questionary.Choice(_shown(value), value) for value in values]
    picked: list[str] = _answer("checkbox", message, choices=choices, instruction=_HOW_ALL)
    return [] if len(picked) == len(values) else picked


def _pattern(ids: Sequence[str]) -> str | None:
    return pattern_of(ids) if ids else None


def _wants(again: Choice) -> bool:
    import questionary

    order = again.order
    what = f"the failures of the last run again, with new replies  ({order.models[0]}, {order.experiments[0]})"
    choices = [questionary.Choice("choose models and evals", False), questionary.Choice(_shown(what), True)]
    return bool(_answer("select", "What to run:", choices=choices))


def _answer(kind: str, message: str, **options: Any) -> Any:
    import questionary

    return getattr(questionary, kind)(message, **options).unsafe_ask()


def _shown(text: str) -> str:
    return printable(one_line(text))


def _failures(workspace: Workspace) -> Choice | None:
    """The order that asks again what the last run failed; None where nothing failed, or nobody can be asked again."""
    run = next(RunStore(workspace.runs_dir).all(), None)
    summary = run.summary() if run else None
    if run is None or summary is None:
        return None
    failed = [e for e, found in summary.evals.items() if found.counts.failed]
    askable = {DEMO_SLUG, REFERENCE_SLUG, *(e.slug for e in load_models(workspace.home))}
    experiment = workspace.config.experiments.get(run.plan.experiment)
    here = [e for e in load_suite(workspace.suite).evals if e.id in failed]
    if not here or run.plan.model not in askable or experiment is None:
        return None
    return Choice(_again(run, [e.id for e in here], experiment.guidelines), fresh=True)


def _again(run: Run, ids: Sequence[str], guidelines: str | None) -> Order:
    plan = run.plan
    return Order(
        models=[plan.model],
        experiments=[plan.experiment],
        pattern=pattern_of(ids),
        trials=plan.trials,
        guidelines=None if plan.synthetic or plan.guidelines == guidelines else plan.guidelines,
    )


def _options(name: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (name, value)]
