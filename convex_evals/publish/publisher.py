"""Runs to a deployment: what is looked at before anything is sent, and then one trial after the other."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.models.catalog import Catalog, load_catalog
from convex_evals.publish import probes
from convex_evals.publish.assets import Assets
from convex_evals.publish.bundles import EvalSource, open_suite, read_source
from convex_evals.publish.client import ConvexClient
from convex_evals.publish.content import TrialContent, model_there
from convex_evals.publish.deployments import Deployment
from convex_evals.publish.leaderboard import LeaderboardApi
from convex_evals.publish.ledger import Ledger, is_settled, open_ledger, was_published
from convex_evals.publish.locks import locked
from convex_evals.publish.mint import mint_missing, not_counted, shown_of
from convex_evals.publish.planning import Sources, contents_of, preview_run, unplanned
from convex_evals.publish.published import Published
from convex_evals.publish.refusals import Head, open_head, refuse_unguarded, why_not
from convex_evals.publish.trial import TrialPublisher
from convex_evals.publish.trial_runs import RunError
from convex_evals.publish.versions import BenchmarkVersions
from convex_evals.records.benchmark import BenchmarkHead
from convex_evals.render.terminal import Display
from convex_evals.store.benchmarks import BenchmarkFolder
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore

_AT_ONCE = 2.0  # seconds


@dataclass(frozen=True)
class PublishOptions:
    names: tuple[str, ...] = ()  # of runs; none: all that are not published yet
    since: str | None = None  # YYYY-MM-DD
    dry_run: bool = False
    repair: bool = False
    concurrency: int = 8
    verify: bool = False  # only say whether what was published is there
    all: bool = False  # also runs that no minted benchmark ranks
    mint: bool = False  # benchmarks that have a name here are minted there, too

    @property
    def sends(self) -> bool:
        return not (self.dry_run or self.verify)


@dataclass
class Publisher:
    workspace: Workspace
    deployment: Deployment
    options: PublishOptions
    display: Display
    store: RunStore  # its runs are what is chosen from
    _begin: float = field(default_factory=time.monotonic)
    _settled: list[tuple[Run, Ledger]] = field(default_factory=list)  # of which nothing is to be sent

    async def publish(self) -> list[Published]:
        """All chosen runs, oldest first; what would become of them, or whether they are there, where nothing is sent.

        Raises `UserError`: what was sent until then stands in the ledgers.
        """
        if self.options.sends:
            refuse_unguarded(self.deployment, os.environ)
        found = self._chosen()
        work = [each for each in found if each.is_open]
        if not work:
            self._say_what_is_older([])
            return found
        sources = self._sources(work)
        async with ConvexClient(self.deployment, self.options.concurrency, probes.PATIENCE) as client:
            board = LeaderboardApi(client)
            await probes.probe(board)
            work = await self._known(work, board)
            if not self.options.sends:
                await self._mint(work, board)
                await self._preview(work, board, sources)
                await self._say_what_counts(work, board)
                return found
            with locked(self.workspace, self.deployment):
                for each in work:
                    each.ledger = open_ledger(each.run, self.deployment)  # another may have been at it until now
                await self._mint(work, board)
                await self._settle(work)
                await self._send(work, board, sources)
            await self._say_what_counts(work, board)
        return found

    async def _say_what_counts(self, work: Sequence[Published], board: LeaderboardApi) -> None:
        if not self.options.verify:
            older = self._versions.is_older  # said of each in a line of its own
            runs = [each.run for each in work if not (each.ledger and older(each.run, each.ledger))]
            for line in await not_counted(runs, board, self._versions, minting=self.options.mint):
                self.display.warn(line)
        self._say_what_is_older(work)

    def _say_what_is_older(self, work: Sequence[Published]) -> None:
        published = [*self._settled, *((each.run, each.ledger) for each in work if each.ledger)]
        for line in self._versions.older(published):
            self.display.warn(line)

    async def _mint(self, work: Sequence[Published], board: LeaderboardApi) -> None:
        """Mint what has to be, where that is asked for; say what would be, where nothing is sent."""
        if self.options.mint:
            dry_run = not self.options.sends
            runs = [each.run for each in work]
            minted = await mint_missing(runs, board, self._versions, self._folder, self._tell_shown, dry_run=dry_run)
            verb = "would be minted" if dry_run else "minted"
            self.display.note(f"{verb} there: {', '.join(minted) or 'nothing that was not'}")

    def _tell_shown(self, head: BenchmarkHead) -> None:
        for line in shown_of(head, self.store, self.deployment):
            self.display.note(line)

    async def _known(self, work: Sequence[Published], board: LeaderboardApi) -> list[Published]:
        """Those whose experiment the deployment knows. Raises `UserError` for a named run."""
        for name in sorted({each.run.plan.experiment for each in work}):
            why = await probes.unknown_experiment(board, name)
            if why and self.options.names:
                raise UserError(f"{why}; nothing was sent")
            for each in work:
                if why and each.run.plan.experiment == name:
                    each.refused = why
        return [each for each in work if each.is_open]

    async def _settle(self, work: Sequence[Published]) -> None:
        """Wait for what a publisher that was killed had on its way: only then can be asked what is there."""
        if any(each.ledger and each.ledger.is_cut for each in work):
            self.display.preparing("resuming: waiting for what is on its way", 0, 0)
            await asyncio.sleep(probes.PATIENCE.settle_seconds)

    def _preparing(self, what: str, done: int, total: int) -> None:
        """Progress of what is usually done at once."""
        if time.monotonic() - self._begin > _AT_ONCE:
            self.display.preparing(what, done, total)

    def _chosen(self) -> list[Published]:
        """Named runs, else all that are not published yet; refused ones with the reason."""
        store, options = self.store, self.options
        head = open_head(self.workspace.runs_dir)
        if options.names:
            runs: Sequence[Run] = store.find_all(options.names)
        else:
            runs = [run for run in store.all() if not run.plan.synthetic and run.plan.date >= (options.since or "")]
        found = []
        for n, run in enumerate(sorted(runs, key=lambda run: (run.plan.date, run.plan.run_id)), 1):
            self._preparing("looking at runs", n, len(runs))
            looked_at = self._look_at(run, head)
            if looked_at is not None:
                found.append(looked_at)
        named = next((each for each in found if not each.is_open), None) if options.names else None
        if named:
            raise UserError(f"{named.run.plan.run_id}: {named.refused or named.failed}; nothing was sent")
        return found

    @cached_property
    def _folder(self) -> BenchmarkFolder:
        return BenchmarkFolder(self.workspace.home)

    @cached_property
    def _versions(self) -> BenchmarkVersions:
        return BenchmarkVersions(self._folder.heads())

    def _contents(self, run: Run, sources: Sources) -> list[TrialContent]:
        """What is there under an older version is sent again where the run is named."""
        newest = self.options.repair and bool(self.options.names)
        return contents_of(run, sources, self._versions.of(run, newest=newest))

    def _why_unranked(self, run: Run) -> str | None:
        """Why a run stands beside those that can be compared; None where a minted benchmark ranks it."""
        summary = run.summary()
        if summary and summary.elsewhere:
            return f"was asked at {summary.elsewhere[0]}, under a provider's name, so nothing ranks it; --all sends it"
        if summary and summary.counts.too_many_unscored:
            share = summary.counts.unscored_share
            return f"has no verdict on {share:.0%} of its trials, so nothing ranks it; --all sends it"
        if self._versions.head(run):
            return None
        return (
            f"is of no minted benchmark, so nothing ranks it; `cli benchmark mint NAME --from {run.plan.run_id}` mints "
            "its own, and --all sends it all the same"
        )

    def _look_at(self, run: Run, head: Head) -> Published | None:
        """None for one that is published already, and is not named."""
        try:
            ledger = open_ledger(run, self.deployment)
            if self.options.verify and not self.options.names and not was_published(ledger):
                return None
            if not self.options.names and is_settled(run, ledger, again=self.options.repair or self.options.verify):
                self._settled.append((run, ledger))
                return None
            refused = why_not(run, head)
            if not (refused or self.options.names or self.options.all or was_published(ledger)):
                refused = self._why_unranked(run)
            return Published(run, refused, ledger=ledger)
        except UserError as error:
            return Published(run, failed=str(error))

    def _sources(self, work: Sequence[Published]) -> Mapping[Path, Sources]:
        """By folder of a run and eval. Raises `UserError` where a commit is not here."""
        suite = open_suite(self.workspace.suite)
        asked = {(each.run.plan.suite_commit or "", e) for each in work for e in each.run.plan.evals}
        read: dict[tuple[str, str], EvalSource] = {}
        for n, (commit, eval_id) in enumerate(sorted(asked), 1):
            self._preparing("reading sources", n, len(asked))
            read[commit, eval_id] = read_source(suite, commit, eval_id)
        runs = [each.run for each in work]
        return {run.folder: {e: read[run.plan.suite_commit or "", e] for e in run.plan.evals} for run in runs}

    async def _send(self, work: Sequence[Published], board: LeaderboardApi, sources: Mapping[Path, Sources]) -> None:
        catalog = load_catalog(self.workspace.home)
        total = sum(len(each.run.plan.evals) * each.run.plan.trials for each in work)
        pace = _Pace(total, self.display)
        self.display.start("evals to publish", total)
        assets = Assets(board)
        for each in work:
            try:
                await self._one(each, board, assets, catalog, sources[each.run.folder], pace)
            except RunError as error:
                each.failed = str(error)

    async def _preview(self, work: Sequence[Published], board: LeaderboardApi, sources: Mapping[Path, Sources]) -> None:
        """Say of each trial what would be done, with every check that comes before it is done."""
        for number, each in enumerate(work, 1):
            self._preparing("looking at the deployment", number, len(work))
            contents = self._contents(each.run, sources[each.run.folder])
            await preview_run(each, board, contents, repair=self.options.repair, verify=self.options.verify)

    async def _one(
        self,
        each: Published,
        board: LeaderboardApi,
        assets: Assets,
        catalog: Catalog,
        sources: Sources,
        pace: _Pace,
    ) -> None:
        run, ledger = each.run, each.ledger
        assert ledger is not None
        contents = self._contents(run, sources)
        model = await board.ensure_model(model_there(run.plan, catalog))
        ledger.write(*await unplanned(run, ledger, board, model, repair=self.options.repair))
        senders = []
        for content in contents:
            begin = time.monotonic()
            already = pace.done
            sender = TrialPublisher(board, assets, ledger, content, model, self.options.repair, pace.add)
            with each.of_trial(content.trial):
                each.trials[content.trial] = await sender.publish()
            pace.at(already + len(run.plan.evals))
            how = each.trials.get(content.trial, "failed")
            mark = "failed" if how == "failed" else "passed"
            self.display.item(mark, f"{content.text} {how}", time.monotonic() - begin)
            senders.append(sender)
        for sender in senders:
            if each.trials.get(sender.content.trial, "was there") != "was there":
                with each.of_trial(sender.content.trial):
                    await sender.sweep()


@dataclass
class _Pace:
    """How many evals are there, and when the others will be."""

    total: int
    display: Display
    done: int = 0
    sent: int = 0
    begin: float = field(default_factory=time.monotonic)

    def add(self) -> None:
        self.sent += 1
        self.at(self.done + 1)

    def at(self, done: int) -> None:
        from convex_evals.render.numbers import rough_duration

        self.done = done
        left = (time.monotonic() - self.begin) / max(self.sent, 1) * (self.total - done)
        ending = f", about {rough_duration(left)} left" if self.sent >= 3 and done < self.total else ""
        self.display.progress(f"{done} of {self.total} evals{ending}")
