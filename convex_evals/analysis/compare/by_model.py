"""Two sides compared model by model: does what differs between them help each, and how sure is that?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.analysis.compare.comparison import Comparison, compare
from convex_evals.analysis.compare.sides import Side
from convex_evals.analysis.compare.silent import Silence, silences, silent_line
from convex_evals.analysis.compare.tables import models_table
from convex_evals.analysis.compare.to_data import paired_to_data
from convex_evals.analysis.compare.words import advice
from convex_evals.errors import UserError
from convex_evals.render.model import Section
from convex_evals.stats import Conclusion, Paired, family
from convex_evals.text import counted


@dataclass(frozen=True)
class ByModel:
    """The models that both sides have, in alphabetical order. Verdicts are corrected for their number."""

    a: Side
    b: Side
    models: dict[str, Comparison]
    judged: dict[str, Paired]  # by model
    silent: dict[str, Silence]  # models without a scored trial on a side, which get no row
    alone: tuple[str, ...]  # models of one side

    @property
    def shown(self) -> dict[str, Paired]:
        return {model: one for model, one in self.judged.items() if model not in self.silent}

    @property
    def _silent_line(self) -> str | None:
        return silent_line(self.silent, "A", "B")

    @property
    def conclusion(self) -> str:
        """`improved: 3 of 5 models; no difference shown: 2`"""
        found = Counter(one.verdict for one in self.shown.values())
        named = [(verdict, found[verdict]) for verdict in Conclusion if found[verdict]]
        if not named:
            return self._silent_line or ""
        (first, n), *rest = named
        whole = f"{first.words}: {n} of {counted(len(self.shown), 'model')}"
        return "; ".join([whole, *(f"{verdict.words}: {n}" for verdict, n in rest)])

    def to_section(self) -> Section:
        notes = dict.fromkeys(note for side in (self.a, self.b) if (note := side.left_out))
        return Section.of(
            self.conclusion,
            f"A is {self.a.label}, B is {self.b.label}",
            models_table(self.shown) if self.shown else None,
            "(p and verdicts are corrected for the number of models)" if len(self.shown) > 1 else None,
            *self._advice(),
            self._silent_line if self.shown else None,
            *(f"note: {note}" for note in notes),
            f"On one side only: {', '.join(self.alone)}" if self.alone else None,
        )

    def _advice(self) -> Iterator[str]:
        for model, one in self.shown.items():
            if told := advice(one):
                yield f"{model}: {told}"

    def to_data(self) -> dict[str, Any]:
        """Full precision. Rates and differences are shares of 1, a difference is B less A."""
        return {
            "a": self.a.label,
            "b": self.b.label,
            "conclusion": self.conclusion,
            "models": [
                {"model": model, **paired_to_data(one), "runs": {"a": _runs(found.a), "b": _runs(found.b)}}
                for (model, one), found in zip(self.judged.items(), self.models.values(), strict=True)
            ],
            "alone": list(self.alone),
            "notes": [side.left_out for side in (self.a, self.b) if side.left_out],
        }


def compare_models(a: Side, b: Side) -> ByModel:
    """Compare what each model did on both sides. Raises `UserError` where no model is on both, or all runs are."""
    names = [{run.plan.model for run in side.runs} for side in (a, b)]
    both = sorted(names[0] & names[1])
    if not both:
        raise UserError(f"{a.label} and {b.label} have no model in common; leave out --by-model to compare them")
    models = {model: compare(_of_model(a, model), _of_model(b, model)) for model in both}
    judged = family({model: found.paired for model, found in models.items()})
    return ByModel(a, b, models, judged, silences(models), tuple(sorted(names[0] ^ names[1])))


def _of_model(side: Side, model: str) -> Side:
    return Side(f"{side.label} ({model})", tuple(run for run in side.runs if run.plan.model == model))


def _runs(side: Side) -> Sequence[str]:
    return [run.plan.run_id for run in side.runs]
