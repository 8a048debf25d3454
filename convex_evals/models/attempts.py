"""The attempts for one reply: sent, retried, settled and logged."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from convex_evals.models import Ask, LeftBehind, ReplyLog
from convex_evals.models.budget import Reservation
from convex_evals.models.charge import charge, estimated_usage
from convex_evals.models.faults import HOPELESS, Fault, Meaning, ModelStopped, NothingSent, ProviderFault
from convex_evals.models.hosts import is_elsewhere
from convex_evals.models.interfaces import send
from convex_evals.models.keys import key_of
from convex_evals.models.provider import Call
from convex_evals.records import Attempt, Usage
from convex_evals.records.batch import BatchedRequest
from convex_evals.records.reply import Reply, TrialReply
from convex_evals.store.batches import BatchFolder

if TYPE_CHECKING:
    from convex_evals.models.retries import ModelSolver

ATTEMPTS = 5  # for one reply in one command
_LONGEST_PAUSE = 60.0  # seconds
_FREE = frozenset(
    {
        *(Fault.RATE_LIMIT, Fault.AUTH, Fault.QUOTA, Fault.UNKNOWN_MODEL, Fault.REQUEST, Fault.CONTEXT),
        Fault.UNPROCESSED,
    }
)


@dataclass
class Attempts:
    """The attempts for one reply."""

    model: ModelSolver
    ask: Ask
    log: ReplyLog
    attempts: list[Attempt] = field(default_factory=list)
    cost: float = 0.0
    estimated: bool = False
    allowed: int = 0  # output tokens
    left: LeftBehind | None = None  # until it is taken up

    async def run(self) -> TrialReply:
        self.allowed = self.model.entry.parameters.max_output_tokens
        reply = self._resume()
        made = 0
        while True:
            if reply is not None:
                if not self._is_cut_short(reply):
                    return self._received(reply)
                self.allowed = self.model.most_output_tokens
                reply = None
            if self.model.stopped:
                raise self.model.stopped
            made += 1
            try:
                reply = await self._attempt()
            except ProviderFault as fault:
                await self._after(fault, last=made >= ATTEMPTS)
                if made >= ATTEMPTS or fault.fault in HOPELESS:
                    return self._failed(fault) if fault.fault.is_the_models else self._nothing(fault)

    def _is_cut_short(self, reply: Reply) -> bool:
        """At our own limit: the model gets another chance, with all that it can write."""
        return reply.finish_reason == "length" and self.allowed < self.model.most_output_tokens

    def _resume(self) -> Reply | None:
        logged = self.log.read()
        self.attempts = list(logged.attempts)
        self.cost = sum(a.cost_usd for a in self.attempts)
        left = self.ask.left
        if left is not None and left.ticket.file.token not in {a.batch for a in self.attempts}:
            self.left, request = left, left.ticket.request
            self.attempts = list(longer(request.attempts, logged.attempts))
            self.cost = sum(a.cost_usd for a in self.attempts)
            self.allowed = request.max_output_tokens
            return None
        if logged.reply is not None:
            self.allowed = self.attempts[-1].max_output_tokens or self.allowed
            self.estimated = logged.reply.cost_usd is None
        elif logged.unfinished is not None:
            self.allowed = logged.unfinished
            fault = ProviderFault(Fault.INTERRUPTED, "stopped while the reply streamed")
            self._over(self._faulty(fault, logged.text, 0), None)
        return logged.reply

    async def _attempt(self) -> Reply:
        if self.ask.batches is not None and (self.model.batched or self.left):
            return await self._batched_attempt(self.ask.batches)
        return await self._single_attempt()

    async def _batched_attempt(self, folder: BatchFolder) -> Reply:
        model, left, prompt = self.model, self.left, self.ask.prompt
        self.left = None
        worst = model.tariff.worst(prompt.text, self.allowed)
        holding = model.budget.taken_up(worst, is_counted=left.is_counted) if left else model.budget.reserve(worst)
        async with holding as reservation:
            call = Call(prompt.messages(), self.allowed, model.web_search, model.extra)
            try:
                if left:
                    found = await model.batcher.rejoin(left.folder, left.ticket, call)
                else:
                    found = await model.batcher.ask(folder, self._request(), call)
            except NothingSent:
                reservation.settle(0)
                raise
            except ProviderFault as fault:
                if _is_free(fault.fault):
                    reservation.settle(0)
                self.log.begin(self.allowed)
                attempt = Attempt(
                    fault=fault.fault.word, message=str(fault), max_output_tokens=self.allowed, batch=fault.batch
                )
                self._over(attempt, None)
                raise
            self.log.begin(self.allowed)
            self.log.text(found.reply.text)
            return self._settle(found.reply, reservation, _fault_of(found.reply), found.token)

    def _request(self) -> BatchedRequest:
        ask = self.ask
        return BatchedRequest(
            eval=ask.ev.id,
            trial=ask.trial,
            generation_key=ask.generation_key,
            max_output_tokens=self.allowed,
            attempts=tuple(self.attempts),
        )

    async def _single_attempt(self) -> Reply:
        model, prompt = self.model, self.ask.prompt
        text: list[str] = []
        worst = model.tariff.worst(prompt.text, self.allowed)
        async with model.limit.turn(model.halted), model.budget.reserve(worst) as reservation:
            if model.stopped:
                reservation.settle(0)
                raise model.stopped
            call = Call(prompt.messages(), self.allowed, model.web_search, model.extra, model.timeout)
            self.log.begin(self.allowed)
            started = asyncio.get_running_loop().time()
            try:
                with model.waits.answer_of(model.model) as heard:

                    def take(piece: str) -> None:
                        heard()
                        text.append(piece)
                        self.log.text(piece)

                    reply = await send(model.entry, call, take)
            except ProviderFault as fault:
                duration = round((asyncio.get_running_loop().time() - started) * 1000)
                self._over(self._faulty(fault, "".join(text), duration), None)
                if _is_free(fault.fault, "".join(text)):
                    reservation.settle(0)
                raise
            reply = self._settle(reply, reservation, _fault_of(reply))
        await model.limit.went_well()
        return reply

    def _settle(
        self, reply: Reply, reservation: Reservation, fault: ProviderFault | None, batch: str | None = None
    ) -> Reply:
        """The reply with figures that can be.

        Raises `fault`, once what the reply cost is noted: the provider charges for its tokens all the same.
        """
        if fault and reply.cost_usd is None and reply.usage == Usage():
            self._over(self._faulty(fault, reply.text, reply.duration_ms, batch), None)
            raise fault
        charged = charge(
            *(reply.text, reply.usage, reply.cost_usd),
            tariff=self.model.tariff,
            prompt=self.ask.prompt.text,
            max_output_tokens=self.allowed,
        )
        reply = replace(reply, usage=charged.usage, cost_usd=None if charged.estimated else charged.dollars)
        self.estimated = self.estimated or charged.estimated
        reservation.settle(charged.dollars)
        attempt = Attempt(
            fault=fault.fault.word if fault else None,
            message=str(fault) if fault else None,
            max_output_tokens=self.allowed,
            cost_usd=charged.dollars,
            duration_ms=reply.duration_ms,
            batch=batch,
        )
        if fault:
            self._over(attempt, None)
            raise fault
        self._over(attempt, reply)
        return reply

    def _over(self, attempt: Attempt, reply: Reply | None) -> None:
        self.attempts.append(attempt)
        self.cost += attempt.cost_usd
        self.log.end(attempt, reply)

    def _faulty(self, fault: ProviderFault, text: str, duration_ms: int, batch: str | None = None) -> Attempt:
        """What arrived before the fault was paid for, as far as we can tell."""
        cost = 0.0
        if text or fault.fault in (Fault.INTERRUPTED, Fault.TIMEOUT, Fault.CUT):
            used = estimated_usage(text, self.ask.prompt.text, self.allowed)
            cost = self.model.tariff.cost(used)
            self.estimated = True
        return Attempt(
            fault=fault.fault.word,
            message=str(fault),
            max_output_tokens=self.allowed,
            cost_usd=cost,
            duration_ms=duration_ms,
            batch=batch,
        )

    async def _after(self, fault: ProviderFault, *, last: bool) -> None:
        """What a fault means for the next request."""
        model = self.model
        if fault.fault.meaning is Meaning.STOP:
            stopped = ModelStopped(f"{model.model}: {str(fault).rstrip('.')}; {self._remedy(fault.fault)}")
            model.halt(stopped)
            raise stopped from None
        if fault.fault is Fault.RATE_LIMIT:
            await model.limit.too_many(fault.retry_after)
        if last or fault.fault in HOPELESS:
            return
        pause = min(_LONGEST_PAUSE, model.first_pause * 2 ** (len(self.attempts) - 1)) * random.uniform(0.5, 1.5)
        pause = max(pause, fault.retry_after or 0)
        with suppress(TimeoutError), model.waits.after(fault, model.model, pause):
            await asyncio.wait_for(model.halted.wait(), pause)

    def _remedy(self, fault: Fault) -> str:
        variable = key_of(self.model.entry).variable
        return f"{fault.remedy} in {variable}" if fault is Fault.AUTH and variable else fault.remedy

    def _received(self, reply: Reply) -> TrialReply:
        fault = None
        if reply.finish_reason == "length":
            fault = Fault.TRUNCATED
        elif reply.finish_reason == "refusal":
            fault = Fault.REFUSED
        elif not reply.text.strip():
            fault = Fault.EMPTY
        return self._as_received(reply, fault, fault.happened if fault else None)

    def _failed(self, fault: ProviderFault) -> TrialReply:
        """The record of a reply that was held back each time: without it, as the model's failure."""
        return self._as_received(replace(Reply.recorded(""), finish_reason=None), fault.fault, str(fault))

    def _as_received(self, reply: Reply, fault: Fault | None, reason: str | None) -> TrialReply:
        return TrialReply.received(
            reply,
            trial=self.ask.trial,
            generation_id=secrets.token_hex(8),
            attempts=self.attempts,
            cost_usd=round(self.cost, 8),
            cost_estimated=self.estimated,
            fault=fault.word if fault else None,
            reason=reason,
            elsewhere=is_elsewhere(self.model.model, reply.server),
        )

    def _nothing(self, fault: ProviderFault) -> TrialReply:
        return TrialReply.missing(
            trial=self.ask.trial,
            generation_id=secrets.token_hex(8),
            fault=fault.fault.word,
            reason=str(fault),
            attempts=self.attempts,
            cost_usd=round(self.cost, 8),
            cost_estimated=self.estimated,
        )


def _is_free(fault: Fault, text: str = "") -> bool:
    """Whether nothing is charged for a request that ended so; `text` is what had arrived."""
    return fault in _FREE or (fault in (Fault.SERVER, Fault.CONNECTION) and not text)


def longer(one: Sequence[Attempt], other: Sequence[Attempt]) -> Sequence[Attempt]:
    """Return the list that knows of more attempts."""
    return one if len(one) > len(other) else other


def _fault_of(reply: Reply) -> ProviderFault | None:
    """Return the fault of an unusable reply, or None."""
    if reply.finish_reason == "content_filter":
        return ProviderFault(Fault.FILTERED, "the provider's content filter held the reply back")
    return None
