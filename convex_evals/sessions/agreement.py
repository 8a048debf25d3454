"""How far a model, as a judge, agrees with what people said of replies: measured before it may decide anything."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.models.faults import ModelStopped, OverBudget
from convex_evals.records.hashes import sha256_text
from convex_evals.records.judge import JudgeFile, MeasuredOpinion
from convex_evals.records.session import SessionStatus
from convex_evals.sessions.asking import AskedSession, asked_session
from convex_evals.sessions.exporting import labelled
from convex_evals.sessions.index import SessionFilter, open_index
from convex_evals.sessions.opinions import JudgedReply, ModelJudge
from convex_evals.sessions.store import SessionStore
from convex_evals.stats.agreement import Agreement
from convex_evals.store.paths import slug_folders
from convex_evals.store.records import find_record, write_record

JUDGES = "judges"
# The lower end of kappa's interval from which a judge may decide: above it, agreement is more than fair (Landis and
# Koch 1977). Five replies that people accepted and five that they did not, all judged alike, reach it.
LEAST_KAPPA = 0.4
_ACCEPTED = {SessionStatus.GOLDEN: True, SessionStatus.CORRECT: True, SessionStatus.INCORRECT: False}


@dataclass(frozen=True)
class LabelledReply:
    """The last reply of a session, and what people said of it."""

    session: AskedSession

    @property
    def accepted(self) -> bool:
        return _ACCEPTED[self.session.status]

    @property
    def judged(self) -> JudgedReply:
        return JudgedReply(self.session.task, self.session.reply, self.session.wanted)


@dataclass(frozen=True)
class Disagreement:
    """A reply of which the judge said otherwise than people."""

    session_id: str
    status: SessionStatus
    acceptable: bool
    reason: str


@dataclass(frozen=True)
class Measured:
    """What a judge said of the replies that people have labelled."""

    agreement: Agreement
    disagreements: Sequence[Disagreement]
    unanswered: int  # labelled replies without a valid opinion

    @property
    def words(self) -> str:
        """Kappa with its interval, for people; empty where there is none."""
        kappa, interval = self.agreement.kappa(), self.agreement.interval()
        if kappa is None or interval is None:
            return ""
        return f"kappa {kappa:.2f}, 95 % interval {interval[0]:.2f} to {interval[1]:.2f}"

    @property
    def may_decide(self) -> bool:
        interval = self.agreement.interval()
        return interval is not None and interval[0] >= LEAST_KAPPA


def labelled_replies(store: SessionStore) -> list[LabelledReply]:
    """Return the replies that people have accepted or refused, by session. Raises `UserError`."""
    with open_index(store) as index:
        index.refuse_problems()
        ids = sorted(entry.id for status in _ACCEPTED for entry in index.find(SessionFilter(status=status)))
    found: list[LabelledReply] = []
    for each in labelled(store, ids):
        try:
            asked = asked_session(each)
        except UserError:
            continue  # nothing was asked, or nothing was answered: there is nothing to judge
        if asked.reply.strip():
            found.append(LabelledReply(asked))
    return found


def path_of(root: Path, judge: ModelJudge) -> Path:
    """Return where this judge's opinions stand."""
    provider, name = slug_folders(judge.model)
    return root / JUDGES / provider / f"{name}-{judge.sha256[:8]}.json"


def find_opinions(root: Path, judge: ModelJudge) -> JudgeFile | None:
    """Raises `UserError` where the file is not well formed, or another judge's."""
    path = path_of(root, judge)
    found = find_record(path, JudgeFile, root)
    if found is not None and (found.judge_sha256, found.model) != (judge.sha256, judge.model):
        raise UserError(f"{path}: is of another judge; restore it from Git, or remove it and measure again")
    return found


def measured(judge: ModelJudge, replies: Sequence[LabelledReply], opinions: JudgeFile | None) -> Measured:
    """Compare what is known of a judge with what people say now. Opinions on other texts do not count."""
    cells: Counter[tuple[bool, bool]] = Counter()
    disagreements = []
    for reply in replies:
        found = _valid(judge, reply, opinions)
        if found is None or found.acceptable is None:
            continue
        cells[reply.accepted, found.acceptable] += 1
        if reply.accepted != found.acceptable:
            session = reply.session
            disagreements.append(Disagreement(session.session_id, session.status, found.acceptable, found.reason or ""))
    agreement = Agreement(cells[True, True], cells[True, False], cells[False, True], cells[False, False])
    return Measured(agreement, disagreements, len(replies) - agreement.number)


def _valid(judge: ModelJudge, reply: LabelledReply, opinions: JudgeFile | None) -> MeasuredOpinion | None:
    found = opinions.opinions.get(reply.session.session_id) if opinions else None
    return found if found is not None and found.asked_sha256 == _asked(judge, reply) else None


def _asked(judge: ModelJudge, reply: LabelledReply) -> str:
    return sha256_text(judge.prompt(reply.judged).text)


@dataclass
class Measurement:
    """Asks a judge about labelled replies. What was said before of the same is not asked again."""

    root: Path
    judge: ModelJudge
    rubric: str | None  # where it stands
    tell: Callable[[int, int], None] = lambda done, total: None
    waiting: Callable[[str | None], None] = lambda line: None  # told what requests wait for, None for nothing
    stopped: list[str] = field(default_factory=list)  # why not all was asked, each reason once
    cost_usd: float = 0.0

    async def ask(self, replies: Sequence[LabelledReply]) -> JudgeFile:
        """Write and return all opinions. Raises `UserError` where the file cannot be written."""
        before = find_opinions(self.root, self.judge)
        opinions = dict(before.opinions) if before else {}
        left = [
            reply
            for reply in replies
            if (known := _valid(self.judge, reply, before)) is None or known.acceptable is None
        ]
        done = 0

        async def one(reply: LabelledReply) -> None:
            nonlocal done
            try:
                found = await self.judge.opinion(reply.session, reply.judged)
            except (OverBudget, ModelStopped) as stop:
                self.stopped = list(dict.fromkeys([*self.stopped, str(stop)]))
                return
            self.cost_usd += found.cost_usd
            own = MeasuredOpinion(**found.model_dump(), asked_sha256=_asked(self.judge, reply))
            opinions[reply.session.session_id] = own
            done += 1
            self.tell(done, len(left))

        try:
            async with self.judge.solver.waits.told(self.waiting):
                await asyncio.gather(*(one(reply) for reply in left))
        finally:
            file = JudgeFile(
                model=self.judge.model, judge_sha256=self.judge.sha256, rubric=self.rubric, opinions=opinions
            )
            if opinions and file != before:
                write_record(path_of(self.root, self.judge), file, self.root)
        return file
