"""What people look at: the table after a run, `cli status`, `history`, `leaderboard`, `show`."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convex_evals.analysis.totals import category_table
from convex_evals.config import EXPERIMENTS
from convex_evals.records import Outcome, StepName
from convex_evals.records.grading_inputs import grade_name
from convex_evals.records.hashes import sha256_files, sha256_text
from convex_evals.records.journal import JournalEntry
from convex_evals.render.plain import plain
from convex_evals.runs.options import repeat, resume
from convex_evals.runs.outcome import run_section
from convex_evals.stats import wilson
from convex_evals.store.journal import Journal
from convex_evals.store.records import write_record
from convex_evals.suite.suite import load_suite
from convex_evals.text import printable
from tests.conftest import Invoke
from tests.factories import grade_again, make_eval, make_generation, make_git_repo, make_plan, make_run, make_verdict

Golden = Callable[[str, str], None]
ESCAPE = "\x1b[2J\u202e"
ANSWER = "000-fundamentals/000-answer"
OTHERS = ("000-fundamentals/001-more", "001-queries/000-first", "001-queries/001-second")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for eval_id in (ANSWER, *OTHERS):
        make_eval(tmp_path, eval_id)
    return tmp_path


def evals(*rows: str) -> dict[str, str]:
    return dict(zip((ANSWER, *OTHERS), rows, strict=False))


@pytest.mark.parametrize(
    ("passed", "scored", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
    ],
)
def test_wilson_agrees_with_published_figures(passed: int, scored: int, low: float, high: float) -> None:
    # 81/263 and 15/148: Newcombe 1998, Statistics in Medicine 17, 857-872, table I.
    assert wilson(passed, scored) == pytest.approx((low, high), abs=5e-5)


def test_wilson_covers_what_it_says() -> None:
    assert wilson(0, 0) is None
    draw = random.Random(1)
    rates = [draw.uniform(0.05, 0.95) for _ in range(4_000)]
    held = 0
    for rate in rates:
        found = wilson(sum(draw.random() < rate for _ in range(40)), 40)
        assert found is not None and 0 <= found[0] < found[1] <= 1
        held += found[0] <= rate <= found[1]
    assert 0.935 < held / len(rates) < 0.965


def test_the_table_after_a_run(tmp_path: Path, golden: Golden, invoke: Invoke) -> None:
    run = make_run(tmp_path / "runs", evals("ppf", "ppp", "fuf", "uup"))
    make_eval(tmp_path)
    summary = run.summary()
    assert summary is not None
    golden("report.txt", plain(run_section(run, summary)).replace(str(tmp_path), "DIR") + "\n")
    assert plain(category_table(summary)) in invoke("show", "last").out
    shown = json.loads(invoke("show", "last", "--json").out)
    rates = shown["pass_rates"]
    low, high = rates["000-fundamentals"]["interval_these_evals"]
    assert (low, high) == pytest.approx(wilson(5, 6)) and rates["all"]["pass_rate"] == 6 / 9
    lower, higher = rates["000-fundamentals"]["interval"]
    assert (lower, higher) == pytest.approx(wilson(5 / 3, 2)), "two evals whose trials are alike tell no more"
    queries = summary.categories["001-queries"]
    assert queries.unscored == {"timeout": 3} and queries.usage.input_tokens == 6_000
    for name in ("cost_usd", "generation_ms", "grading_ms"):
        assert sum(getattr(c, name) for c in summary.categories.values()) == pytest.approx(getattr(summary, name))


def test_status_of_a_complete_run(suite: Path, invoke: Invoke, golden: Golden) -> None:
    make_run(suite / "runs", evals("p", "f", "p", "u"))
    result = invoke("status")
    golden("status-complete.txt", result.out)
    data = json.loads(invoke("status", "--json").out)
    assert data["complete"] and data["go_on"] == "cli run -m acme/model-1"


def test_status_of_an_interrupted_run(suite: Path, invoke: Invoke, golden: Golden) -> None:
    run = make_run(
        suite / "runs", evals("pf", "pp", "", ""), complete=False, experiment="no_guidelines", guidelines=None
    )
    journal = Journal(suite / ".cache" / "convex-evals" / "journal", run.plan)
    graded = JournalEntry(generation=make_generation(1), response="", verdict=make_verdict())
    lost = make_generation(2).model_copy(update={"received": False, "fault": "rate_limit"})
    journal.write(OTHERS[1], graded)
    journal.write(OTHERS[1], JournalEntry(generation=lost, response=None, verdict=make_verdict(Outcome.UNSCORED)))
    before = sorted(suite.rglob("*"))
    golden("status-interrupted.txt", invoke("status").out)
    assert sorted(suite.rglob("*")) == before
    with journal.locked():
        result = invoke("status", run.plan.run_id[:9])
        assert "under way: 2 of 4 evals are done" in result.out and "Resume" not in result.out
    data = json.loads(invoke("status", "--json").out)
    assert (data["complete"], data["under_way"]) == (False, False)
    assert data["evals"] == {"planned": 4, "written": 2}
    assert data["journal"] == {"graded": 1, "waiting": {"rate_limit": 1}, "ungraded": 0} and data["unasked"] == 2
    assert data["go_on"] == f"cli run --run {run.plan.run_id}"


def test_status_of_a_run_that_is_finished_in_part(suite: Path, invoke: Invoke) -> None:
    run = make_run(suite / "runs", evals("p", "", "", ""))
    journal = Journal(suite / ".cache" / "convex-evals" / "journal", run.plan)
    journal.write(OTHERS[1], JournalEntry(generation=make_generation(1), response="", verdict=make_verdict()))
    out = invoke("status").out
    assert "finished in part: 1 of 4 evals are done; of the others, trials graded so far: 1" in out
    with journal.locked():
        assert "under way: 1 of 4 evals are done; of the others" in invoke("status").out


def test_status_says_how_to_ask_once_more_what_is_given_up(suite: Path, invoke: Invoke) -> None:
    run = make_run(suite / "runs", evals("p", "f", "p", "u"))
    file = run.generation(OTHERS[2])
    lost = tuple(g.model_copy(update={"commands": 3}) for g in file.trials)
    write_record(run.eval_folder(OTHERS[2]) / "generation.json", file.model_copy(update={"trials": lost}))
    assert json.loads(invoke("status", "--json").out)["go_on"] == "cli run -m acme/model-1 --retry-unscored"


def test_the_command_that_means_the_same() -> None:
    suite = ["a/x", "a/y", "b/x", "b/y-2"]
    planned = next(iter(make_plan().evals.values()))

    def command(*ids: str, **changes: object) -> str:
        plan = make_plan(**{"synthetic": False, "model": "a/b/c", **changes, "evals": dict.fromkeys(ids, planned)})
        return repeat(plan, suite, EXPERIMENTS).command()

    assert command(*suite) == "cli run -m a/b/c"
    assert command("a/x", "a/y", guidelines="guidelines/convex.md") == "cli run -m a/b/c -c a"
    assert command("a/x", "b/y-2", guidelines="g.md@v1") == "cli run -m a/b/c --guidelines g.md@v1 -f '^(a/x|b/y-2)$'"
    assert command(*suite, synthetic=True, model="reference/answers") == "cli run -m reference"
    assert command(*suite, synthetic=True, model="replay/x") == "cli run -m replay:PATH"
    assert resume(make_plan()).command() == "cli run --run default-00000000"
    assert resume(make_plan(model="replay/x")).command() == "cli run --run default-00000000 -m replay:PATH"


def test_history(suite: Path, invoke: Invoke, golden: Golden) -> None:
    given: dict[str, Any] = {"guidelines_sha256": "abcdef12" + "0" * 56, "guidelines": "guidelines/convex.md"}
    revised: dict[str, Any] = {"guidelines_sha256": "12345678" + "0" * 56, "guidelines": "guidelines/convex.md@v1.2"}
    runs = suite / "runs"
    make_run(runs, evals("p", "f", "f", "f"), run_id="default-1", date="2026-01-30", **given)
    make_run(runs, evals("p", "p", "f", "f"), run_id="default-2", date="2026-02-01", **revised)
    make_run(runs, evals("p", "f", "f", "u"), run_id="no_guidelines-1", date="2026-01-31", experiment="no_guidelines")
    make_run(runs, evals("p", "", "", ""), run_id="default-3", complete=False, **given)
    make_run(runs, evals("p"), model="acme/other", run_id="default-4")
    golden("history.txt", invoke("history", "-m", "model-1").out)
    data = json.loads(invoke("history", "-m", "acme/model-1", "-e", "default", "--json").out)
    assert [r["run_id"] for r in data["runs"]] == ["default-1", "default-2"] and data["incomplete"] == 1
    assert [r["guidelines_sha256"][:8] for r in data["runs"]] == ["abcdef12", "12345678"]
    assert invoke("history", "-m", "modl-1").err == "error: modl-1: no such model; did you mean 'model-1'?\n"
    (suite / "models.yaml").write_text("models:\n  - slug: big/model-2\n  - slug: big/model-1\n")
    assert "big/model-2 has no runs in" in invoke("history", "-m", "model-2").err
    assert "2 models are called that: big/model-1, acme/model-1" in invoke("history", "-m", "model-1").err
    make_run(runs, evals("p"), model="reference/answers", synthetic=True)
    assert "reference/answers\n" in invoke("history", "-m", "reference").out
    assert "Synthetic: no model was asked." in invoke("history", "-m", "reference").out


def test_leaderboard(suite: Path, invoke: Invoke, golden: Golden) -> None:
    runs = suite / "runs"
    assert "No run to rank in" in invoke("leaderboard").out
    make_run(runs, evals("p", "p", "p", "p"), model="acme/fell", run_id="old", date="2026-01-01")
    make_run(runs, evals("p", "f", "f", "f"), model="acme/fell", run_id="new", date="2026-02-01")
    make_run(runs, evals("p", "p", "f", "f"), model="acme/b-ties", run_id="b")
    make_run(runs, evals("pp", "pp", "ff", "ff"), model="acme/a-ties", run_id="a")
    make_run(runs, evals("p", "p", "p", "f"), model="acme/best", run_id="best", date="2026-01-15")
    make_run(runs, evals("p"), model="acme/best", run_id="part")
    make_run(runs, evals("p", "p", "p", ""), model="acme/best", run_id="shard-missing", date="2026-02-02")
    make_run(runs, evals("p", "p", "", ""), model="acme/best", run_id="cut", date="2026-02-03", complete=False)
    make_run(runs, evals("u", "u", "u", "u"), model="acme/silent")
    make_run(runs, evals("p", "u", "u", "u"), model="acme/mute", run_id="mute")
    make_run(runs, evals("p", "p", "p", "p"), model="reference/answers", synthetic=True)
    make_run(runs, evals("f", "p", "f", "f"), model="acme/best", run_id="bare", experiment="no_guidelines")
    golden("leaderboard.txt", invoke("leaderboard").out)
    data = json.loads(invoke("leaderboard", "--json").out)
    assert [(r["rank"], r["model"], r["run_id"]) for r in data["standings"] if r["experiment"] == "default"] == [
        (1, "acme/best", "best"),
        (2, "acme/fell", "new"),
        (3, "acme/a-ties", "a"),
        (3, "acme/b-ties", "b"),
    ]
    assert data["standings"][1]["runs"] == ["new", "old"] and data["standings"][1]["counts"]["passed"] == 5
    assert all(r["ranks"] == [1, 4] and r["provisional"] for r in data["standings"] if r["experiment"] == "default")
    assert sum(data["left_out"].values()) == 6
    newest = json.loads(invoke("leaderboard", "--runs", "1", "--json").out)["standings"]
    assert [(r["rank"], r["model"]) for r in newest if r["experiment"] == "default"][-1] == (4, "acme/fell")
    only = json.loads(invoke("leaderboard", "-e", "no_guidelines", "--json").out)
    assert [(r["rank"], r["model"]) for r in only["standings"]] == [(1, "acme/best")] and only["left_out"] == {}
    assert "No run to rank under web_search in" in invoke("leaderboard", "-e", "web_search").out
    # A damaged file is named.
    (runs / "acme" / "fell" / "2026-02-01" / "new" / "summary.json").write_text("{")
    result = invoke("leaderboard")
    assert result.status == 1 and "not valid JSON" in result.err and result.err.count("\n") == 1


def test_changes_on_the_leaderboard(suite: Path, invoke: Invoke, golden: Golden) -> None:
    runs = suite / "runs"
    for name, row in (("first", "pppf"), ("second", "ppff"), ("third", "pfff"), ("same", "ffff")):
        make_run(runs, evals(*row), model=f"acme/{name}", run_id="old", date="2026-01-01")
    (suite / "before.json").write_text(invoke("leaderboard", "--json").out)
    assert invoke("leaderboard", "--changes-since", "before.json").out == "The leaderboard is as before.\n"
    make_run(runs, evals(*"pppp"), model="acme/third", run_id="new", date="2026-01-02")
    make_run(runs, evals(*"ppff"), model="acme/newcomer", run_id="new", date="2026-01-02")
    shutil.rmtree(runs / "acme" / "same")
    golden("leaderboard-changes.txt", invoke("leaderboard", "--changes-since", "before.json").out)
    found = json.loads(invoke("leaderboard", "--changes-since", "before.json", "--json").out)
    assert {c["model"]: c["what"] for c in found} == {
        "acme/third": "up",
        "acme/second": "down",
        "acme/newcomer": "new",
        "acme/same": "no longer ranked",
    }
    # Those of another benchmark cannot be set against each other.
    shutil.rmtree(runs)
    make_run(runs, {"another/eval": "p"}, model="acme/first", run_id="other")
    [other, *_] = json.loads(invoke("leaderboard", "--changes-since", "before.json", "--json").out)
    assert other["what"] == "other benchmark"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"standings": [{"rank": 1}]}', '{"standings": 3}'])
def test_changes_since_what_is_no_leaderboard(text: str, suite: Path, invoke: Invoke) -> None:
    (suite / "before.json").write_text(text)
    result = invoke("leaderboard", "--changes-since", "before.json")
    assert result.status == 1 and "before.json: is not what `cli leaderboard --json` writes" in result.err


@pytest.mark.parametrize(
    ("key", "value"),
    [("counts", []), ("counts", None), ("counts", {"passed": "one"}), ("evals", 5), ("experiment", []), ("model", {})],
)
def test_a_summary_of_other_types_is_named(key: str, value: object, suite: Path, invoke: Invoke) -> None:
    path = make_run(suite / "runs", evals("p")).folder / "summary.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    result = invoke("leaderboard")
    assert result.status == 1 and f"{path}: {key}" in result.err and result.err.count("\n") == 1


def test_other_guidelines_are_not_ranked(suite: Path, invoke: Invoke) -> None:
    """What `cli validate-guidelines` or `--guidelines` gave a model says nothing about how it does."""
    runs = suite / "runs"
    own: dict[str, Any] = {"guidelines": "guidelines/convex.md", "guidelines_sha256": "a" * 64}
    make_run(runs, evals("p", "f"), run_id="own", date="2026-02-01", **own)
    for day, path in enumerate(("guidelines/convex.md@HEAD~1", "draft.md", ".cache/convex-evals/hunks/0123.md"), 2):
        make_run(runs, evals("p", "p"), run_id=f"r{day}", date=f"2026-02-{day:02}", **{**own, "guidelines": path})
    data = json.loads(invoke("leaderboard", "--json").out)
    assert [row["run_id"] for row in data["standings"]] == ["own"]
    assert data["left_out"] == {"with other guidelines than the experiment names": 3}
    # An experiment of one's own names its guidelines.
    (suite / "convex-evals.yaml").write_text("experiments:\n  default: { guidelines: draft.md }\n")
    assert [row["run_id"] for row in json.loads(invoke("leaderboard", "--json").out)["standings"]] == ["r3"]


def _board(invoke: Invoke) -> tuple[dict[str, str], dict[str, int]]:
    data = json.loads(invoke("leaderboard", "--json").out)
    return {row["model"]: row["run_id"] for row in data["standings"]}, data["left_out"]


def test_a_run_of_other_evals_displaces_none(suite: Path, invoke: Invoke) -> None:
    runs = suite / "runs"
    make_run(runs, evals("p", "f", "f", "f"), run_id="own", date="2026-02-01")
    make_run(runs, evals("p", "p", "f", "f"), model="acme/other", run_id="other", date="2026-02-01")
    make_run(runs, evals("p", "p", "p"), run_id="newer", date="2026-02-02")
    assert _board(invoke) == ({"acme/model-1": "own", "acme/other": "other"}, {"of other evals": 1})


def test_a_draft_of_the_guidelines_lowers_no_model(suite: Path, invoke: Invoke) -> None:
    runs = suite / "runs"
    given: dict[str, Any] = {"guidelines": "guidelines/convex.md", "guidelines_sha256": "a" * 64}
    make_run(runs, evals("p", "p"), run_id="own", date="2026-02-01", **given)
    make_run(runs, evals("p", "f"), model="acme/other", run_id="other", date="2026-02-01", **given)
    make_run(runs, evals("f", "f"), run_id="draft", date="2026-02-02", **{**given, "guidelines_sha256": "b" * 64})
    ranked, left_out = _board(invoke)
    assert ranked == {"acme/model-1": "own", "acme/other": "other"}
    assert left_out == {"with other guidelines": 1}
    assert "default: 2 evals, guidelines aaaaaaaa, embedded backend (benchmark " in invoke("leaderboard").out


def test_uncommitted_changes_are_not_ranked(suite: Path, invoke: Invoke) -> None:
    make_git_repo(suite)
    runs = suite / "runs"
    make_run(runs, evals("p", "f"), run_id="own", date="2026-02-01", suite_commit="c" * 40)
    make_run(runs, evals("p", "p"), run_id="draft", date="2026-02-02")
    assert _board(invoke) == ({"acme/model-1": "own"}, {"of uncommitted changes to the suite": 1})


def test_verdicts_of_another_grader_are_not_ranked_with_the_others(suite: Path, invoke: Invoke) -> None:
    runs = suite / "runs"
    for name in ("one", "two", "three"):
        run = make_run(runs, evals("p", "f"), model=f"acme/{name}", run_id=name)
    grade_again(run, "e" * 64, flip=True)
    ranked, left_out = _board(invoke)
    assert ranked == {"acme/one": "one", "acme/two": "two"}
    assert left_out == {"with verdicts of other graders (`cli regrade` judges them again)": 1}


def test_another_prompt_or_other_settings_are_not_ranked_with_the_others(suite: Path, invoke: Invoke) -> None:
    runs = suite / "runs"
    make_run(runs, evals("p", "f"), model="acme/one", run_id="one")
    make_run(runs, evals("p", "f"), model="acme/two", run_id="two")
    make_run(runs, evals("p", "p"), model="acme/three", run_id="three", prompt_sha256="a" * 64)
    make_run(runs, evals("p", "p"), model="acme/four", run_id="four", settings_sha256="b" * 64)
    ranked, left_out = _board(invoke)
    assert ranked == {"acme/one": "one", "acme/two": "two"} and left_out == {"with other prompt or settings": 2}


def test_a_reply_counts_once(suite: Path, invoke: Invoke) -> None:
    runs = suite / "runs"
    first = make_run(runs, evals("p", "f"), run_id="first", date="2026-02-01")
    make_run(runs, evals("p", "f"), run_id="again", date="2026-02-02", reused=first)
    make_run(runs, evals("p", "p"), run_id="fresh", date="2026-02-03")
    data = json.loads(invoke("leaderboard", "--json").out)
    (row,) = data["standings"]
    assert row["runs"] == ["fresh", "again"] and row["counts"] == {"passed": 3, "failed": 1, "unscored": 0}
    assert data["left_out"] == {"with replies that a newer run counts": 1}


def test_only_the_latest_runs_count(suite: Path, invoke: Invoke) -> None:
    for day in range(1, 13):
        make_run(suite / "runs", evals("p" if day > 2 else "f"), run_id=f"r{day}", date=f"2026-02-{day:02}")
    data = json.loads(invoke("leaderboard", "--json").out)
    assert data["standings"][0]["counts"] == {"passed": 10, "failed": 0, "unscored": 0}
    assert data["left_out"] == {"older than the latest 10 of its model": 2}


def test_all_runs_are_listed_with_the_reason(suite: Path, invoke: Invoke) -> None:
    runs = suite / "runs"
    make_run(runs, evals("p", "f"), run_id="own")
    make_run(runs, evals("p"), model="acme/other", run_id="part")
    make_run(runs, evals("p", ""), run_id="cut", complete=False)
    found = json.loads(invoke("leaderboard", "--all", "--json").out)["unranked"]
    assert {(each["run_id"], each["reason"]) for each in found} == {("part", "of other evals"), ("cut", "not complete")}
    shown = invoke("leaderboard", "--all").out
    assert "Not ranked\n" in shown and "of other evals" in shown and "not complete" in shown


def test_a_summary_that_says_another_benchmark_is_refused(suite: Path, invoke: Invoke) -> None:
    path = make_run(suite / "runs", evals("p"), run_id="lies").folder / "summary.json"
    path.write_text(_with(path, benchmark="a" * 64))
    (reason,) = json.loads(invoke("leaderboard", "--json").out)["left_out"]
    assert reason.startswith("refused") and "benchmark is not that of run.json" in reason
    path.write_text(_with(path, benchmark="a" * 64, suite_commit="d" * 40))
    assert "suite_commit is not that of run.json" in invoke("leaderboard").out


def _with(path: Path, **changes: object) -> str:
    return json.dumps({**json.loads(path.read_text()), **changes})


def test_the_leaderboard_reads_little_of_a_run(suite: Path, invoke: Invoke) -> None:
    run = make_run(suite / "runs", evals("p", "f"))
    for path in run.folder.rglob("*"):
        if path.is_file() and path.name not in ("summary.json", "run.json"):
            path.write_text("{")
    assert "acme/model-1" in invoke("leaderboard").out


REPLY = f"""Here it is. {ESCAPE}

