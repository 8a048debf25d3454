"""Minted benchmarks to a deployment, so that runs of them count there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from convex_evals.errors import UserError
from convex_evals.publish import probes
from convex_evals.publish.client import ConvexClient, FunctionFailedError, LostAnswerError
from convex_evals.publish.content import experiment_there
from convex_evals.publish.deployments import Deployment
from convex_evals.publish.leaderboard import LeaderboardApi
from convex_evals.publish.refusals import refuse_unguarded
from convex_evals.records.benchmark import Benchmark
from convex_evals.store.benchmarks import BenchmarkFolder
from convex_evals.store.run import Run
from convex_evals.text import counted

Minted = Literal["minted", "was there"]


async def publish_benchmark(benchmark: Benchmark, deployment: Deployment) -> Minted:
    """Raises `UserError`."""
    refuse_unguarded(deployment, os.environ)
    async with ConvexClient(deployment, 1, probes.PATIENCE) as client:
        board = LeaderboardApi(client)
        await probes.probe(board, "admin")
        why = await probes.unknown_experiment(board, benchmark.experiment)
        if why:
            raise UserError(why)
        return await _mint(benchmark, board)


async def mint_missing(runs: Sequence[Run], board: LeaderboardApi, home: Path) -> list[str]:
    """Mint there what these runs are of, as far as it has a name here; return the names. Raises `UserError`."""
    missing = await _missing(runs, board)
    if not missing:
        return []
    await probes.probe(board, "admin")
    folder = BenchmarkFolder(home)
    names = [head.name for head in folder.heads() if head.id in missing]
    for name in names:
        await _mint(folder.read(name), board)
    return names


async def not_counted(runs: Sequence[Run], board: LeaderboardApi, home: Path) -> list[str]:
    """Say which of these runs count in no score there, and what to do. Raises `UserError`."""
    missing = await _missing(runs, board)
    names = {head.id: head.name for head in BenchmarkFolder(home).heads()}
    lines = []
    for benchmark, own in missing.items():
        name = names.get(benchmark)
        what = f"{counted(len(own), 'run')} of {name or 'a benchmark without a name'}, which is not minted there"
        how = "`cli publish --mint` mints it"
        if name is None:
            how = f"`cli benchmark mint NAME --from {own[0].plan.run_id}` names it, and {how}"
        lines.append(f"in no score there: {what}; {how}")
    return lines


async def _missing(runs: Sequence[Run], board: LeaderboardApi) -> dict[str, list[Run]]:
    """Runs by the id of their benchmark, where the deployment does not list it."""
    versions: dict[str, Any] = {}
    missing: dict[str, list[Run]] = {}
    for run in runs:
        experiment = run.plan.experiment
        if experiment not in versions:
            versions[experiment] = await board.versions(experiment_there(experiment))
        if not _mentions(versions[experiment], run.benchmark):
            missing.setdefault(run.benchmark, []).append(run)
    return missing


async def _mint(benchmark: Benchmark, board: LeaderboardApi) -> Minted:
    """Mint a benchmark there, under its name where a deployment has names."""
    client, experiment = board.client, experiment_there(benchmark.experiment)
    url = client.deployment.url
    how: Minted = "was there"
    if not _mentions(await board.versions(experiment), benchmark.id):
        how = "minted"
        arguments = {
            "version": benchmark.id,
            "evalCount": len(benchmark.evals),
            "curatedModels": list(benchmark.models),
        }
        try:
            await client.mutate_once("admin:mintBenchmark", arguments)
        except LostAnswerError as lost:
            await asyncio.sleep(probes.PATIENCE.settle_seconds)
            if not _mentions(await board.versions(experiment), benchmark.id):
                raise UserError(
                    f"{url}: admin:mintBenchmark: no answer ({lost}), and it does not list the benchmark; repeat the "
                    "command"
                ) from None
        except FunctionFailedError as error:
            raise UserError(f"{url}: {error}") from None
    await board.name_benchmark(benchmark.id, benchmark.name)
    return how


def _mentions(found: Any, text: str) -> bool:
    """Whether a text is anywhere in an answer, whatever its shape is."""
    if isinstance(found, dict):
        found = list(found.values())
    return any(_mentions(each, text) for each in found) if isinstance(found, list) else found == text
