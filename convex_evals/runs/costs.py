"""What runs will cost, and what a run has cost so far, whether it is written or still in the journal."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from convex_evals.config import Workspace
from convex_evals.models.attempts import longer
from convex_evals.models.budget import Budget
from convex_evals.models.price import Tariff
from convex_evals.models.retries import ModelSolver
from convex_evals.models.tokens import usual_tokens
from convex_evals.records import Generation, Usage
from convex_evals.render.numbers import dollars
from convex_evals.runs.plan import RunRequest, keys_of
from convex_evals.store.batches import BatchFolder
from convex_evals.store.journal import Journal
from convex_evals.store.reuse import EarlierRuns
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.suite.prompt import Prompt
from convex_evals.text import plural

_USUAL_REPLY = 2_500  # tokens: a project of this suite, with some reasoning
_USUAL_OPINION = 300


@dataclass(frozen=True)
class Estimate:
    """What requests will take, without those that are sent again after a fault."""

    calls: int
    input_tokens: int
    usual_usd: float | None  # None: the price is not known
    most_usd: float | None

    @property
    def words(self) -> str:
        calls = f"{self.calls:,} {plural(self.calls, 'call')}"
        if self.usual_usd is None or self.most_usd is None:
            return f"{calls}, no price known"
        return f"{calls}, usually {dollars(self.usual_usd)}, at most {dollars(self.most_usd)}"

    def scaled(self, share: float) -> Estimate:
        """Of `share` times as many calls of the same kind."""
        usual, most = (None if usd is None else usd * share for usd in (self.usual_usd, self.most_usd))
        return Estimate(round(self.calls * share), round(self.input_tokens * share), usual, most)

    def to_data(self) -> dict[str, Any]:
        return asdict(self)


def estimate(request: RunRequest, left: Mapping[str, int] | None = None) -> Estimate:
    """What a request takes: all of its trials, even those that earlier runs have, or as many per eval as are `left`.

    At most, each reply is cut at its limit, and asked for once more with all that the model can write.
    """
    solver = request.solver
    trials = dict.fromkeys(request.prompts, request.trials) if left is None else left
    texts = [request.prompts[eval_id].text for eval_id, count in trials.items() for _ in range(count)]
    tokens = [usual_tokens(text) for text in texts]
    if solver.synthetic:
        nothing = Estimate(0, 0, 0.0, 0.0)
        return _of_opinions(request.judge.solver, tokens, _USUAL_REPLY, _USUAL_REPLY) if request.judge else nothing
    if not isinstance(solver, ModelSolver):
        return Estimate(len(texts), sum(tokens), 0.0, 0.0)
    tariff, limit = solver.tariff, solver.entry.parameters.max_output_tokens
    if tariff.price is None:
        return Estimate(len(texts), sum(tokens), None, None)
    limits = sorted({limit, solver.most_output_tokens})
    usual_reply = min(_USUAL_REPLY, limits[-1])
    usual = sum(tariff.cost(Usage(input_tokens=n, output_tokens=usual_reply)) for n in tokens)
    most = sum(tariff.worst(text, limit) for text in texts for limit in limits)
    own = Estimate(len(texts), sum(tokens), round(usual, 4), round(most, 4))
    if request.judge is None:
        return own
    return total([own, _of_opinions(request.judge.solver, tokens, usual_reply, limits[-1])])


def left_to_ask(request: RunRequest, store: RunStore, workspace: Workspace) -> dict[str, int]:
    """Count the trials of each eval that no run of the store and no journal has."""
    earlier = EarlierRuns(store, request.solver.model, workspace.journal_dir)
    trials = range(1, request.trials + 1)
    return {e: sum(not earlier.is_settled(e, n, key) for n in trials) for e, key in keys_of(request).items()}


def _of_opinions(judge: ModelSolver, tokens: Sequence[int], usual_reply: int, longest_reply: int) -> Estimate:
    """What a judge's opinions take: it is sent conversation, reply and expected reply, and says a sentence."""
    tariff, limit = judge.tariff, judge.entry.parameters.max_output_tokens
    sent = [n + 2 * usual_reply for n in tokens]
    if tariff.price is None:
        return Estimate(len(sent), sum(sent), None, None)
    usual = sum(tariff.cost(Usage(input_tokens=n, output_tokens=min(_USUAL_OPINION, limit))) for n in sent)
    most = sum(
        tariff.cost(Usage(input_tokens=2 * (n + 2 * longest_reply), output_tokens=each))
        for n in tokens
        for each in sorted({limit, judge.most_output_tokens})
    )
    return Estimate(len(sent), sum(sent), round(usual, 4), round(most, 4))


