"""What commands say, on terminals of 80 and of 120 columns: the real output, compared with golden files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from convex_evals.records import StepName
from convex_evals.text import JOINER
from tests.factories import GRADER, edit_json, grade_again, make_eval, make_failure, make_run, write_files
from tests.provider import Provider, models_yaml, serve
from tests.terminal import shown
from tests.wire import question

Golden = Callable[[str, str], None]
Same = Callable[..., None]
ANSWER, MORE, FIRST = "000-fundamentals/000-answer", "000-fundamentals/001-more", "001-queries/000-first"
EVALS = (ANSWER, MORE, FIRST)
# What differs from one time to the next, as wide as it was.
_VARYING = (
    (re.compile(r" *\d+\.\d(?= s|\s|$)", re.MULTILINE), "0.0"),
    (re.compile(r"\d+(?= s of )"), "0"),
    (re.compile(r"(?<=default-)[0-9a-f]{8}"), "#" * 8),
    (re.compile(r"20\d\d-\d\d-\d\d(?=/default-)"), "2026-01-31"),
)
needs_toolchain = [pytest.mark.full, pytest.mark.grading, pytest.mark.usefixtures("toolchain")]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for eval_id in EVALS:
        make_eval(tmp_path, eval_id)
    return tmp_path


@pytest.fixture
def runs(suite: Path) -> Path:
    return suite / "runs"


@pytest.fixture(params=[80, 120])
def same(request: pytest.FixtureRequest, tmp_path: Path, golden: Golden) -> Same:
    """Holds a command's output, and what it complains of, against the golden file of this width."""
    width = request.param

    def check(name: str, *arguments: str, status: int = 0, varying: bool = False) -> None:
        out, complaints = shown(tmp_path, *arguments, width=width, status=status)
        if varying:
            for pattern, usual in _VARYING:
                out = pattern.sub(lambda m, usual=usual: usual.rjust(len(m[0])), out)  # type: ignore[misc]
            # In the order in which they end.
            complaints = "".join(sorted(re.sub(r"\d+\.\ds", "0.0s", complaints).splitlines(keepends=True)))
        golden(f"messages/{name}-{width}.txt", (out + complaints).replace(str(tmp_path), "DIR"))

    return check


def test_a_run_id_copied_from_markdown_is_found(runs: Path, same: Same) -> None:
    make_run(runs, {ANSWER: "p"}, run_id="default-0123abcd")
    same("copied-id", "status", JOINER.join(["default-", "0123abcd"]))


def test_headlines_skip_lead_ins(runs: Path, same: Same) -> None:
    lead_in = "Hit an error while pushing:\nLoading the pushed modules encountered the following\n    error:\n"
    cause = "Failed to analyze main.js: Uncaught Error: the key of the weather service is not set in this deployment"
    failed = make_failure({"deploy": f"{lead_in}{cause}\n    at load (../convex/main.ts:5:7)"})
    make_run(runs, {ANSWER: "f", MORE: "p"}, failures={ANSWER: failed})
    same("headline", "show", "last")


def test_trials_are_numbered(runs: Path, same: Same) -> None:
    failed = make_failure({"tests": "1 of 2 tests failed"}, {"answers": "expected 41 to be 42", "is fast": None})
    make_run(runs, {ANSWER: "pff", MORE: "u", FIRST: "ppp"}, failures={ANSWER: failed})
    same("show", "show", "last")


@pytest.fixture
def several(runs: Path) -> None:
    for n, (model, experiment) in enumerate([("acme/one", "default"), ("acme/one", "no_guidelines"), ("b/two", "old")]):
        make_run(runs, {ANSWER: "p", MORE: "f"}, model=model, experiment=experiment, run_id=f"run-{n}")


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize(
    ("name", "options"),
    [("list", []), ("list-model", ["-m", "one"]), ("list-none", ["-m", "two", "-e", "default"])],
)
def test_list_filters(name: str, options: list[str], same: Same) -> None:
    same(name, "list", *options)


@pytest.mark.usefixtures("several")
def test_list_names_what_is_not_known(same: Same) -> None:
    same("list-unknown", "list", "-m", "onee", status=1)


def test_status_shows_all_unfinished_runs(runs: Path, same: Same) -> None:
    for n, day in enumerate(("2026-01-28", "2026-01-29")):
        make_run(runs, {ANSWER: "p", MORE: ""}, complete=False, run_id=f"early-{n}", date=day)
    make_run(runs, {ANSWER: "p", MORE: ""}, complete=False, model="replay/a", run_id="replayed", date="2026-01-27")
    make_run(runs, {ANSWER: "p"}, run_id="whole", date="2026-01-30")
    same("status", "status")


