"""A minted benchmark to a deployment, so that runs of it count there."""

from __future__ import annotations

import asyncio
import os
from typing import Any, Literal

from convex_evals.errors import UserError
from convex_evals.publish import publisher
from convex_evals.publish.client import ConvexClient, FunctionFailedError, LostAnswerError
from convex_evals.publish.content import experiment_there
from convex_evals.publish.deployments import Deployment
from convex_evals.publish.leaderboard import LeaderboardApi
from convex_evals.publish.refusals import refuse_unguarded
from convex_evals.records.benchmark import Benchmark


async def publish_benchmark(benchmark: Benchmark, deployment: Deployment) -> Literal["minted", "was there"]:
    """Raises `UserError`."""
    refuse_unguarded(deployment, os.environ)
    experiment = experiment_there(benchmark.experiment)
    async with ConvexClient(deployment, 1, publisher.PATIENCE) as client:
        board = LeaderboardApi(client)
        await publisher.probe(board)
        why = await publisher.unknown_experiment(board, benchmark.experiment)
        if why:
            raise UserError(why)
        if _mentions(await board.versions(experiment), benchmark.id):
            return "was there"
        arguments = {
            "version": benchmark.id,
            "evalCount": len(benchmark.evals),
            "curatedModels": list(benchmark.models),
        }
        try:
            await client.mutate_once("admin:mintBenchmark", arguments)
        except LostAnswerError as lost:
            await asyncio.sleep(publisher.PATIENCE.settle_seconds)
            if not _mentions(await board.versions(experiment), benchmark.id):
                raise UserError(
                    f"{deployment.url}: admin:mintBenchmark: no answer ({lost}), and it does not list the benchmark; "
                    "repeat the command"
                ) from None
        except FunctionFailedError as error:
            raise UserError(f"{deployment.url}: {error}") from None
        return "minted"


def _mentions(found: Any, text: str) -> bool:
    """Whether a text is anywhere in an answer, whatever its shape is."""
    if isinstance(found, dict):
        found = list(found.values())
    return any(_mentions(each, text) for each in found) if isinstance(found, list) else found == text
