"""A comparison for machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from convex_evals.analysis.compare.comparison import Comparison
from convex_evals.analysis.compare.sides import Side
from convex_evals.stats import Flip, Paired

_MEANS = ("cost_usd", "input_tokens", "output_tokens", "duration_ms")


def paired_to_data(found: Paired) -> dict[str, Any]:
    return {**asdict(found), "verdict": found.verdict.value, "words": found.verdict.words}


def to_data(found: Comparison) -> dict[str, Any]:
    """Full precision. Rates and differences are shares of 1, a difference is B less A."""
    return {
        "a": _side(found.a, found.a_unscored),
        "b": _side(found.b, found.b_unscored),
        "paired": paired_to_data(found.paired),
        "categories": {name: paired_to_data(part) for name, part in found.categories.items()},
        "flips": [_flip(flip) for flip in found.flips],
        "equal": {f.name: f.a for f in found.equal},
        "differing": {f.name: {"a": f.a, "b": f.b} for f in found.differing},
        "unknown": [f.name for f in found.facts if f.equal is None],
        "per_reply": {name: _means(found, name) for name in _MEANS},
        "cost_estimated": found.a_means.cost_estimated or found.b_means.cost_estimated,
        "left_out": [asdict(one) for one in found.left_out],
        "notes": list(found.notes),
    }


def _side(side: Side, unscored: Any) -> dict[str, Any]:
    runs = [
        {
            "run_id": run.plan.run_id,
            "model": run.plan.model,
            "experiment": run.plan.experiment,
            "date": run.plan.date,
            "guidelines": run.plan.guidelines,
            "guidelines_sha256": run.plan.guidelines_sha256,
            "synthetic": run.plan.synthetic,
        }
        for run in side.runs
    ]
    return {"label": side.label, "runs": runs, "unscored": dict(unscored)}


def _flip(flip: Flip) -> dict[str, Any]:
    return {
        "eval": flip.pair.eval,
        **flip.pair.trials,
        "a_days": len(flip.pair.a_days),
        "b_days": len(flip.pair.b_days),
        "difference": flip.difference,
        "p": flip.p,
        "corrected": flip.corrected,
        "surety": flip.surety.value,
    }


def _means(found: Comparison, name: str) -> dict[str, float | None]:
    a, b = getattr(found.a_means, name), getattr(found.b_means, name)
    return {"a": a, "b": b, "difference": None if a is None or b is None else b - a}
