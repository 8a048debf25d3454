"""A sign of life: one tiny request to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convex_evals.models.faults import ProviderFault
from convex_evals.models.interfaces import send
from convex_evals.models.price import tariff_of
from convex_evals.models.provider import Call
from convex_evals.records.models import ModelEntry
from convex_evals.suite.suite import Eval

_TOKENS = 64  # enough for a word after some reasoning, where reasoning cannot be switched off


@dataclass(frozen=True)
class SignOfLife:
    model: str
    fault: str | None  # a word of the table of faults
    message: str | None
    first_token_ms: int | None
    duration_ms: int | None
    priced: bool

    def line(self) -> str:
        if self.fault:
            return f"{self.model}: {self.fault}: {self.message}"
        price = "price known" if self.priced else "price not known: --budget needs `price` in models.yaml"
        return f"{self.model}: answers, first text after {self.first_token_ms} ms; {price}"


async def check_model(entry: ModelEntry) -> SignOfLife:
    """Ask for a word. A reply that is cut off is a sign of life too."""
    priced = tariff_of(entry).price is not None
    call = Call([{"role": "user", "content": "Reply with the word: ready"}], _TOKENS, False, {})
    try:
        reply = await send(entry, call, lambda _: None)
    except ProviderFault as fault:
        return SignOfLife(entry.slug, fault.fault.word, str(fault), None, None, priced)
    return SignOfLife(entry.slug, None, None, reply.first_token_ms, reply.duration_ms, priced)


def smoke_evals(evals: Sequence[Eval]) -> list[str]:
    """The ids of two evals that tell whether a model works: the first of two categories, or the first two."""
    firsts = list({e.category: e for e in reversed(evals)}.values())[::-1]
    return [e.id for e in (firsts if len(firsts) > 1 else evals)[:2]]
