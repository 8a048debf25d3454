"""A model as a solver: its settings, and the limits, budget and batches that its requests share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from convex_evals.models import Ask, Item, ReplyLog
from convex_evals.models.attempts import Attempts
from convex_evals.models.batching.following import Following
from convex_evals.models.budget import Budget
from convex_evals.models.faults import ModelStopped
from convex_evals.models.limits import ProviderLimit
from convex_evals.models.price import Tariff
from convex_evals.models.waits import Waits
from convex_evals.records.models import ModelEntry
from convex_evals.records.reply import TrialReply
from convex_evals.suite.prompt import Prompt

if TYPE_CHECKING:
    from convex_evals.models.batching.batcher import Batcher

_FIRST_PAUSE = 1.0  # seconds


@dataclass
class ModelSolver:
    """One model under one experiment."""

    entry: ModelEntry
    tariff: Tariff
    most_output_tokens: int
    limit: ProviderLimit
    budget: Budget
    web_search: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    first_pause: float = _FIRST_PAUSE
    following: Following = field(default_factory=Following)
    batched: bool = False  # by the provider's batch interface; `tariff` is that of batches
    timeout: float | None = None  # seconds of silence after which a request is given up; None: the usual ones
    waits: Waits = field(default_factory=Waits)
    stopped: ModelStopped | None = None
    halted: asyncio.Event = field(default_factory=asyncio.Event)  # set with `stopped`: ends pauses

    synthetic = False

    @property
    def model(self) -> str:
        return self.entry.slug

    @cached_property
    def batcher(self) -> Batcher:
        """Make what gathers the requests of this model, once one is sent that way."""
        from convex_evals.models.batching.batcher import Batcher

        return Batcher(self.entry, self.halted, self.following)

    def inputs(self, ev: Item, prompt: Prompt) -> Mapping[str, Any]:
        return {"prompt": prompt.text, **self.settings()}

    def settings(self) -> Mapping[str, Any]:
        """Return what a reply depends on besides what is asked."""
        entry = self.entry
        return {
            "litellm": entry.litellm_name,
            "api": entry.api,
            "base_url": entry.base_url,
            "parameters": entry.parameters.model_dump(mode="json"),
            "web_search": self.web_search,
            "extra": dict(self.extra),
        }

    def briefer(self, most_output: int) -> ModelSolver:
        """Return the model with less to say, so that a small budget holds many questions."""
        limit = min(most_output, self.entry.parameters.max_output_tokens)
        parameters = self.entry.parameters.model_copy(update={"max_output_tokens": limit})
        return replace(self, entry=self.entry.model_copy(update={"parameters": parameters}))

    def stop(self) -> None:
        self.halt(ModelStopped(f"{self.model}: stopped by the user"))

    def halt(self, why: ModelStopped) -> None:
        """Send nothing more, and wait for nothing. The first reason stays."""
        self.stopped = self.stopped or why
        self.halted.set()

    async def respond(self, ask: Ask, log: ReplyLog) -> TrialReply:
        return await Attempts(self, ask, log).run()