def test_status_says_of_a_run_what_is_wrong_with_it(suite: Path, runs: Path, same: Same) -> None:
    make_run(runs, {ANSWER: "p", MORE: ""}, complete=False, run_id="early", date="2026-01-26")
    gone = make_run(runs, {ANSWER: "p", FIRST: ""}, complete=False, run_id="gone", date="2026-01-27")
    other = make_run(runs, {ANSWER: "p"}, run_id="other", date="2026-01-28")
    make_run(runs, {ANSWER: "p"}, run_id="whole", date="2026-01-29")
    newer = make_run(runs, {ANSWER: "p"}, run_id="newer", date="2026-01-30")
    shutil.rmtree(suite / "evals" / FIRST)
    edit_json(other.folder / "summary.json", missing=[FIRST])
    edit_json(newer.folder / "run.json", schema=2)
    same("status-problems", "status")
    same("status-gone", "status", gone.plan.run_id)
    same("status-newer", "status", "newer", status=1)


def test_list_leaves_out_runs_of_a_newer_format(runs: Path, same: Same) -> None:
    for n in range(3):
        made = make_run(runs, {ANSWER: "p"}, run_id=f"run-{n}", model=f"acme/model-{n}")
        if n:
            edit_json(made.folder / ("run.json" if n == 1 else "summary.json"), schema=2)
    same("list-newer", "list", status=1)
    same("list-newer-model", "list", "-m", "model-0", status=1)


@pytest.mark.parametrize("done", ["", "p"])
def test_one_is_no_plural(done: str, runs: Path, same: Same) -> None:
    make_run(runs, {ANSWER: done}, complete=bool(done), trials=1)
    same(f"one-eval-{'done' if done else 'begun'}", "status")


def test_compare_uses_the_verdicts_that_count(runs: Path, same: Same) -> None:
    rows = {ANSWER: "ff", MORE: "ff"}
    one = make_run(runs, rows, run_id="before")
    make_run(runs, {ANSWER: "pf", MORE: "pp"}, run_id="after", model="acme/model-2")
    grade_again(one, "8" * 64, flip=True)
    same("compare-regraded", "compare", "before", "after")


def test_completion_is_installed(suite: Path, same: Same, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(suite))
    same("completion", "completion", "install", "bash")


def test_an_eval_without_a_task_is_not_graded(suite: Path, same: Same) -> None:
    write_files(suite / "evals" / ANSWER, {"TASK.txt": " \n"})
    same("validate-no-task", "validate", "-f", "000-answer", status=4)


class TestWithTheToolchain:
    """Commands that grade, and ask a provider."""

    pytestmark = needs_toolchain

    @pytest.fixture
    def stub(self, suite: Path) -> Iterator[Provider]:
        """Nothing of its replies gets past the first step, so grading costs no time."""
        with serve(Provider(reply="There is nothing to write.\n" * 20)) as provider:
            first = models_yaml(provider.url)
            second = first.partition("\n")[2].replace("stub/model", "stub/other")
            files = {"models.yaml": first + second, "guidelines/convex.md": "Be brief.\n", ".env": "STUB_KEY=key-1234"}
            write_files(suite, files)
            write_files(suite / "evals" / MORE, {"TASK.txt": "Task 1.\n"})
            yield provider

    def test_what_is_off_in_a_suite(self, suite: Path, same: Same) -> None:
        broken = GRADER.replace("toBe(42)", "toBe(42 as Answer)")
        write_files(suite / "evals" / ANSWER, {"grader.test.ts": broken})
        write_files(suite / "evals" / MORE, {"TASK.txt": "\n"})
        reason = {"reason.txt": f"Another number.\ncaught by: {StepName.TESTS}"}
        write_files(suite / "evals" / FIRST / "wrong" / "other-number", reason)
        same("validate", "validate", "--no-foils", status=4, varying=True)

    def test_one_line_resumes_all_runs(self, stub: Provider, same: Same) -> None:
        stub.behave = lambda n, body: "context" if "Task 1" in question(body) else "ok"
        # One request at a time: a sum of ten seconds would need a wider column.
        words = ("-m", "model", "-m", "other", "--trials", "2", "--workers", "1", "--concurrency", "1")
        same("run", "run", *words, status=6, varying=True)
