"""What a change of guidelines did to the models that ran before and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from convex_evals.compare import Comparison, Side, compare
from convex_evals.revisions import Version
from convex_evals.stats import EvalPair, Paired, Verdict, family
from convex_evals.store.runs import Run, RunStore

# What people look for first.
ORDER = [Verdict.REGRESSED, Verdict.IMPROVED, Verdict.NO_DIFFERENCE, Verdict.UNDERPOWERED, Verdict.TOO_FEW]


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
        pairs = self.by_model.values()
        return EvalPair(
            self.eval,
            sum(p.a_passed for p in pairs),
            sum(p.a_scored for p in pairs),
            sum(p.b_passed for p in pairs),
            sum(p.b_scored for p in pairs),
        )


@dataclass(frozen=True)
class Lack:
    """A model without a run with one side's guidelines, and its newest run with those of the other side."""

    version: Version
    model: str
    other: Run | None


@dataclass(frozen=True)
class Effect:
    models: tuple[ModelEffect, ...]  # regressed ones first
    lacks: tuple[Lack, ...]

    @property
    def regressed(self) -> bool:
        return any(m.paired.verdict is Verdict.REGRESSED for m in self.models)

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
    if before.sha256 is None or after.sha256 is None or before.sha256 == after.sha256:
        return Effect((), ())
    found: dict[str, dict[str | None, list[Run]]] = {m: {} for m in models or ()}
    for run in store.given([before.sha256, after.sha256]):
        plan = run.plan
        if plan.experiment == experiment and (models is None or plan.model in found):
            found.setdefault(plan.model, {}).setdefault(plan.guidelines_sha256, []).append(run)
    compared: dict[str, Comparison] = {}
    lacks = []
    for model, by_version in sorted(found.items()):
        a, b = by_version.get(before.sha256, []), by_version.get(after.sha256, [])
        if a and b:
            compared[model] = compare(Side(before.label, tuple(a)), Side(after.label, tuple(b)))
        for version, own, others in ((before, a, b), (after, b, a)):
            if not own:
                lacks.append(Lack(version, model, others[0] if others else None))
    judged = family({model: one.paired for model, one in compared.items()})
    effects = [ModelEffect(model, one, judged[model]) for model, one in compared.items()]
    effects.sort(key=lambda m: (ORDER.index(m.paired.verdict), 1 if m.paired.p is None else m.paired.p, m.model))
    return Effect(tuple(effects), tuple(sorted(lacks, key=lambda lack: lack.version is after)))
