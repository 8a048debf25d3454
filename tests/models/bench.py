"""A solver whose provider is a stub, and what it is measured by."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from convex_evals.models import Ask
from convex_evals.models.budget import Budget
from convex_evals.models.limits import ProviderLimit
from convex_evals.models.price import Tariff
from convex_evals.models.retries import ModelSolver
from convex_evals.records.models import ModelEntry, Parameters, Price
from convex_evals.records.reply import TrialReply
from convex_evals.store.replies import ReplyFile
from convex_evals.suite.prompt import Prompt
from convex_evals.suite.suite import Eval
from tests.provider import Provider

PRICE = Price(input=10, output=100)
Api = Literal["chat", "responses"]
KEY = "a-planted-key-0123456789"
ANTHROPIC = "anthropic/claude-sonnet-4-5"


@dataclass
class Bench:
    """A model at the stub."""

    stub: Provider
    ev: Eval
    folder: Path
    budget: Budget
    api: Api = "chat"
    litellm: str = "openai/model"

    def solver(self) -> ModelSolver:
        entry = ModelEntry(
            slug="stub/model",
            litellm=self.litellm,
            base_url=self.stub.url,
            api=self.api,
            key_env="STUB_KEY",
            parameters=Parameters(max_output_tokens=100),
        )
        return ModelSolver(entry, Tariff(PRICE), 100, ProviderLimit(8), self.budget, first_pause=0.01)

    async def ask(self, trial: int = 1) -> TrialReply:
        log = ReplyFile(self.folder / f"{trial}.jsonl")
        try:
            return await self.solver().respond(Ask(self.ev, trial, "key", Prompt("", f"task {trial}")), log)
        finally:
            log.close()


async def watched(work: asyncio.Task[TrialReply]) -> tuple[TrialReply, float]:
    """The reply, and the longest time for which other tasks had to wait, in seconds of this thread's work."""
    worst = 0.0
    while not work.done():
        before = time.thread_time()
        await asyncio.sleep(0.01)
        worst = max(worst, time.thread_time() - before)
    return await work, worst
