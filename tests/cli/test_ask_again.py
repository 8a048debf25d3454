"""`cli run --sessions`: sessions are put to models again, and the replies compared with what was expected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from convex_evals.records import Outcome
from convex_evals.sessions.store import RECORD, SessionStore
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from tests.conftest import Invoke, Result
from tests.factories import make_eval, make_git_repo, write_files
from tests.provider import Provider, models_yaml, serve
from tests.sessions.chats import chat, write_chats

CHATS = (
    chat("What is Convex?", "A reactive database.", "Does it have crons?", "Yes, in convex/crons.ts.", id="crons"),
    chat("How do I store a file?", "Call storage.store with a Blob.", id="files"),
)


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider(reply="Yes, in convex/crons.ts!")) as provider:
        yield provider


@pytest.fixture
def project(tmp_path: Path, invoke: Invoke, stub: Provider) -> Path:
    """A suite with two sessions that are marked as evals, committed."""
    root = tmp_path / "project"
    make_eval(root)
    write_files(root, {"models.yaml": models_yaml(stub.url), ".env": "STUB_KEY=key", ".gitignore": ".env\n.cache\n"})
    write_files(root, {"guidelines/convex.md": "# Convex guidelines\n\nUse a Blob.\n"})
    assert (
        invoke("sessions", "import", "--from", "openai", write_chats(tmp_path / "chats.jsonl", CHATS), cwd=root).status
        == 0
    )
    label(root, invoke, "--ready")
    make_git_repo(root)
    return root


def label(root: Path, invoke: Invoke, *words: str, of: Sequence[str] | None = None) -> None:
    command = "mark" if words[0] in ("--ready", "--not-ready") else "label"
    done = invoke("sessions", command, *(of or SessionStore(root).ids()), *words, cwd=root)
    assert done.status == 0, done.err


def by_request(root: Path) -> dict[str, str]:
    """The ids of the sessions, by their first words."""
    store = SessionStore(root)
    return {next(store.messages(session_id)).text.split()[0]: session_id for session_id in store.ids()}


@pytest.fixture
def ask(project: Path, invoke: Invoke) -> Callable[..., Result]:
    return lambda *words: invoke("run", "--sessions", "-m", "stub/model", *words, cwd=project)


def runs(root: Path) -> list[Run]:
    return list(RunStore(root / "session-runs").all())


def outcomes(run: Run) -> dict[str, tuple[Outcome, float]]:
    found = {e: run.grade(e).trials[0].verdict for e in run.plan.evals}
    return {e.rpartition("/")[2]: (verdict.outcome, round(verdict.score, 2)) for e, verdict in found.items()}


def sent(stub: Provider) -> list[list[tuple[str, str]]]:
    return sorted([[(m["role"], m["content"]) for m in body["messages"]] for body in stub.requests])


def test_conversations_are_sent_as_they_were_and_replies_compared(
    ask: Callable[..., Result], project: Path, stub: Provider
) -> None:
    done = ask()
    assert done.status == 0, done.err
    assert sent(stub) == [
        [("user", "How do I store a file?")],
        [("user", "What is Convex?"), ("assistant", "A reactive database."), ("user", "Does it have crons?")],
    ]
    [run] = runs(project)
    assert run.plan.experiment == "no_guidelines" and run.plan.backend is None and not (project / "runs").exists()
    ids = by_request(project)
    assert outcomes(run) == {ids["What"]: (Outcome.PASSED, 0.89), ids["How"]: (Outcome.FAILED, 0.12)}
    assert "Similarity: 0.50 on average, 0.75 is a pass." in done.out


def test_nothing_is_paid_twice_whatever_decides(ask: Callable[..., Result], project: Path, stub: Provider) -> None:
    assert ask("--budget", "1").status == 0
    assert ask("--budget", "1").status == 0 and len(runs(project)) == 1
    assert ask("--compare", "exact").status == 0 and len(runs(project)) == 2
    done = ask("--threshold", "0.1", "--fail-on-failure", "--json")
    assert done.status == 0 and len(stub.requests) == 2
    [row] = json.loads(done.out)
    assert row["summary"]["counts"]["passed"] == 2 and row["summary"]["reused"] == 2
    assert ask("--compare", "exact", "--fail-on-failure").status == 4


def test_a_budget_that_is_used_up_is_resumed(ask: Callable[..., Result], project: Path, stub: Provider) -> None:
    done = ask("--budget", "0.011")  # of a reply at most 0.0101 and little more
    assert done.status == 6 and "1 trial was not asked: each may cost up to $" in done.err
    assert ask("--budget", "1").status == 0
    assert len(stub.requests) == 2 and len(runs(project)) == 1 and runs(project)[0].is_complete


def test_which_sessions_are_asked(ask: Callable[..., Result], project: Path, invoke: Invoke, stub: Provider) -> None:
    ids = by_request(project)
    label(project, invoke, "--status", "golden", "--tag", "files", of=[ids["How"]])
    for words in (("--status", "golden"), ("--tag", "files"), ("-f", ids["How"][:8]), ("-f", f"!{ids['What']}")):
        assert ask(*words, "--fresh").status == 0
    assert sent(stub) == [[("user", "How do I store a file?")]] * 4
    label(project, invoke, "--not-ready", of=[ids["How"]])
    done = ask("--status", "golden", "--tag", "files", "-f", "a", "-f", "!b")
    which = "no session that matches -f 'a' -f '!b' --status 'golden' --tag 'files' is marked as an eval"
    assert done.status == 1 and f"{which}; `cli sessions list --eval-ready`" in done.err
    broken = SessionStore(project).folder(ids["How"]) / RECORD
    broken.write_text("{", encoding="utf-8")
    done = ask("--status", "golden")
    assert done.status == 1 and f"{broken}:1: " in done.err and len(done.err.strip().splitlines()) == 1
    assert done.err.count("\n") == 1


def test_the_expected_output_of_a_label_is_what_counts(
    ask: Callable[..., Result], project: Path, invoke: Invoke, tmp_path: Path
) -> None:
    write_files(tmp_path, {"expected.md": "Yes, in convex/crons.ts!\n"})
    label(project, invoke, "--expected", str(tmp_path / "expected.md"), of=[by_request(project)["How"]])
    assert ask("--compare", "normalised").status == 0
    assert outcomes(runs(project)[0])[by_request(project)["How"]] == (Outcome.PASSED, 1.0)


def test_guidelines_are_given_where_an_experiment_says_so(ask: Callable[..., Result], stub: Provider) -> None:
    done = ask("-e", "default", "-e", "no_guidelines", "-f", "a|b|c|d|e|f", "--dry-run", "--json")
    assert [row["calls"] for row in json.loads(done.out)] == [2, 2]
    assert ask("-e", "default").status == 0
    assert all(messages[0] == ("system", "# Convex guidelines\n\nUse a Blob.") for messages in sent(stub))


def test_the_reference_passes_whatever_decides(project: Path, invoke: Invoke) -> None:
    for method in ("exact", "normalised", "similarity"):
        done = invoke("run", "--sessions", "-m", "reference", "--compare", method, "--fail-on-failure", cwd=project)
        assert done.status == 0, done.err


def test_what_cannot_be_asked_is_said_and_left_out(
    ask: Callable[..., Result], project: Path, invoke: Invoke, tmp_path: Path, stub: Provider
) -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://x/y.png"}}
    said = {"role": "user", "content": [{"type": "text", "text": "Look."}, picture]}
    more = [
        chat("Unanswered", id="unanswered"),
        {"id": "picture", "messages": [said, {"role": "assistant", "content": "A cat."}]},
    ]
    file = write_chats(tmp_path / "more.jsonl", more)
    assert invoke("sessions", "import", "--from", "openai", file, cwd=project).status == 0
    label(project, invoke, "--ready")
    done = ask()
    assert done.status == 0 and len(runs(project)[0].plan.evals) == 3
    assert "its last request was not answered in words; `cli sessions label" in done.err
    assert "1 session with images or files, which are left out" in done.err


def test_a_planned_run_is_resumed_as_it_was_planned(
    ask: Callable[..., Result], project: Path, invoke: Invoke, stub: Provider
) -> None:
    plan = invoke("plan", "--sessions", "-m", "stub/model", "--threshold", "0.1", cwd=project)
    assert plan.status == 0 and stub.requests == []
    [run] = runs(project)
    assert f"cli run --run {run.plan.run_id} --sessions" in plan.out
    assert invoke("run", "--sessions", "--run", run.plan.run_id, "--only", "ask", cwd=project).status == 0
    assert invoke("run", "--run", run.plan.run_id, "--only", "grade", cwd=project).status == 0, "found without a flag"
    assert {outcome for outcome, _ in outcomes(run).values()} == {Outcome.PASSED} and run.is_complete
    changed = invoke("plan", "--sessions", "-m", "stub/model", "--fresh", cwd=project)
    assert changed.status == 0
    newest = runs(project)[0] if runs(project)[0].folder != run.folder else runs(project)[1]
    write_files(project, {"expected.md": "Something else.\n"})
    label(project, invoke, "--expected", str(project / "expected.md"), of=[by_request(project)["How"]])
    other = invoke("run", "--run", newest.plan.run_id, "-m", "reference", cwd=project)
    assert other.status == 1 and "was planned for stub/model, not for -m reference" in other.err
    refused = invoke("run", "--run", newest.plan.run_id, "--sessions", cwd=project)
    assert refused.status == 1 and "has changed); restore them from Git" in refused.err


def test_runs_of_sessions_are_looked_at_as_others_are(
    ask: Callable[..., Result], project: Path, invoke: Invoke, stub: Provider
) -> None:
    assert ask().status == 0
    stub.reply = "Call storage.store with a Blob, please."
    assert ask("--fresh").status == 0
    after, before = sorted(runs(project), key=lambda run: outcomes(run)[by_request(project)["How"]][0])[::-1]
    first, second = before.plan.run_id, after.plan.run_id

    def look(*words: str) -> Any:
        done = invoke(*words, cwd=project)
        assert done.status == 0, (words, done.err)
        return done.out

    compared = json.loads(look("compare", first, second, "--json"))
    assert compared["a"] and compared["b"]
    shown = look("show", first, "sessions/" + by_request(project)["What"])
    for part in ("## User\n\nWhat is Convex?", "-Yes, in convex/crons.ts.\n+Yes, in convex/crons.ts!"):
        assert part in shown
    assert json.loads(look("status", first, "--json"))["complete"]
    assert "Comparison" in look("report", first, "-o", "report.md") + (project / "report.md").read_text()
    rows = json.loads(look("export", first, "--format", "deepeval"))
    assert {row["expected_output"] for row in rows} == {"Yes, in convex/crons.ts.", "Call storage.store with a Blob."}
    board = look("leaderboard", "--runs-dir", "session-runs")
    assert "stub/model" in board and "2 sessions, no guidelines" in board
    assert look("list").startswith("No runs in "), "they are not among the runs of evals"


def test_what_is_of_evals_alone_refuses_them(ask: Callable[..., Result], project: Path, invoke: Invoke) -> None:
    assert ask().status == 0
    name = runs(project)[0].plan.run_id
    for words, said in (
        (("regrade", name), "is a run of sessions; `cli run --sessions -m stub/model` compares its replies again"),
        (("benchmark", "mint", "b", "--from", name), "is a run of sessions, and benchmarks are of evals"),
        (("open", name), "has pages of its own; add --runs-dir session-runs"),
    ):
        done = invoke(*words, cwd=project)
        assert done.status == 1 and said in done.err, (words, done)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--status", "golden"], "--status: only with --sessions"),
        (["--threshold", "0.5", "--compare", "similarity"], "--compare, --threshold: only with --sessions"),
        (["--sessions", "-c", "queries"], "choose sessions with --status, --tag and -f"),
        (["--sessions", "--compare", "exact", "--threshold", "1"], "--threshold needs --compare similarity, not exact"),
        (["--sessions", "--threshold", "2"], "--threshold 2: use a number from 0 to 1"),
        (["--sessions", "--due"], "leave out --model, --sessions"),
    ],
)
def test_options_that_do_not_fit(project: Path, invoke: Invoke, words: list[str], said: str) -> None:
    done = invoke("run", "-m", "reference", *words, cwd=project)
    assert done.status == 2 and said in done.err


def test_only_the_reference_stands_in(project: Path, invoke: Invoke) -> None:
    done = invoke("run", "--sessions", "-m", "demo", cwd=project)
    assert done.status == 1 and "-m demo/recorded: has no replies to sessions; give a model, or `reference`" in done.err


def test_a_broken_filter_is_said(ask: Callable[..., Result]) -> None:
    done = ask("-f", "(")
    assert done.status == 1 and "-f '(': not a regular expression" in done.err
