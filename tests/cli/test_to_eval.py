"""`cli sessions to-eval`: drafts of five agents' sessions, and what a person makes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from convex_evals.sessions.store import SessionStore
from convex_evals.suite.extract import render_response
from convex_evals.suite.suite import Eval, load_suite
from tests.conftest import Invoke, Result
from tests.factories import make_eval, write_files
from tests.provider import Provider, models_yaml, serve
from tests.sessions.chats import chat, write_chats
from tests.sessions.drafted import CASES, Case

NAME = "007-agents/000-drafted"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    make_eval(tmp_path / "suite")
    return tmp_path / "suite"


def imported(suite: Path, invoke: Invoke, agent: str, file: Path) -> str:
    """The id of the only session."""
    done = invoke("sessions", "import", "--from", agent, file, cwd=suite)
    assert done.status == 0, done.err
    [session_id] = SessionStore(suite).ids()
    return session_id


def drafted(suite: Path, invoke: Invoke, case: Case) -> Eval:
    session_id = imported(suite, invoke, case.agent, case.file)
    done = invoke("sessions", "to-eval", session_id[:6], "--name", NAME.replace("000-", ""), "--json", cwd=suite)
    assert done.status == 0, done.err
    data = json.loads(done.out)
    assert data["eval"] == NAME
    [found] = [each for each in load_suite(suite).evals if each.id == NAME]
    assert data["left_to_write"] == found.problems()
    files = {path.relative_to(found.path).as_posix() for path in found.path.rglob("*") if path.is_file()}
    assert set(data["files"]) == files
    return found


def finish(draft: Eval, case: Case) -> None:
    """What a person does: write over the drafted files, and none of the others."""
    write_files(draft.path, case.finish)


@pytest.mark.parametrize("make", CASES)
def test_a_draft_lists_what_a_person_has_to_write(
    make: Callable[[Path], Case], suite: Path, invoke: Invoke, tmp_path: Path
) -> None:
    case = make(tmp_path / "raw")
    draft = drafted(suite, invoke, case)
    left = draft.problems()
    assert [line for line in left if "TASK.txt:1: make a task" in line and ", message " in line]
    assert [line for line in left if "eval.yaml:1: write `concept:`" in line]
    assert [line for line in left if "grader.test.ts:" in line and "must return" in line]
    assert bool(draft.wrong()) == any("reason.txt:1: say which one mistake" in line for line in left)
    done = invoke("validate", "-f", draft.id, "--json", cwd=suite)
    assert done.status == 4
    assert json.loads(done.out)["complaints"] == [f"{NAME}: cannot be graded: {line}" for line in left]
    refused = invoke("run", "-m", "answers", "-f", draft.id, cwd=suite)
    assert refused.status == 1 and "TASK.txt:1" in refused.err
    finish(draft, case)
    assert draft.problems() == []


@pytest.mark.grading
@pytest.mark.full
@pytest.mark.parametrize("make", CASES)
def test_a_finished_draft_validates(make: Callable[[Path], Case], suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    case = make(tmp_path / "raw")
    draft = drafted(suite, invoke, case)
    finish(draft, case)
    assert invoke("codegen", "-f", draft.id, cwd=suite).status == 0
    done = invoke("validate", "-f", draft.id, "--json", cwd=suite)
    data = json.loads(done.out)
    assert data["complaints"] == [] and done.status == 0
    assert {each["project"].partition("/")[0] for each in data["projects"]} >= {"answer", "wrong"}


def test_the_name_is_made_of_the_title(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    said = "`convex/a.ts`:\n\n```ts\nexport const a = 1;\n```\n"
    file = write_chats(tmp_path / "chats.jsonl", [chat("Write  Ünïcode & a very long request " + "word " * 40, said)])
    session_id = imported(suite, invoke, "openai", file)
    done = invoke("sessions", "to-eval", session_id, cwd=suite)
    assert done.status == 0, done.err
    assert "001-sessions/000-write_n_code_a_very_long_request_word" in done.out
    assert "Left for you to write:\n  TASK.txt:1: make a task" in done.out
    again = invoke("sessions", "to-eval", session_id, cwd=suite)
    assert "001-sessions/001-write_n_code_a_very_long_request_word_2" in again.out
    named = invoke(
        "sessions", "to-eval", session_id, "--name", "sessions/write_n_code_a_very_long_request_word", cwd=suite
    )
    assert named.status == 1 and "already exists; choose another name" in named.err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--name", "fundamentals"], 2, "give CATEGORY/NAME"),
        (["--name", "nothing/x"], 1, "no such category"),
        (["--name", "fundamentals/Not a name"], 1, "lower-case words"),
        ([], 1, "no file below a folder convex/ is written or shown"),
    ],
)
def test_what_cannot_be_drafted_is_said(
    suite: Path, invoke: Invoke, tmp_path: Path, words: list[str], status: int, said: str
) -> None:
    file = write_chats(tmp_path / "chats.jsonl", [chat("What is Convex?", "A database.")])
    session_id = imported(suite, invoke, "openai", file)
    done = invoke("sessions", "to-eval", session_id, *words, cwd=suite)
    assert done.status == status and said in done.err
    assert [each.id for each in load_suite(suite).evals] == ["000-fundamentals/000-answer"]


WRITTEN = {
    "TASK.txt": "The task.\nDRAFT 3fa1c2d4#1: not for a model to say\nIts end.\n",
    "grader.test.ts": 'import { test } from "vitest";\ntest("x", () => {});\n',
    "eval.yaml": "concept: One thing.\n",
    "wrong/no-blob/convex/files.ts": "export const a = 1;\n",
    "wrong/no-blob/reason.txt": "No blob.\ncaught by: tests\n",
    "wrong/without-a-reason/convex/files.ts": "export const b = 1;\n",
    "accept/other-way/convex/files.ts": "export const c = 1;\n",
    "answer/convex/files.ts": "export const d = 1;\n",
    "wrong/../../x.ts": "out",
    "../x.ts": "out",
    "wrong/a/.git/config": "out",
    "package.json": "{}",
}


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider(reply=render_response(WRITTEN))) as provider:
        yield provider


@pytest.fixture
def asked(suite: Path, invoke: Invoke, stub: Provider, tmp_path: Path) -> Callable[..., Result]:
    """`to-eval` of the codex session, by the model of the stub."""
    write_files(suite, {"models.yaml": models_yaml(stub.url), ".env": "STUB_KEY=key"})
    case = CASES[1](tmp_path / "raw")
    session_id = imported(suite, invoke, case.agent, case.file)

    def run(*words: str, budget: str = "5") -> Result:
        model = ("--with", "stub/model", "--budget", budget)
        return invoke(
            "sessions", "to-eval", session_id, *(words or ("--name", "007-agents/drafted")), *model, cwd=suite
        )

    return run


def test_a_model_drafts_what_a_person_has_to_read(asked: Callable[..., Result], suite: Path, stub: Provider) -> None:
    done = asked()
    assert done.status == 0, done.err
    assert re.search(r"^Drafted 13 files for \$0\.\d{4} in ", done.out)
    [draft] = [each for each in load_suite(suite).evals if each.id == NAME]
    marked = [line for line in draft.problems() if "stub/model wrote this; read and correct it" in line]
    assert {line.partition(":")[0].rpartition("/")[2] for line in marked} == {
        *("TASK.txt", "eval.yaml", "grader.test.ts", "reason.txt")
    }
    assert draft.task.partition("\n")[2] == "The task.\nIts end.\n"
    assert {each.label for each in draft.wrong()} == {
        "wrong/before-message-5",
        "wrong/no-blob",
        "wrong/without-a-reason",
    }
    assert {each.label for each in draft.accept()} == {"accept/other-way"}
    assert "Blob" in draft.answer().files["convex/files.ts"], "it is the session's"
    outside = [path for path in suite.rglob("*") if path.is_file() and path.read_bytes().strip() == b"out"]
    assert outside == [] and "stub/model also wrote ../x.ts, which was left out" in done.out
    [request] = stub.requests
    said = json.dumps(request)
    assert "files:save that stores a text" in said and "DRAFT" not in said


def test_the_same_request_is_paid_once(asked: Callable[..., Result], stub: Provider) -> None:
    first, again = (asked("--name", f"007-agents/{name}", "--json") for name in ("first", "again"))
    assert json.loads(first.out)["cost_usd"] == json.loads(again.out)["cost_usd"] > 0
    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("way", "budget", "said"),
    [
        ("ok", "0.0001", "of the budget are left"),
        ("auth", "5", "STUB_KEY"),
        ("truncated", "5", "nothing was written"),
    ],
)
def test_a_model_that_does_not_answer_leaves_nothing(
    asked: Callable[..., Result], suite: Path, stub: Provider, way: str, budget: str, said: str
) -> None:
    stub.behave = lambda n, body: way
    done = asked(budget=budget)
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert done.status == 1 and len(errors) == 1 and said in errors[0], done
    assert [each.id for each in load_suite(suite).evals] == ["000-fundamentals/000-answer"]


def test_a_reply_without_the_files_is_refused(asked: Callable[..., Result], suite: Path, stub: Provider) -> None:
    stub.reply = "# Files\n\n## README.md\n\n```\nx\n```\n"
    done = asked()
    assert done.status == 1 and "its reply has none of the files" in done.err
    assert [each.id for each in load_suite(suite).evals] == ["000-fundamentals/000-answer"]


def test_a_model_needs_a_budget(suite: Path, invoke: Invoke) -> None:
    for words in (["--with", "stub/model"], ["--budget", "1"]):
        done = invoke("sessions", "to-eval", "3fa1", *words, cwd=suite)
        assert done.status == 2 and "--with and --budget" in done.err