def total(estimates: Iterable[Estimate]) -> Estimate:
    """Of all together; without a price where that of one is not known."""
    found = list(estimates)
    usual, most = (_sum(e.usual_usd for e in found), _sum(e.most_usd for e in found))
    return Estimate(sum(e.calls for e in found), sum(e.input_tokens for e in found), usual, most)


def _sum(amounts: Iterable[float | None]) -> float | None:
    found = list(amounts)
    known = [a for a in found if a is not None]
    return round(sum(known), 4) if len(known) == len(found) else None


def shortage(budget: Budget, shards: int, again: str) -> str:
    """Say what had to be set aside for the requests that did not fit, and which --budget of all shards would do."""
    least, whole = (_option((budget.spent + amount) * shards) for amount in (min(budget.refused), sum(budget.refused)))
    enough = f"{least} for the next one, or {whole} for all" if least != whole else whole
    own = ", the budget of this shard" if shards > 1 else ""
    return (
        f"each may cost up to {dollars(max(budget.refused))}, and {dollars(budget.left)} are left of "
        f"{dollars(budget.limit or 0)}{own}; resume by {again}, with --budget {enough} (earlier spending counts)"
    )


def _option(amount: float) -> str:
    """Round up to what people type: to cents, or to a hundredth of them below one dollar."""
    digits = 2 if amount >= 1 else 4
    return f"{math.ceil(round(amount * 10**digits, 6)) / 10**digits:g}"


def spent_on(run: Run, journal: Journal, only: Collection[str], prompts: Mapping[str, Prompt], tariff: Tariff) -> float:
    """Dollars for the evals `only`: what this run paid, not what it took from others.

    A request whose reply has no end counts with its worst price, and so does one in a batch that goes on.
    """
    batches = BatchFolder(run)
    return sum(
        _written(run, e) if run.has_generation(e) else _journalled(run, journal, batches, e, prompts[e].text, tariff)
        for e in only
    )


def _written(run: Run, eval_id: str) -> float:
    paid = sum(_paid(generation) for generation in run.generation(eval_id).trials)
    judged = run.grade(eval_id).trials if run.plan.comparison and run.is_written(eval_id) else ()
    return paid + sum(grade.verdict.judge_cost_usd for grade in judged)


def _journalled(run: Run, journal: Journal, batches: BatchFolder, eval_id: str, prompt: str, tariff: Tariff) -> float:
    key = run.plan.evals[eval_id].generation_key
    total = 0.0
    for trial in range(1, run.plan.trials + 1):
        entry = journal.read(eval_id, trial)
        if entry is not None and entry.generation_key == key:
            total += _paid(entry.generation) + (entry.verdict.judge_cost_usd if entry.verdict else 0.0)
        left = journal.reply_log(eval_id, trial, key).read()
        earlier = entry.generation.attempts if entry is not None else ()
        if entry is not None and entry.generation.received:
            continue
        used = [a.batch for a in (*earlier, *left.attempts) if a.batch]
        ticket = batches.find(eval_id, trial, key, used)
        attempts = left.attempts if ticket is None else longer(ticket.request.attempts, left.attempts)
        total += sum(a.cost_usd for a in attempts)
        if ticket is not None:
            total += tariff.worst(prompt, ticket.request.max_output_tokens)
        elif left.unfinished is not None:
            total += tariff.worst(prompt, left.unfinished)
    return total


def _paid(generation: Generation) -> float:
    return generation.cost_usd if generation.reused_from is None else 0.0
