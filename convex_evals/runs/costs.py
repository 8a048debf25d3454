"""What a run has cost so far, whether it is written or still in the journal."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from convex_evals.models.price import Tariff
from convex_evals.records import Generation
from convex_evals.store.journal import Journal
from convex_evals.store.runs import Run
from convex_evals.suite.prompt import Prompt


def spent_on(run: Run, journal: Journal, only: Collection[str], prompts: Mapping[str, Prompt], tariff: Tariff) -> float:
    """Dollars for the evals `only`: what this run paid, not what it took from others.

    A request whose reply has no end counts with its worst price.
    """
    return sum(
        _written(run, e) if run.has_generation(e) else _journalled(run, journal, e, prompts[e].text, tariff)
        for e in only
    )


def _written(run: Run, eval_id: str) -> float:
    return sum(_paid(generation) for generation in run.generation(eval_id).trials)


def _journalled(run: Run, journal: Journal, eval_id: str, prompt: str, tariff: Tariff) -> float:
    key = run.plan.evals[eval_id].generation_key
    total = 0.0
    for trial in range(1, run.plan.trials + 1):
        entry = journal.read(eval_id, trial)
        if entry is not None and entry.generation_key == key:
            total += _paid(entry.generation)
        left = journal.reply_log(eval_id, trial, key).read()
        total += sum(a.cost_usd for a in left.attempts)
        if left.unfinished is not None:
            total += tariff.worst(prompt, left.unfinished)
    return total


def _paid(generation: Generation) -> float:
    return generation.cost_usd if generation.reused_from is None else 0.0
