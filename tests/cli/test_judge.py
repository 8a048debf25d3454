"""`cli sessions judge`, and `cli run --sessions --judge`: a model's opinions, and when they decide."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from convex_evals.records import Outcome
from convex_evals.records.judge import JudgeFile
from convex_evals.sessions.store import SessionStore
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from tests.conftest import Invoke, Result
from tests.factories import make_eval, write_files
from tests.provider import Provider, models_yaml, serve
from tests.sessions.chats import chat, write_chats

RIGHT, WRONG = "Use a Blob.", "Use bytes."
LABELLED = 5  # of each kind


def answer(body: dict[str, Any]) -> str:
    """As a judge: whether the reply speaks of a Blob. As a model: a reply."""
    system, said = body["messages"][0]["content"], body["messages"][-1]["content"]
    if "You judge what" not in system:
        return "A Blob, always."
    reply = re.search(r"<reply-(\w+)>\n(.*)\n</reply-\1>", said, re.DOTALL)
    assert reply
    speaks = "Blob" in reply[2]
    return json.dumps({"reason": "It speaks of it." if speaks else "It does not.", "acceptable": speaks})


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider(answer=answer)) as provider:
        yield provider


@pytest.fixture
def project(tmp_path: Path, invoke: Invoke, stub: Provider) -> Path:
    """A suite with sessions that people have accepted or refused, all of them evals."""
    root = tmp_path / "project"
    make_eval(root)
    write_files(root, {"models.yaml": models_yaml(stub.url), ".env": "STUB_KEY=key"})
    chats = [chat(f"How {n}?", RIGHT if n < LABELLED else WRONG, id=str(n)) for n in range(2 * LABELLED)]
    file = write_chats(tmp_path / "chats.jsonl", chats)
    assert invoke("sessions", "import", "--from", "openai", file, cwd=root).status == 0
    store = SessionStore(root)
    for session_id in store.ids():
        status = "golden" if [*store.messages(session_id)][-1].text == RIGHT else "incorrect"
        assert invoke("sessions", "label", session_id, "--status", status, "--ready", cwd=root).status == 0
    return root


@pytest.fixture
def judge(project: Path, invoke: Invoke) -> Callable[..., Result]:
    return lambda *words: invoke("sessions", "judge", "-m", "stub/model", "--budget", "5", *words, cwd=project)


@pytest.fixture
def ask(project: Path, invoke: Invoke) -> Callable[..., Result]:
    return lambda *words: invoke("run", "--sessions", "-m", "stub/model", "--judge", "stub/model", *words, cwd=project)


def newest(root: Path) -> Run:
    return RunStore(root / "session-runs").find("last")


def test_agreement_is_measured_once_and_shown_with_its_interval(
    judge: Callable[..., Result], project: Path, stub: Provider
) -> None:
    done = judge()
    assert done.status == 0, done.err
    assert "Agreement: kappa 1.00, 95 % interval 0.42 to 1.00. This judge may decide" in done.out
    [file] = (project / "judges").rglob("*.json")
    opinions = JudgeFile.from_data(json.loads(file.read_text())).opinions
    assert len(opinions) == len(stub.requests) == 2 * LABELLED
    again = json.loads(judge("--json").out)
    assert len(stub.requests) == 2 * LABELLED and again["cost_usd"] == 0
    assert again["may_decide"] and again["kappa"] == 1.0 and again["interval"] == [0.42, 1.0]
    assert again["counts"] == {"both_accept": 5, "people_alone": 0, "judge_alone": 0, "neither": 5}


def test_labels_are_not_told(judge: Callable[..., Result], stub: Provider) -> None:
    assert judge().status == 0
    assert not any(word in json.dumps(stub.requests) for word in ("golden", "incorrect", "<expected-"))


def test_who_disagrees_is_listed_and_may_not_decide(
    judge: Callable[..., Result], ask: Callable[..., Result], project: Path, invoke: Invoke, stub: Provider
) -> None:
    ids = SessionStore(project).ids()
    for session_id in ids[:4]:
        assert invoke("sessions", "label", session_id, "--status", "correct", cwd=project).status == 0
    stub.answer = lambda body: json.dumps({"reason": "Never right.", "acceptable": False})
    done = judge()
    assert "This judge may not decide" in done.out and "Never right." in done.out
    requests = len(stub.requests)
    refused = ask("--compare", "judge")
    assert (
        refused.status == 1
        and "may not decide yet: it was measured on 10 labelled replies (kappa 0.00, " in refused.err
    )
    assert refused.err.count("\n") == 1 and len(stub.requests) == requests


def test_a_judge_that_nobody_measured_does_not_decide(ask: Callable[..., Result], stub: Provider) -> None:
    done = ask("--compare", "judge")
    assert (
        done.status == 1
        and "was measured on 0 labelled replies, and kappa's interval has to begin at 0.4 or above" in done.err
    )
    assert stub.requests == []


def test_a_judge_that_may_decide_decides(
    judge: Callable[..., Result], ask: Callable[..., Result], project: Path, stub: Provider
) -> None:
    assert judge().status == 0
    stub.requests.clear()
    done = ask("--compare", "judge", "--fail-on-failure", "--budget", "5")
    assert done.status == 0, done.err
    assert "Judge: stub/model, which decides; $0.0600." in done.out
    assert len(stub.requests) == 2 * 2 * LABELLED
    run, summary = newest(project), newest(project).summary()
    assert summary and summary.judge_cost_usd == pytest.approx(0.06) and summary.counts.passed == 10
    verdict = run.grade(next(iter(run.plan.evals))).trials[0].verdict
    assert verdict.opinion and verdict.opinion.reason == "It speaks of it." and verdict.score < 0.75
    assert ask("--compare", "judge", "--budget", "5").status == 0 and len(stub.requests) == 2 * 2 * LABELLED
    told = [body["messages"][-1]["content"] for body in stub.requests if len(body["messages"]) == 2]
    assert sum("<expected-" in text for text in told) == LABELLED, "what people found wrong is not expected"


def test_an_opinion_stands_beside_what_decides(
    ask: Callable[..., Result], project: Path, invoke: Invoke, stub: Provider
) -> None:
    done = ask("--trials", "1")
    assert done.status == 0 and "Judge: stub/model, which does not decide" in done.out
    assert "5 sessions labelled incorrect, without an expected output" in done.err
    run = newest(project)
    assert {run.grade(e).trials[0].verdict.outcome for e in run.plan.evals} == {Outcome.FAILED}
    shown = invoke("show", "last", next(iter(run.plan.evals)), "--verdict", "--runs-dir", "session-runs", cwd=project)
    assert "judge" in shown.out
    before = len(stub.requests)
    assert invoke("run", "--sessions", "-m", "stub/model", cwd=project).status == 0
    assert len(stub.requests) == before, "replies are there, and no judge is asked"


def test_a_judge_without_an_answer_leaves_trials_for_the_next_command(
    judge: Callable[..., Result], ask: Callable[..., Result], project: Path, stub: Provider
) -> None:
    assert judge().status == 0
    stub.answer = lambda body: "Hm." if "You judge" in body["messages"][0]["content"] else answer(body)
    done = ask("--compare", "judge")
    assert done.status == 6 and "run the same command again to resume" in done.out
    stub.answer = answer
    before = len(stub.requests)
    assert ask("--compare", "judge", "--fail-on-failure").status == 0
    assert len(stub.requests) == before + 2 * LABELLED, "only the judge is asked again"


def test_the_budget_is_for_both(ask: Callable[..., Result], project: Path, stub: Provider) -> None:
    done = ask("--budget", "0.06")
    assert done.status == 6 and "resume by the same command, with --budget" in done.err
    spent = len(stub.requests) * 0.006
    assert spent <= 0.06
    done = ask("--budget", "5")
    assert done.status == 0, done.err
    summary = newest(project).summary()
    assert summary and summary.cost_usd + summary.judge_cost_usd == pytest.approx(0.006 * len(stub.requests))


def test_a_rubric_of_ones_own_is_another_judge(
    judge: Callable[..., Result], ask: Callable[..., Result], project: Path, stub: Provider
) -> None:
    write_files(project, {"judges/rubric.md": "Blobs are good.\n"})
    assert judge("--rubric", "judges/rubric.md").status == 0
    assert all("Blobs are good." in body["messages"][0]["content"] for body in stub.requests)
    assert ask("--compare", "judge").status == 1, "the usual rubric was not measured"
    done = ask("--compare", "judge", "--rubric", "judges/rubric.md", "--fail-on-failure")
    assert done.status == 0, done.err
    assert newest(project).plan.comparison.rubric == "judges/rubric.md"  # type: ignore[union-attr]
    missing = judge("--rubric", "nosuch.md")
    assert missing.status == 1 and "name another file with --rubric PATH" in missing.err


def test_a_dry_run_says_what_opinions_may_cost(ask: Callable[..., Result], invoke: Invoke, project: Path) -> None:
    [row] = json.loads(ask("--dry-run", "--json").out)
    [plain] = json.loads(invoke("run", "--sessions", "-m", "stub/model", "--dry-run", "--json", cwd=project).out)
    assert row["calls"] == 2 * plain["calls"] == 40 / 2 and row["most_usd"] > 2 * plain["most_usd"]


def test_a_judge_needs_labels(tmp_path: Path, invoke: Invoke, stub: Provider) -> None:
    make_eval(tmp_path)
    write_files(tmp_path, {"models.yaml": models_yaml(stub.url), ".env": "STUB_KEY=key"})
    done = invoke("sessions", "judge", "-m", "stub/model", "--budget", "1", cwd=tmp_path)
    assert done.status == 1 and "no session with a reply is labelled golden, correct or incorrect" in done.err


def test_a_budget_that_ends_keeps_what_was_said(judge: Callable[..., Result], project: Path, invoke: Invoke) -> None:
    done = invoke("sessions", "judge", "-m", "stub/model", "--budget", "0.06", "--json", cwd=project)
    found = json.loads(done.out)
    assert done.status == 1 and 0 < found["unanswered"] < 10 and "of the budget are left" in done.err
    assert json.loads(judge("--json").out)["unanswered"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sessions", "--compare", "judge"], "--compare judge needs --judge MODEL"),
        (["--sessions", "--rubric", "x.md"], "--rubric needs --judge MODEL"),
        (["--judge", "a/b"], "--judge: only with --sessions"),
    ],
)
def test_options_of_a_judge(project: Path, invoke: Invoke, words: list[str], said: str) -> None:
    done = invoke("run", "-m", "reference", *words, cwd=project)
    assert done.status == 2 and said in done.err
