"""What a change of guidelines did to the models that ran before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from convex_evals.analysis.compare import Comparison, Side, compare
from convex_evals.guidelines.revisions import Version, differ
from convex_evals.stats import Conclusion, EvalPair, Paired, family, total
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.text import counted

# What people look for first.
ORDER = [
    Conclusion.REGRESSED,
    Conclusion.IMPROVED,
    Conclusion.NO_DIFFERENCE,
    Conclusion.UNDERPOWERED,
    Conclusion.TOO_FEW,
]


@dataclass(frozen=True)
class ModelEffect:
    """One model with runs on both sides."""

    model: str
    comparison: Comparison
    paired: Paired  # judged as one of all models that were compared


@dataclass(frozen=True)
class EvalEffect:
    """One eval, all models together: trials before and after."""

    eval: str
    by_model: Mapping[str, EvalPair]

    @property
    def total(self) -> EvalPair:
        return total(self.eval, self.by_model.values())


@dataclass(frozen=True)
class Lack:
    """A model without a run with one side's guidelines, or whose runs make no pair with those of the other side."""

    version: Version
    model: str
    other: Run | None  # what it is to be like: the newest run of the other side, or of both
    unpaired: bool = False  # both sides have runs


@dataclass(frozen=True)
class Effect:
    models: tuple[ModelEffect, ...]  # regressed ones first
    lacks: tuple[Lack, ...]

    @cached_property
    def evals(self) -> Mapping[str, EvalEffect]:
        """By eval that at least one model ran on both sides."""
        found: dict[str, dict[str, EvalPair]] = {}
        for model in self.models:
            for pair in model.comparison.pairs:
                found.setdefault(pair.eval, {})[model.model] = pair
        return {e: EvalEffect(e, pairs) for e, pairs in sorted(found.items())}


def measure(
    store: RunStore, before: Version, after: Version, experiment: str, models: Sequence[str] | None = None
) -> Effect:
    """Compare the runs of each model (of all that ran, or of `models`) with the guidelines of both sides."""
    if not differ(before, after):
        return Effect((), ())
    found: dict[str, dict[str | None, list[Run]]] = {m: {} for m in models or ()}
    for run in _runs(store, before, after, experiment):
        plan = run.plan
        if models is None or plan.model in found:
            found.setdefault(plan.model, {}).setdefault(plan.guidelines_sha256, []).append(run)
    compared: dict[str, Comparison] = {}
    lacks = []
    for model, by_version in sorted(found.items()):
        a, b = by_version.get(before.sha256, []), by_version.get(after.sha256, [])
        if a and b:
            compared[model] = one = _compared(before, a, after, b)
            if not one.pairs:
                # What was judged otherwise, or was another task, may be so on either side.
                newest = max(a[0], b[0], key=lambda run: run.plan.date)
                lacks += [Lack(version, model, newest, unpaired=True) for version in (before, after)]
        for version, own, others in ((before, a, b), (after, b, a)):
            if not own:
                lacks.append(Lack(version, model, others[0] if others else None))
    judged = family({model: one.paired for model, one in compared.items()})
    effects = [ModelEffect(model, one, judged[model]) for model, one in compared.items()]
    effects.sort(key=lambda m: (ORDER.index(m.paired.verdict), 1 if m.paired.p is None else m.paired.p, m.model))
    return Effect(tuple(effects), tuple(sorted(lacks, key=lambda lack: lack.version is after)))


def _runs(store: RunStore, before: Version, after: Version, experiment: str) -> Iterator[Run]:
    """Those of either side; of each, the newest first."""
    given = store.given([v.sha256 for v in (before, after) if v.sha256])
    yield from (run for run in given if run.plan.experiment == experiment)
    for bare in filter(None, (before.bare, after.bare)):
        # Stand-ins get no guidelines, whatever experiment they are under.
        under = store.under(bare)
        yield from (run for run in under if run.plan.guidelines_sha256 is None and not run.plan.synthetic)


def _compared(before: Version, a: Sequence[Run], after: Version, b: Sequence[Run]) -> Comparison:
    """The runs of each side that were asked alike. Which they are, and what else there is, is in the notes."""
    sides = [(before, *asked_alike(a)), (after, *asked_alike(b))]
    found = compare(*(Side(version.label, tuple(runs)) for version, runs, _ in sides))
    notes = [
        f"{counted(len(others), 'run')} with {version.label} {'were' if len(others) > 1 else 'was'} left out: "
        f"another prompt around the same guidelines, or other parameters, than {runs[0].plan.run_id}."
        for version, runs, others in sides
        if others
    ]
    return replace(found, notes=(*found.notes, *notes))


def asked_alike(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Of runs with the same guidelines: those that can be taken together, and those that were asked otherwise.

    `runs` are newest first. Prompt, model and parameters are recorded in one key: where the guidelines and an eval's
    task are the same, another key means another prompt around them, or other parameters. Of several groups the one
    that has most evals is taken, and of equals the one with the newest run.
    """
    groups: list[list[Run]] = []
    for run in runs:
        home = next((group for group in groups if all(_alike(run, other) for other in group)), None)
        if home is None:
            groups.append([run])
        else:
            home.append(run)
    kept = max(groups, key=lambda group: len({e for run in group for e in run.plan.evals}))
    return kept, [run for run in runs if run not in kept]


def _alike(one: Run, other: Run) -> bool:
    ours, theirs = one.plan.evals, other.plan.evals
    return all(
        plan.generation_key == theirs[e].generation_key
        for e, plan in ours.items()
        if e in theirs and plan.task_sha256 == theirs[e].task_sha256
    )