# Files

## package.json

```json
{{"name": "other"}}
```

## convex/main.ts

```ts
import {{ query }} from "./_generated/server";
export const answer = query({{ args: {{}}, handler: async () => 41 }}); // {ESCAPE}
\tlet tab;
```
"""


def test_one_eval_in_full(suite: Path, invoke: Invoke, golden: Golden) -> None:
    ev = load_suite(suite).evals[0]
    hashes = {"task_sha256": sha256_text(ev.task), "answer_sha256": sha256_files(ev.answer().files)}
    planned = next(iter(make_plan().evals.values())).model_copy(update=hashes)
    run = make_run(suite / "runs", {ANSWER: "pfu"}, replies={ANSWER: REPLY}, evals={ANSWER: planned})
    grade = run.grade(ANSWER)
    verdict = make_verdict(Outcome.FAILED, StepName.TESTS)
    test = verdict.tests[0].model_copy(update={"message": f"expected 41 to be 42\n{ESCAPE}"})
    failed = grade.trials[1].model_copy(update={"verdict": verdict.model_copy(update={"tests": (test,)})})
    trials = (grade.trials[0], failed, grade.trials[2])
    path = run.eval_folder(ANSWER) / grade_name(grade.grading_key)
    write_record(path, grade.model_copy(update={"trials": trials}))
    result = invoke("show", "last", "answer")
    assert result.err == ""
    golden("show-eval.txt", result.out.replace(str(suite), "DIR"))
    for sections in ([], ["--response"], ["--diff"]):
        out = invoke("show", "last", "answer", *sections).out
        assert "\x1b" not in out and "\u202e" not in out and ("\\x1b" in out) and "\tlet tab;" in out
    assert invoke("show", "last", "answer", "--task").out == ev.task
    assert invoke("show", "last", "answer", "--expected").out.startswith("-- package.json\n")
    assert invoke("show", "last", "answer", "--diff").out.startswith("--- expected/convex/main.ts\n")
    assert invoke("show", "last", "answer", "--trial", "1", "--verdict").out.startswith("passed\n")
    assert "nothing was received: timeout" in invoke("show", "last", "answer", "--trial", "3", "--response").out
    assert "has 3 trials in this run" in invoke("show", "last", "answer", "--trial", "4").err
    assert invoke("show", "last", "--diff").status == 2

    data = json.loads(invoke("show", "last", "answer", "--json").out)
    assert data["task"] == ev.task and data["expected"] == ev.answer().files
    assert [t["outcome"] for t in data["trials"]] == ["passed", "failed", "unscored"]
    assert (
        data["trials"][1]["response"] == REPLY and data["trials"][1]["files"]["package.json"] == '{"name": "other"}\n'
    )
    assert data["trials"][2]["response"] is None and data["trials"][2]["diff"] is None
    short = json.loads(invoke("show", "last", "answer", "--trial", "2", "--diff", "--json").out)
    assert "task" not in short and short["trials"][0].keys() == {"trial", "outcome", "diff"}

    (suite / "evals" / ANSWER / "TASK.txt").write_text("Another task.\n")
    assert "note: TASK.txt has changed since this run" in invoke("show", "last", "answer").err
    (run.eval_folder(ANSWER) / "2.md").write_text("I would rather not.\n")
    assert "no files in it; the reply is:)\nI would rather not." in invoke("show", "last", "answer").out
    (run.eval_folder(ANSWER) / "2.md").unlink()
    assert "the reply is no longer here" in invoke("show", "last", "answer", "--response").out
    (suite / "evals" / ANSWER).rename(suite / "evals" / "000-fundamentals" / "009-renamed")
    result = invoke("show", "last", "answer")
    assert "not in the suite any more" in result.err and result.status == 0


def test_text_of_a_model_is_inert() -> None:
    hostile = "a\x1b]0;title\x07b\rc\x9bd\u202ee\x00f\u2028g"
    assert printable(hostile) == "a\\x1b]0;title\\x07b\\x0dc\\x9bd\\x202ee\\x00f\\x2028g"
    assert printable("plain\n\ttext ✓") == "plain\n\ttext ✓"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::set-output name=x::y", "\\::set-output name=x::y"),
        ("fine\n  ::add-mask::secret", "fine\n  \\::add-mask::secret"),
        ("a ##[error]b", "a ##\\[error]b"),
        ("std::vector", "std::vector"),
        ("\x1b[2J\r\u202e", "\\x1b[2J\\x0d\\x202e"),
    ],
)
def test_text_of_a_model_gives_no_commands(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_runs_are_listed_by_model_and_experiment(suite: Path, invoke: Invoke) -> None:
    for n, (model, experiment) in enumerate([("acme/one", "default"), ("acme/one", "no_guidelines"), ("b/two", "old")]):
        make_run(suite / "runs", evals("p"), model=model, experiment=experiment, run_id=f"run-{n}")

    def ids(*words: str) -> list[str]:
        return sorted(row["run_id"] for row in json.loads(invoke("list", *words, "--json").out))

    assert ids("-m", "one") == ["run-0", "run-1"] and ids("-e", "old") == ["run-2"]
    assert ids("runs", "-m", "acme/one", "-e", "default") == ["run-0"]
    assert invoke("list", "-m", "two", "-e", "default").out == (
        f"No runs of b/two under default in {suite / 'runs'}; `cli list` lists all.\n"
    )
    assert "three: " in invoke("list", "-m", "three").err and invoke("list", "-e", "new").status == 1
    assert invoke("list", "evals", "-m", "one").status == 2


def test_status_lists_all_unfinished_runs(suite: Path, invoke: Invoke, golden: Golden) -> None:
    for n, day in enumerate(("2026-01-28", "2026-01-29")):
        make_run(suite / "runs", evals("p", "f", "", ""), complete=False, run_id=f"early-{n}", date=day)
    make_run(suite / "runs", evals("p", ""), complete=False, model="replay/a", run_id="replayed", date="2026-01-27")
    make_run(suite / "runs", evals("p"), run_id="whole", date="2026-01-30")
    golden("status-unfinished.txt", invoke("status").out)
    data = json.loads(invoke("status", "--json").out)
    assert [row["run_id"] for row in data["unfinished"]] == ["early-1", "early-0", "replayed"]
    assert "early-1" not in invoke("status", "whole").out


def test_trials_are_numbered(suite: Path, invoke: Invoke, golden: Golden) -> None:
    make_run(suite / "runs", evals("pf", "u"))
    golden("show-run.txt", invoke("show", "last").out)


def test_one_is_no_plural(suite: Path, invoke: Invoke) -> None:
    make_run(suite / "runs", {ANSWER: "p"}, run_id="whole", date="2026-01-30")
    assert "complete: 1 eval\n" in invoke("status", "whole").out
    make_run(suite / "runs", {ANSWER: ""}, run_id="begun", complete=False, trials=1)
    assert "not complete: 0 of 1 eval is done\n" in invoke("status", "begun").out
