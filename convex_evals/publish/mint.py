"""Minted benchmarks to a deployment, so that runs of them count there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from convex_evals.analysis.candidates import read_candidates
from convex_evals.errors import UserError
from convex_evals.publish import probes
from convex_evals.publish.client import ConvexClient, FunctionFailedError, LostAnswerError
from convex_evals.publish.content import experiment_there
from convex_evals.publish.deployments import Deployment
from convex_evals.publish.leaderboard import LeaderboardApi
from convex_evals.publish.ledger import open_ledger
from convex_evals.publish.refusals import refuse_unguarded
from convex_evals.publish.versions import BenchmarkVersions
from convex_evals.records.benchmark import Benchmark, BenchmarkHead
from convex_evals.store.benchmarks import BenchmarkFolder
from convex_evals.store.run import Run, open_run
from convex_evals.store.runs import RunStore
from convex_evals.text import counted

Minted = Literal["minted", "was there", "would be minted"]


async def publish_benchmark(benchmark: Benchmark, deployment: Deployment, *, dry_run: bool) -> tuple[Minted, list[str]]:
    """Mint it there; return a line for each of its experiments that the deployment does not know, too.

    Raises `UserError`, also where it knows none of them.
    """
    if not dry_run:
        refuse_unguarded(deployment, os.environ)
    async with ConvexClient(deployment, 1, probes.PATIENCE) as client:
        board = LeaderboardApi(client)
        await probes.probe(board, "admin")
        unknown = [why for name in benchmark.experiments if (why := await probes.unknown_experiment(board, name))]
        if len(unknown) == len(benchmark.experiments):
            raise UserError(unknown[0])
        if dry_run and not await _is_minted(benchmark.version, benchmark.experiments, board):
            return "would be minted", unknown
        return "was there" if dry_run else await _mint(benchmark, board), unknown


async def mint_missing(
    runs: Sequence[Run],
    board: LeaderboardApi,
    versions: BenchmarkVersions,
    folder: BenchmarkFolder,
    tell: Callable[[BenchmarkHead], None],
    *,
    dry_run: bool,
) -> list[str]:
    """Mint there what these runs are of, as far as it has a name here; return the names. Raises `UserError`.

    `tell` is called before each.
    """
    heads = [head for _, head in await _missing(runs, board, versions) if head]
    if heads:
        await probes.probe(board, "admin")
    for head in heads:
        tell(head)
        benchmark = folder.read(head.name)
        if not dry_run:
            await _mint(benchmark, board)
    return [head.name for head in heads]


async def not_counted(
    runs: Sequence[Run], board: LeaderboardApi, versions: BenchmarkVersions, *, minting: bool
) -> list[str]:
    """Say which of these runs count in no score there, and what to do. Raises `UserError`.

    Where `minting` is asked for, what has a name here is minted, or would be.
    """
    lines = []
    for own, head in await _missing(runs, board, versions):
        if head and minting:
            continue
        name = head.name if head else "a benchmark without a name"
        how = "`cli publish --mint` mints it"
        if head is None:
            how = f"`cli benchmark mint NAME --from {own[0].plan.run_id}` names it, and {how}"
        lines.append(f"in no score there: {counted(len(own), 'run')} of {name}, which is not minted there; {how}")
    return lines


def shown_of(benchmark: BenchmarkHead, store: RunStore, deployment: Deployment) -> list[str]:
    """Say what a deployment will show of a benchmark, by experiment, once its runs are published.

    What is minted last is shown first: an experiment without a run has an empty page then.
    """
    names = {own.id: name for name, own in benchmark.experiments.items()}
    runs: dict[str, list[Run]] = {name: [] for name in benchmark.experiments}
    for candidate in read_candidates(store, names.values(), drafts=False).runs:
        if candidate.benchmark in names:
            runs[names[candidate.benchmark]].append(open_run(candidate.path.parent))
    return [f"{benchmark.name}, {name}: {_shown(benchmark, own, deployment)}" for name, own in runs.items()]


def _shown(benchmark: BenchmarkHead, runs: Sequence[Run], deployment: Deployment) -> str:
    if not runs:
        return "no run here that can be sent, so nothing is shown of it"
    models = {run.plan.model for run in runs}
    sent = [_versions_of(run, deployment) for run in runs]
    as_it, older = sum(benchmark.version in own for own in sent), sum(bool(own - {benchmark.version}) for own in sent)
    words = [f"{as_it} published", f"{older} published under another version"] if older else [f"{as_it} published"]
    return f"{counted(len(models), 'model')}, {counted(len(runs), 'run')}, {', '.join(words)}"


def _versions_of(run: Run, deployment: Deployment) -> set[str]:
    """Under which its trials were published; none where its ledger cannot be read, which `cli publish` says."""
    try:
        return open_ledger(run, deployment).versions
    except UserError:
        return set()


async def _missing(
    runs: Sequence[Run], board: LeaderboardApi, versions: BenchmarkVersions
) -> list[tuple[list[Run], BenchmarkHead | None]]:
    """The runs of each version that the deployment does not list, and what it is called here."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(versions.of(run).sent, []).append(run)
    return [
        (own, versions.head(own[0]))
        for version, own in found.items()
        if not await _is_minted(version, {run.plan.experiment for run in own}, board)
    ]


async def _is_minted(version: str, experiments: Iterable[str], board: LeaderboardApi) -> bool:
    """Whether a deployment lists a version, also where it lists those of one experiment apart."""
    for there in dict.fromkeys([None, *map(experiment_there, sorted(experiments))]):
        if _mentions(await board.versions(there), version):
            return True
    return False


async def _mint(benchmark: Benchmark, board: LeaderboardApi) -> Minted:
    """Mint a benchmark there, under its name where a deployment has names."""
    client = board.client
    url = client.deployment.url
    how: Minted = "was there"
    if not await _is_minted(benchmark.version, benchmark.experiments, board):
        how = "minted"
        arguments = {
            "version": benchmark.version,
            "evalCount": len(benchmark.evals),
            "curatedModels": list(benchmark.models),
        }
        try:
            await client.mutate_once("admin:mintBenchmark", arguments)
        except LostAnswerError as lost:
            await asyncio.sleep(probes.PATIENCE.settle_seconds)
            if not await _is_minted(benchmark.version, benchmark.experiments, board):
                raise UserError(
                    f"{url}: admin:mintBenchmark: no answer ({lost}), and it does not list the benchmark; repeat the "
                    "command"
                ) from None
        except FunctionFailedError as error:
            raise UserError(f"{url}: {error}") from None
    await board.name_benchmark(benchmark.version, benchmark.name)
    return how


def _mentions(found: Any, text: str) -> bool:
    """Whether a text is anywhere in an answer, whatever its shape is."""
    if isinstance(found, dict):
        found = list(found.values())
    return any(_mentions(each, text) for each in found) if isinstance(found, list) else found == text
