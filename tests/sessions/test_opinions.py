"""A model as a judge: what it is sent, what of its answers is taken, and how far it agrees with people."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.models import Item
from convex_evals.models.budget import Budget
from convex_evals.models.faults import OverBudget
from convex_evals.models.limits import ProviderLimit
from convex_evals.models.price import Tariff
from convex_evals.models.retries import ModelSolver
from convex_evals.records.hashes import sha256_text
from convex_evals.records.judge import JudgeFile, MeasuredOpinion, Opinion
from convex_evals.records.models import ModelEntry, Parameters, Price
from convex_evals.records.session import SessionStatus
from convex_evals.sessions.agreement import LabelledReply, measured
from convex_evals.sessions.asking import AskedSession
from convex_evals.sessions.opinions import JudgedReply, ModelJudge, read_opinion
from convex_evals.suite.prompt import Prompt
from tests.provider import Provider, serve

HASH = "0" * 64
GOLDEN, INCORRECT = SessionStatus.GOLDEN, SessionStatus.INCORRECT
YES = json.dumps({"reason": "It is right.", "acceptable": True})
JUDGED = JudgedReply("## User\n\nHow?", "Use a Blob.", "A Blob.")


def session(number: int = 1, status: SessionStatus = GOLDEN) -> AskedSession:
    return AskedSession(f"{number:020x}", Prompt("", f"How? {number}"), "Use a Blob.", status=status)


def make_judge(
    url: str, home: Path, *, rubric: str = "Be fair.", budget: float | None = None, output: int = 100
) -> ModelJudge:
    entry = ModelEntry(
        slug="stub/judge", litellm="openai/model", base_url=url, parameters=Parameters(max_output_tokens=output)
    )
    tariff = Tariff(Price(input=10, output=100))
    return ModelJudge(
        ModelSolver(entry, tariff, output, ProviderLimit(8), Budget(budget), first_pause=0.01), rubric, home
    )


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider(reply=YES)) as provider:
        yield provider


@pytest.fixture
def judge(stub: Provider, tmp_path: Path) -> ModelJudge:
    return make_judge(stub.url, tmp_path)


def asked(judge: ModelJudge, judged: JudgedReply = JUDGED, item: Item | None = None) -> Opinion:
    return asyncio.run(judge.opinion(item or session(), judged))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (YES, (True, "It is right.")),
        (f"Sure!\n```json\n{YES}\n```", (True, "It is right.")),
        ('{"acceptable": false}', (False, "no reason was given")),
        ('{"acceptable": false, "reason": ["a"]}', (False, "no reason was given")),
        ('{"acceptable": false, "reason": "two\\nlines"}', (False, "two lines")),
        (f"It calls `f({{a: 1}})`, so: {YES}", (True, "It is right.")),
        (f"{YES} Not `f({{a: 1}})`.", (None, "")),
        ('{"acceptable": "yes"}', (None, "")),
        ('{"acceptable": 1}', (None, "")),
        ("It is acceptable.", (None, "")),
        ("{" * 200_000, (None, "")),
        ("} {", (None, "")),
        ("", (None, "")),
    ],
)
def test_what_is_taken_of_an_answer(text: str, found: tuple[bool | None, str]) -> None:
    assert read_opinion(text) == found


def test_an_opinion_is_marked_and_paid_for_once(judge: ModelJudge, stub: Provider) -> None:
    first, again = asked(judge), asked(judge)
    assert first == Opinion(model="stub/judge", acceptable=True, reason="It is right.", cost_usd=0.006)
    assert again == first.model_copy(update={"cost_usd": 0.0}) and len(stub.requests) == 1
    [body] = stub.requests
    system, said = (message["content"] for message in body["messages"])
    assert "Be fair." in system and "Use a Blob." in said and "A Blob." in said and "How?" in said


def test_the_same_reply_of_two_trials_is_judged_once(judge: ModelJudge, stub: Provider) -> None:
    async def both() -> list[Opinion]:
        return await asyncio.gather(*(judge.opinion(session(), JUDGED) for _ in range(3)))

    found = asyncio.run(both())
    assert len(stub.requests) == 1 and sorted(each.cost_usd for each in found) == [0.0, 0.0, 0.006]


def test_what_is_no_answer_is_asked_again_by_the_next_command(judge: ModelJudge, stub: Provider) -> None:
    stub.reply = "I cannot say."
    found = asked(judge)
    assert (
        found.acceptable is None
        and found.reason == "the judge's answer is not what was asked for"
        and found.cost_usd > 0
    )
    stub.reply = YES
    assert asked(judge).acceptable is True and len(stub.requests) == 2


def test_a_budget_that_is_too_small_sends_nothing(stub: Provider, tmp_path: Path) -> None:
    with pytest.raises(OverBudget, match="of the budget are left"):
        asked(make_judge(stub.url, tmp_path, budget=0.0001))
    assert stub.requests == []


def test_another_rubric_or_way_of_asking_is_another_judge(judge: ModelJudge, stub: Provider, tmp_path: Path) -> None:
    others = [make_judge(stub.url, tmp_path, rubric="Be strict."), make_judge(stub.url, tmp_path, output=90)]
    assert len({judge.sha256, *(other.sha256 for other in others)}) == 3
    assert make_judge(stub.url, tmp_path / "elsewhere").sha256 == judge.sha256


@given(st.text(max_size=60), st.text(max_size=60), st.none() | st.text(max_size=60))
def test_no_text_gets_out_of_its_marks(talk: str, reply: str, expected: str | None) -> None:
    judge = make_judge("http://127.0.0.1:9/v1", Path("/nowhere"))
    said = judge.prompt(JudgedReply(talk, reply, expected)).user
    mark = said.partition("-")[2].partition(">")[0]
    names = ["conversation", *(["expected"] if expected is not None else []), "reply"]
    assert len(mark) == 16 and said.count(mark) == 2 * len(names)
    inside = [said.split(f"<{name}-{mark}>\n")[1].split(f"\n</{name}-{mark}>")[0] for name in names]
    assert inside == [text for text in (talk, expected, reply) if text is not None]


def test_a_long_conversation_is_cut_at_its_beginning() -> None:
    judge = make_judge("http://127.0.0.1:9/v1", Path("/nowhere"))
    said = judge.prompt(JudgedReply("a" * 100_000 + "the request", "b" * 100_000)).user
    assert "[40,011 characters are left out]" in said and "the request" in said and len(said) < 130_000


def test_agreement_is_with_the_labels_of_the_day_and_the_texts_of_the_day(judge: ModelJudge) -> None:
    replies = [LabelledReply(session(n, GOLDEN if n < 3 else INCORRECT)) for n in range(5)]

    def opinion(reply: LabelledReply, acceptable: bool | None, asked_sha256: str | None = None) -> MeasuredOpinion:
        own = sha256_text(judge.prompt(reply.judged).text)
        return MeasuredOpinion(model=judge.model, acceptable=acceptable, reason="r", asked_sha256=asked_sha256 or own)

    said = [opinion(replies[0], True), opinion(replies[1], False), opinion(replies[2], True, HASH)]
    said += [opinion(replies[3], False), opinion(replies[4], None)]
    file = JudgeFile(
        model=judge.model,
        judge_sha256=judge.sha256,
        rubric=None,
        opinions={reply.session.session_id: each for reply, each in zip(replies, said, strict=True)},
    )
    found = measured(judge, replies, file)
    cells = found.agreement
    assert (cells.yes_yes, cells.yes_no, cells.no_yes, cells.no_no) == (1, 1, 0, 1)
    assert found.unanswered == 2 and not found.may_decide
    assert [(each.status, each.acceptable) for each in found.disagreements] == [(GOLDEN, False)]
    relabelled = [*replies[:1], LabelledReply(replace(replies[1].session, status=INCORRECT)), *replies[2:]]
    assert measured(judge, relabelled, file).disagreements == []
    assert measured(judge, replies, None).unanswered == 5
