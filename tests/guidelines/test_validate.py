"""`cli validate-guidelines`: two rounds of ordinary runs over HTTP, and a verdict from the second one alone."""

from __future__ import annotations

import io
import itertools
import json
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from convex_evals.guidelines.hunks import hunks
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.store.validations import validations
from tests import patience
from tests.commands import command, start
from tests.conftest import Invoke
from tests.factories import make_eval, make_git_repo, write_files
from tests.provider import Provider, models_yaml, serve
from tests.wire import question

pytestmark = [pytest.mark.full, pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

Golden = Callable[[str, str], None]
FILE = "guidelines/convex.md"
GRADER = """import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
test("the word is right", () => {
  expect(readFileSync(`${process.env.MODEL_OUTPUT_DIR}/word.ts`, "utf8")).toContain("right");
});
"""
REPLY = "# Files\n\n## package.json\n\n```json\n{}\n```\n\n## word.ts\n\n```ts\nexport const word = 'right';\n```\n"
ONE = """# Rules

- Be brief.
<!-- evals: 000-first/000-eval -->
- Count from one.

# Style

- Use tabs.
"""
TWO = ONE.replace("- Be brief.", "- Be brief: mended.").replace("- Use tabs.", "- Use tabs: broken.")
EVALS = ["000-first/000-eval", "000-first/001-eval", "001-second/000-eval", "001-second/001-eval"]


class Model:
    """Passes what the guidelines let it pass; eval 3 fails the first time that it is asked with new ones."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()

    def __call__(self, body: dict[str, Any]) -> str:
        text, task = json.dumps(body["messages"]), question(body)
        mended, broken = "mended" in text, "broken" in text
        side = f"{'mended ' * mended}{'broken' * broken}".strip() or "old"
        self.asked[side, task] += 1
        passes = {
            "Task 0.": mended,
            "Task 1.": not broken,
            "Task 2.": True,
            "Task 3.": side == "old" or self.asked[side, task] > 1,
        }
        # What has no files fails at the first step, so grading it costs no time.
        return REPLY if passes[task] else "There is nothing to write.\n"

    @property
    def total(self) -> int:
        return sum(self.asked.values())


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def stub(model: Model) -> Iterator[Provider]:
    with serve(Provider(answer=model)) as provider:
        yield provider


@pytest.fixture
def suite(tmp_path: Path, stub: Provider) -> Path:
    """Guidelines ONE committed, TWO in the working tree: it mends eval 0 and breaks eval 1."""
    for n, eval_id in enumerate(EVALS):
        files = {"TASK.txt": f"Task {n}.\n", "eval.yaml": "pipeline: static\n", "grader.test.ts": GRADER}
        make_eval(tmp_path, eval_id, files)
    ignored = {
        ".gitignore": "runs\n.cache\n.env\n",
        ".env": "STUB_KEY=key\n",
        "models.yaml": models_yaml(stub.url),
    }
    make_git_repo(write_files(tmp_path, {FILE: ONE, **ignored}))
    return write_files(tmp_path, {FILE: TWO})


WORDS = ["-m", "model", "--trials", "1", "--confirm", "5"]


def cli(suite: Path, *arguments: str, status: int = 0) -> tuple[str, str]:
    done = command(suite, "validate-guidelines", *arguments)
    assert done.returncode == status, done.stderr + done.stdout
    return done.stdout, done.stderr


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def runs_of(suite: Path) -> dict[bool, list[Run]]:
    """By whether they confirm."""
    found: dict[bool, list[Run]] = {False: [], True: []}
    store = RunStore(suite / "runs")
    assert not list(store.all()), "no list of runs has them"
    for run in (run for folder in validations(store) for run in folder.runs()):
        found[run.plan.fresh].append(run)
    return found


def ids(runs: list[Run]) -> set[str]:
    return {g.generation_id for run in runs for e in run.plan.evals for g in run.generation(e).trials}


def settled(text: str) -> str:
    """Without what another repository and another day name otherwise."""
    text = re.sub(r"(default|confirm)-[0-9a-f]{8,12}\b", r"\1-ID", text)
    return re.sub(r"\b[0-9a-f]{7}\b|\b[0-9a-f]{40}\b", "COMMIT", text)


def test_what_flips_is_asked_again_and_only_that_counts(
    suite: Path, stub: Provider, model: Model, golden: Golden, invoke: Invoke
) -> None:
    out, err = cli(suite, "HEAD", *WORDS, "-y", "--fail-on-regression", status=4)
    assert "Screening: 8 calls, usually $" in err and "Flipped, to be asked again: 3 evals. 30 calls, usually $" in err
    assert model.total == 8 + 30
    golden("validate-guidelines.txt", settled(out))

    # The screening decides what is asked again; none of its replies is among those that confirm.
    runs = runs_of(suite)
    # Both sides of each round are runs of one trial: several of one run would be more alike than they seem.
    assert len(runs[False]) == 2 and len(runs[True]) == 2 * 5
    assert all(run.is_complete for run in runs[False] + runs[True]) and {r.plan.trials for r in runs[True]} == {1}
    rounds = [[run for run in runs[True] if run.plan.run_id.endswith(f"-{n:02}")] for n in range(1, 6)]
    for one, following in itertools.pairwise(rounds):
        ended = max((run.folder / "summary.json").stat().st_mtime_ns for run in one)
        assert ended <= min(p.stat().st_mtime_ns for run in following for p in run.folder.rglob("generation.json"))
    assert len(ids(runs[False])) == 8 and len(ids(runs[True])) == 30 and not ids(runs[False]) & ids(runs[True])
    assert {tuple(run.plan.evals) for run in runs[True]} == {(EVALS[0], EVALS[1], EVALS[3])}

    # The same command again asks nobody, not even the user.
    again, err = cli(suite, "HEAD", *WORDS, "--format", "json")
    assert model.total == 38 and "calls" not in err
    found = json.loads(again)
    golden("validate-guidelines.json", settled(again))
    (own,) = found["models"]
    assert own["verdict"] == "mixed" and found["regressed"]
    assert {e["eval"]: (e["a_passed"], e["b_passed"], e["confirmed"]) for e in own["evals"]} == {
        EVALS[0]: (0, 5, "improved"),
        EVALS[1]: (5, 0, "regressed"),
        EVALS[3]: (5, 5, None),
    }
    markdown, _ = cli(suite, "HEAD", *WORDS, "--format", "markdown")
    golden("validate-guidelines.md", settled(markdown))
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    assert html.count("<table>") == 2 and html.count("<details>") == html.count("</details>") == 1

    # More trials of the screening are another screening, which has replies of the confirmation: that is made anew.
    cli(suite, "HEAD", "-m", "model", "--trials", "5", "--confirm", "5", "-f", "first/000", "-y")
    seen = [run for run in runs_of(suite)[False] if run.plan.trials == 5]
    new = [run for run in runs_of(suite)[True] if run.folder not in {r.folder for r in runs[True]}]
    assert len(seen) == 2 and len(new) == 10 and ids(seen) & ids(runs[True]) and not ids(seen) & ids(new)
    total = model.total
    cli(suite, "HEAD", "-m", "model", "--trials", "5", "--confirm", "5", "-f", "first/000")
    assert model.total == total, "a run that confirms is never taken for the screening of as many trials"


def given(stub: Provider) -> Counter[str]:
    """By what requests were given: no guidelines, those of HEAD, or those of the working tree."""
    texts = [json.dumps(body["messages"]) for body in stub.requests]
    return Counter("none" if "Be brief" not in text else "new" if "mended" in text else "old" for text in texts)


def test_none_is_no_guidelines_at_all(suite: Path, stub: Provider, model: Model, golden: Golden) -> None:
    """Models are asked as `no_guidelines` asks them, and all else is as for any change."""
    dry, _ = cli(suite, "none", *WORDS, "--dry-run")
    assert dry.startswith("Screening: 8 calls, usually $") and model.total == 0
    out, _ = cli(suite, "none", *WORDS, "-y", "--fail-on-regression", status=4)
    assert given(stub) == {"none": 4 + 15, "new": 4 + 15}
    golden("validate-guidelines-none.txt", settled(out))
    experiments = {(r.plan.experiment, r.plan.guidelines) for own in runs_of(suite).values() for r in own}
    assert experiments == {("no_guidelines", None), ("default", FILE)}

    # The same command again asks for nothing, and neither does a run without guidelines: its prompts are the same.
    found = json.loads(cli(suite, "none", *WORDS, "--json")[0])
    markdown, _ = cli(suite, "none..", *WORDS, "--format", "markdown")
    assert command(suite, "run", "-m", "model", "-e", "no_guidelines").returncode == 0
    assert model.total == 38 and found["models"][0]["verdict"] == "mixed"
    nothing = {"commit": None, "path": None, "exists": False, "guidelines_sha256": None, "tokens": 0}
    assert found["before"] == {"revision": "none", **nothing} and found["rules"] == found["sections"] == []
    assert f"\n`{FILE}`, no guidelines → `working tree` · experiment `default`\n" in markdown
    assert markdown.endswith("#### Rules: all 3 added.\n")

    write_files(suite, {".gitignore": ".cache\n.env\n"})
    git(suite, "config", "user.name", "Test")
    git(suite, "config", "user.email", "test@example.org")
    assert "Committed to main" in cli(suite, "none", *WORDS, "--commit")[0]
    subject = git(suite, "log", "-1", "--format=%s")
    assert re.fullmatch(r"chore\(runs\): validate guidelines none\.\.[0-9a-f]{8}, stub/model: mixed", subject)

    # What was found is on record, and `diff-guidelines` shows it.
    (record,) = [folder.read() for folder in validations(RunStore(suite / "runs"))]
    assert record and record.before.guidelines is None and record.before.guidelines_sha256 is None
    assert record.after.guidelines == FILE and record.experiment == "default"
    shown = json.loads(command(suite, "diff-guidelines", "none", "--json").stdout)
    assert [(c["model"], c["verdict"]) for c in shown["confirmed"]] == [("stub/model", "mixed")]

    # What was asked without guidelines is used again, on whichever side it stands.
    back, _ = cli(suite, "HEAD", "none", *WORDS, "--dry-run")
    assert back.startswith("Screening: 4 calls, ")
    cli(suite, "HEAD", "none", *WORDS, "-y")
    assert given(stub) == {"none": 4 + 15, "new": 4 + 15, "old": 4}


@pytest.mark.parametrize("base", ["HEAD", "none"])
def test_asking_and_grading_by_different_machines(base: str, suite: Path, model: Model, tmp_path_factory: Any) -> None:
    """Each gets the files of the repository, and what the one before it handed over."""
    words, before = [base, *WORDS, "-y", "--budget", "5", "--only"], suite
    asked = []
    for stage in ("ask", "grade", "ask", "grade"):
        machine = tmp_path_factory.mktemp(stage)
        shutil.copytree(suite, machine, dirs_exist_ok=True, ignore=shutil.ignore_patterns("runs", ".cache", ".env"))
        if stage == "ask":
            shutil.copy(suite / ".env", machine)
            taken = ["--from", str(before)] if before != suite else []
        else:
            for name in ("runs", ".cache"):
                shutil.copytree(before / name, machine / name)
            taken = []
        out, err = cli(machine, *words, stage, *taken)
        asked.append(model.total)
        before = machine
        assert bool(out) == (len(asked) == 4), err
    assert asked == [8, 8, 38, 38]
    assert "mixed" in out and EVALS[1] in out
    # Whoever commits takes in results and plans, executes nothing, and finds the same.
    (suite / ".env").unlink()
    again, _ = cli(suite, *words, "conclude", "--from", str(before))
    assert settled(again) == settled(out) and model.total == 38


def test_what_got_no_reply_is_told_by_who_asks(suite: Path, stub: Provider) -> None:
    """And by its exit code: a workflow must not think that all was asked."""
    stub.behave = lambda n, body: "context" if "Task 0." in json.dumps(body) else "ok"
    _, err = cli(suite, "HEAD", *WORDS, "-y", "--only", "ask", status=6)
    assert "incomplete: 2 of 8 trials have no reply (2 x context_overflow)" in err
    assert "the rest is for the same command with --only grade" in err


def test_each_hunk_alone(suite: Path, model: Model, golden: Golden) -> None:
    out, _ = cli(suite, "HEAD", *WORDS, "--each-hunk", "-y", "-c", "first")
    golden("validate-guidelines-hunks.txt", settled(out))
    total = model.total
    found = json.loads(cli(suite, "HEAD", *WORDS, "--each-hunk", "-c", "first", "--json")[0])
    assert model.total == total
    verdicts = [(h["rules"], h["models"][0]["verdict"]) for h in found["hunks"]]
    assert verdicts == [
        ("changed line 3: Be brief: mended.", "improved"),
        ("changed line 9: Use tabs: broken.", "regressed"),
    ]
    sides = {run.plan.guidelines for own in runs_of(suite).values() for run in own}
    assert len(list((suite / "runs").glob("*/*/*/*"))) == 1, "hunks have no folder of their own"
    assert sum(str(where).startswith(".cache/convex-evals/hunks/") for where in sides) == 2


def test_a_dry_run_prices_the_screening_and_asks_nobody(suite: Path, model: Model) -> None:
    out, err = cli(suite, "HEAD", *WORDS, "--dry-run", "--concurrency", "2", "--timeout", "60")
    assert out.startswith("Screening: 8 calls, usually $") and "Then, of evals that flip: 10 calls for each" in out
    assert err == "" and model.total == 0 and not (suite / "runs").exists()


def test_nothing_is_paid_without_agreement(suite: Path, model: Model) -> None:
    _, err = cli(suite, "HEAD", *WORDS, status=1)
    assert "error: cannot ask for confirmation without a terminal; give -y, and --budget for a limit" in err
    assert "Screening: 8 calls, usually $" in err and model.total == 0 and not (suite / "runs").exists()
    _, err = cli(suite, "HEAD", *WORDS, "-y", "--budget", "0.000001", status=6)
    assert "incomplete: 8 of 8 trials have no verdict (8 x not asked)" in err and model.total == 0
    cli(suite, "HEAD", *WORDS, "-y", "-c", "second", "--budget", "5")
    assert {task for _, task in model.asked} == {"Task 2.", "Task 3."}


def test_who_is_asked_may_refuse(suite: Path, model: Model, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convex_evals.cli.commands.validate_guidelines.on_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    result = invoke("validate-guidelines", "HEAD", *WORDS, cwd=suite)
    assert result.status == 130 and "Continue? [Y/n]" in result.err and result.out == ""
    assert "Then, of evals that flip: 10 calls for each; if all do, 40 calls, usually $" in result.err
    assert model.total == 0 and not (suite / "runs").exists()


@pytest.mark.parametrize("base", ["HEAD", "none"])
def test_interrupted_in_either_round_nothing_is_paid_twice(
    base: str, suite: Path, stub: Provider, model: Model
) -> None:
    stub.pause = 0.01
    for sent in (2, 4 + 5):
        process = start(suite, "validate-guidelines", base, *WORDS, "-y", "-c", "first")
        deadline = time.monotonic() + patience.seconds(60)
        while len(stub.requests) < sent and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=patience.seconds(60))
        assert process.returncode == 130 and "the same command resumes it" in err, err
    cli(suite, base, *WORDS, "-y", "-c", "first")
    assert len(stub.finished) == 4 + 20
    runs = runs_of(suite)
    assert len(runs[True]) == 10 and not ids(runs[False]) & ids(runs[True])


def test_a_model_without_a_scored_trial_is_one_line(suite: Path, stub: Provider) -> None:
    """Others are judged as if it had not been there."""
    listed = (suite / "models.yaml").read_text()
    more = listed.replace("models:\n", "").replace("stub/model", "stub/lost").replace("openai/model", "openai/lost")
    write_files(suite, {"models.yaml": listed + more})
    stub.behave = lambda n, body: "malformed" if body["model"] == "lost" else "ok"
    words = ["HEAD", *WORDS, "-m", "lost", "-f", "first/000", "-y"]
    for _ in range(3):
        out, _ = cli(suite, *words, status=6)
    assert out.count("stub/lost") == 1 and out.endswith("\nNo scored trial of: stub/lost (malformed)\n")
    assert "corrected for all" not in out and "\nstub/model: " in out
    markdown, _ = cli(suite, *words, "--format", "markdown", status=6)
    assert markdown.count("stub/lost") == 1 and "\n- **No scored trial of: stub/lost (malformed)**\n" in markdown
    assert markdown.splitlines()[0].endswith(" (1), ⚪ no scored trial (1)")
    assert [m["model"] for m in json.loads(cli(suite, *words, "--json", status=6)[0])["models"]] == [
        "stub/model",
        "stub/lost",
    ]


def test_what_cannot_be_validated(suite: Path, invoke: Invoke, model: Model) -> None:
    def says(*words: str) -> str:
        result = invoke("validate-guidelines", *words, cwd=suite)
        assert result.status == 1 and result.err.count("\n") == 1
        return result.err

    assert "-m reference: gets no guidelines; name a model of models.yaml" in says("HEAD", "-m", "reference", "-y")
    assert "no such model; did you mean 'model'?" in says("HEAD", "-m", "modle", "-y")
    assert "-m reference: gets no guidelines; name a model of models.yaml" in says("none", "-m", "reference", "-y")
    one_hunk = says("none", "-m", "model", "--each-hunk", "-y")
    assert one_hunk == "error: --each-hunk: against `none`, all guidelines are one hunk; leave it out\n"
    assert invoke("validate-guidelines", "HEAD", cwd=suite).status == 2
    write_files(suite, {FILE: ONE.replace("000-first/000-eval", "x/y")})
    # Whatever the texts.
    assert "-m reference: gets no guidelines; name a model of models.yaml" in says("HEAD", "-m", "reference", "-y")
    assert "no such model; did you mean 'model'?" in says("HEAD", "-m", "model", "-m", "modle", "-y")
    same = invoke("validate-guidelines", "HEAD", "-m", "model", "--each-hunk", cwd=suite)
    assert same.status == 0 and same.out.endswith("No change for models: comments alone changed.\n")
    markdown = invoke("validate-guidelines", "HEAD", "-m", "model", "--format", "markdown", cwd=suite).out
    assert markdown.startswith("### Guidelines: no change for models\n")
    (suite / FILE).unlink()
    assert f"{FILE}: not in working tree; name a revision that has it" in says("HEAD", "-m", "model")
    assert f"{FILE}: not in working tree; name a revision that has it" in says("none", "-m", "model")
    write_files(suite, {FILE: "<!-- Nothing yet. -->\n"})
    empty = invoke("validate-guidelines", "none", "-m", "model", cwd=suite)
    assert empty.status == 0 and empty.out.endswith("No change for models: the guidelines are empty.\n")
    assert model.total == 0


def test_hunks() -> None:
    first, second = hunks(ONE, TWO.replace("\n", "\r\n"))
    assert first.text == ONE.replace("brief.", "brief: mended.") and second.text == ONE.replace(
        "tabs.", "tabs: broken."
    )
    assert hunks(ONE, ONE.replace("000-first/000-eval", "000-first/001-eval")) == []
    (one,) = hunks(ONE, ONE.replace("- Be brief.\n", "- Be short.\n\n- And clear.\n"))
    assert [c.kind for c in one.diff.changes] == ["changed", "added"]
