"""`cli compare`: what makes a pair, what is said of it, and what `A` and `B` may be."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from convex_evals.analysis.compare import (
    Comparison,
    Side,
    advice,
    compare,
    p_value,
    points,
    to_data,
    to_markdown,
    to_section,
    verdict_line,
)
from convex_evals.errors import UserError
from convex_evals.records import BackendIdentity, EvalPlan, Generation, Pipeline
from convex_evals.render.plain import plain
from convex_evals.stats import Conclusion, EvalPair, Surety, paired
from convex_evals.store.records import write_record
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.suite.prompt import guidelines_sha256
from tests.conftest import ROOT, Invoke, clean_environment
from tests.factories import (
    draw_outcomes,
    grade_again,
    known_chances,
    make_eval,
    make_git_repo,
    make_plan,
    make_run,
    make_toolchain,
)

Golden = Callable[[str, str], None]
SUITE = {"000-fundamentals": 10, "001-data": 10, "002-queries": 24, "003-mutations": 8}
PLANNED = next(iter(make_plan().evals.values()))
GUIDELINES = {"a": "# Rules\n\n- Use indexes.\n", "b": "# Rules\n\n- Use indexes.\n- Paginate.\n"}


digest = guidelines_sha256


def sides(a: Run | tuple[Run, ...], b: Run | tuple[Run, ...]) -> Comparison:
    one, two = (runs if isinstance(runs, tuple) else (runs,) for runs in (a, b))
    return compare(Side("A", one), Side("B", two))


def pairs_by_eval(found: Comparison) -> Mapping[str, tuple[int, int, int, int]]:
    return {p.eval: (p.a_passed, p.a_scored, p.b_passed, p.b_scored) for p in found.pairs}


def reasons(found: Comparison) -> dict[str, str]:
    return {one.eval: one.reason for one in found.left_out}


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    return plant(tmp_path)


def plant(folder: Path) -> Path:
    """Two runs of one model; the guidelines of the second mend most of what fails in one category."""
    make_eval(folder)
    runs = folder / "runs"
    before = draw_outcomes(known_chances(SUITE), 5, seed=1)
    after = draw_outcomes(known_chances(SUITE, better={"002-queries": 0.97}), 5, seed=2)
    after |= {"000-fundamentals/000-eval": "uuuuu", "000-fundamentals/001-eval": "ppuup"}
    given: dict[str, dict[str, Any]] = {
        "a": {"guidelines": "guidelines/convex.md@v1", "guidelines_sha256": digest(GUIDELINES["a"])},
        "b": {"guidelines": "guidelines/convex.md", "guidelines_sha256": digest(GUIDELINES["b"])},
    }
    make_run(runs, {**before, "009-old/000-gone": "ppppp"}, run_id="default-before", **given["a"])
    make_run(runs, after, run_id="default-after", date="2026-02-01", **given["b"])
    return folder


def test_a_planted_improvement_is_named(planted: Path, invoke: Invoke, golden: Golden) -> None:
    terminal = invoke("compare", "default-before", "default-after")
    assert (terminal.status, terminal.err) == (0, "")
    golden("compare.txt", terminal.out)
    assert terminal.out.startswith("improved: ")
    golden("compare.md", invoke("compare", "default-before", "default-after", "--format", "markdown").out)
    as_json = invoke("compare", "default-before", "default-after", "--json").out
    assert as_json == invoke("compare", "default-before", "default-after", "--format", "json").out
    golden("compare.json", as_json)
    data = json.loads(as_json)
    assert {name for name, part in data["categories"].items() if part["verdict"] == "improved"} == {"002-queries"}
    assert data["differing"].keys() == {"guidelines", "benchmark"}
    assert data["left_out"] == [
        {"eval": "000-fundamentals/000-eval", "reason": "no scored trial in B (5 x timeout)"},
        {"eval": "009-old/000-gone", "reason": "only in A"},
    ]


def test_swapping_a_and_b_turns_the_signs(planted: Path, invoke: Invoke) -> None:
    one = json.loads(invoke("compare", "default-before", "default-after", "--json").out)
    two = json.loads(invoke("compare", "default-after", "default-before", "--json").out)
    assert (one["paired"]["verdict"], two["paired"]["verdict"]) == ("improved", "regressed")
    assert one["paired"]["difference"] == -two["paired"]["difference"] and one["paired"]["p"] == two["paired"]["p"]
    assert one["paired"]["interval"] == [-x for x in reversed(two["paired"]["interval"])]
    assert [f["eval"] for f in one["flips"]] == [f["eval"] for f in two["flips"]]
    assert one["per_reply"]["duration_ms"]["difference"] == -two["per_reply"]["duration_ms"]["difference"]


def test_it_is_the_same_from_a_process_of_its_own(planted: Path, invoke: Invoke) -> None:
    argv = [sys.executable, str(ROOT / "cli.py"), "compare", "default-before", "default-after"]
    done = subprocess.run(argv, cwd=planted, env=clean_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == invoke("compare", "default-before", "default-after").out


def changed(**changes: object) -> EvalPlan:
    return PLANNED.model_copy(update={"grading_key": "9" * 64, **changes})


def test_what_is_not_comparable_is_listed(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    names = ("task", "grader", "answer", "pipeline", "rules")
    plans = dict.fromkeys([f"a/{n}" for n in (*names, "same")], PLANNED)
    other = {
        "a/task": changed(task_sha256="a" * 64),
        "a/grader": changed(grader_sha256="a" * 64, task_sha256="b" * 64),
        "a/answer": changed(answer_sha256="a" * 64),
        "a/pipeline": changed(pipeline=Pipeline.STATIC),
        "a/rules": changed(),
        "a/same": PLANNED,
    }
    a = make_run(runs, {**dict.fromkeys(plans, "p"), "a/only": "p"}, evals={**plans, "a/only": PLANNED}, run_id="a")
    b = make_run(runs, {**dict.fromkeys(plans, "f"), "a/new": "p"}, evals={**other, "a/new": PLANNED}, run_id="b")
    found = sides(a, b)
    assert pairs_by_eval(found) == {"a/same": (1, 1, 0, 1)}
    assert reasons(found) == {
        "a/answer": "other answer",
        "a/grader": "other task, grader",
        "a/new": "only in B",
        "a/only": "only in A",
        "a/pipeline": "other pipeline",
        "a/rules": "graded again under other rules",
        "a/task": "other task",
    }
    assert {f.name: f.a for f in found.differing if f.name != "benchmark"} == {
        "tasks": "2 of 6 are others",
        "graders": "1 of 6 are others",
        "answers": "1 of 6 are others",
        "pipelines": "1 of 6 are others",
    }
    # Swapped, the same evals are left out.
    assert reasons(sides(b, a)).keys() == reasons(found).keys()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"backend": BackendIdentity(kind="local", version="precompiled-1")}, "other backend"),
        ({"toolchain": make_toolchain().model_copy(update={"typescript": "6.0.0"})}, "other TypeScript"),
        ({"toolchain": make_toolchain().model_copy(update={"lint_rules_sha256": "f" * 64})}, "other lint rules"),
        ({"grading_protocol": 2}, "other meaning of a pass"),
    ],
)
def test_other_graders_are_not_compared(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    rows = dict.fromkeys(["a/x", "a/y"], "pp")
    a = make_run(tmp_path, rows, run_id="a")
    b = make_run(tmp_path, rows, run_id="b", evals=dict.fromkeys(rows, changed()), **changes)
    found = sides(a, b)
    assert reasons(found) == {"a/x": reason, "a/y": reason} and not found.pairs
    assert found.paired.verdict is Conclusion.TOO_FEW
    text = plain(to_section(found))
    assert text.startswith("too few to tell: no eval was scored on both sides\n")
    assert f"In no pair: 2 evals\n  {reason} (2): a/x, a/y" in text
    assert reason in to_markdown(found)


def test_a_reply_counts_once(tmp_path: Path) -> None:
    rows = {"a/x": "ppf", "a/y": "pff"}
    first = make_run(tmp_path, rows, run_id="first")
    again = make_run(tmp_path, rows, run_id="again", reused=first)
    other = make_run(tmp_path, {"a/x": "fff", "a/y": "ppp"}, run_id="other")
    once = sides(first, other)
    twice = sides((again, first), other)
    assert pairs_by_eval(twice) == pairs_by_eval(once) == {"a/x": (2, 3, 0, 3), "a/y": (1, 3, 3, 3)}
    assert twice.paired == once.paired and twice.a_means == once.a_means
    # Runs of their own add trials.
    more = make_run(tmp_path, rows, run_id="more")
    assert pairs_by_eval(sides((more, first), other))["a/x"] == (4, 6, 0, 3)
    assert reasons(sides(first, again)) == dict.fromkeys(rows, "the same replies on both sides")
    overlapping = sides((more, first), (first, other))
    assert pairs_by_eval(overlapping)["a/x"] == (2, 3, 0, 3)
    assert overlapping.notes == ("Some runs are on both sides; what they have counts on neither.",)
    mixed = sides((more, again), (other, first))
    assert pairs_by_eval(mixed) == pairs_by_eval(overlapping)
    assert mixed.notes == ("6 replies are on both sides (used again); they count on neither.",)
    with pytest.raises(UserError, match="A and B have the same runs; name others"):
        sides(first, first)


def test_single_evals_are_told_from_chance_by_days(tmp_path: Path) -> None:
    def ran(guidelines: str, days: range, row: str) -> tuple[Run, ...]:
        return tuple(
            make_run(
                tmp_path / "runs", {"a/0": row, "a/1": "p"}, run_id=f"{guidelines}-{day}", date=f"2026-01-{day:02}",
                guidelines_sha256=guidelines * 64,
            )
            for day in days
        )  # fmt: skip

    # Ten trials of one day are one observation, however many runs have them.
    found = sides(ran("a", range(1, 2), "f" * 10), ran("b", range(2, 3), "p" * 10))
    (flip,) = found.flips
    assert flip.p == 1 and flip.surety is Surety.CHANCE and not flip.has_days
    assert "-  may be chance" in plain(to_section(found)) and "Trials of one day are alike" in plain(to_section(found))
    # A trial on each of six days is enough; what was asked before is of the day on which it was.
    found = sides(ran("c", range(1, 7), "f"), ran("d", range(11, 17), "p"))
    assert found.flips[0].surety is Surety.SURE and to_data(found)["flips"][0]["a_days"] == 6
    first = RunStore(tmp_path / "runs").find("d-11")
    again = tuple(
        make_run(tmp_path / "runs", {"a/0": "p"}, run_id=f"e-{n}", date=f"2026-02-{n:02}", reused=first)
        for n in range(1, 7)
    )
    assert [pair.b_days for pair in sides(ran("f", range(1, 7), "f"), again).pairs] == [((True,),)]


def test_sides_that_mix_models_in_other_shares_say_so(tmp_path: Path) -> None:
    """Each model passes as often as before, and the whole does not."""
    good: dict[str, Any] = {"model": "acme/good"}
    bad: dict[str, Any] = {"model": "acme/bad"}
    a = make_run(tmp_path, {"a/x": "ppp"}, run_id="a", **good), make_run(tmp_path, {"a/x": "f"}, run_id="a", **bad)
    b = make_run(tmp_path, {"a/x": "p"}, run_id="b", **good), make_run(tmp_path, {"a/x": "fff"}, run_id="b", **bad)
    (note,) = sides(a, b).notes
    assert note.startswith("The sides mix models in other shares")
    assert sides(a[:1], b[:1]).notes == sides(a[:1], b[1:]).notes == ()
    even = make_run(tmp_path, {"a/x": "ppp"}, run_id="c", **good), make_run(tmp_path, {"a/x": "p"}, run_id="c", **bad)
    assert sides(a, even).notes == ()


def test_a_reply_that_was_graded_later_is_scored(tmp_path: Path) -> None:
    first = make_run(tmp_path, {"a/x": "u"}, run_id="first")
    later = make_run(tmp_path, {"a/x": "p"}, run_id="later", reused=first)
    other = make_run(tmp_path, {"a/x": "f"}, run_id="other")
    for runs in ((first, later), (later, first)):
        assert pairs_by_eval(sides(runs, other)) == {"a/x": (1, 1, 0, 1)}


def test_runs_that_were_graded_again(tmp_path: Path) -> None:
    rows = {"a/x": "ff"}
    a, b = make_run(tmp_path, rows, run_id="a"), make_run(tmp_path, {"a/x": "pf"}, run_id="b")
    grade_again(a, "8" * 64, flip=True)
    # The old verdicts, which both have, count no more.
    assert pairs_by_eval(sides(a, b)) == {} and reasons(sides(a, b)) == {"a/x": "graded again under other rules"}
    grade_again(b, "8" * 64, flip=True)
    assert pairs_by_eval(sides(a, b)) == {"a/x": (2, 2, 2, 2)}


def test_what_is_scored_on_neither_side_says_so(tmp_path: Path) -> None:
    a = make_run(tmp_path, {"a/x": "uu", "a/y": "", "a/z": "p"}, run_id="a", complete=False)
    b = make_run(tmp_path, {"a/x": "u", "a/y": "", "a/z": ""}, run_id="b", complete=False)
    assert reasons(sides(a, b)) == {
        "a/x": "no scored trial in A and B (3 x timeout)",
        "a/y": "not done in A and B",
        "a/z": "not done in B",
    }


def test_runs_that_are_not_complete_or_synthetic(tmp_path: Path) -> None:
    a = make_run(tmp_path, {"a/x": "p", "a/y": "p"}, model="reference/answers", synthetic=True)
    b = make_run(tmp_path, {"a/x": "f", "a/y": ""}, run_id="b", complete=False)
    found = sides(a, b)
    assert pairs_by_eval(found) == {"a/x": (1, 1, 0, 1)} and reasons(found) == {"a/y": "not done in B"}
    assert found.notes == ("A is synthetic (reference/answers): no model was asked.", "B is not complete (b).")
    text = plain(to_section(found))
    assert "note: A is synthetic" in text
    assert text.startswith(
        "too few to tell: -100.0 points (p 1.000) over 1 eval: only 1 of them differs, it takes six\n"
    )


def test_what_is_equal_and_what_differs(tmp_path: Path) -> None:
    rows = {"a/x": "p"}
    a = make_run(tmp_path, rows, run_id="a")
    tools = make_toolchain().model_copy(update={"node": "24.1.0"})
    b = make_run(tmp_path, rows, run_id="b", toolchain=tools)
    assert [f.name for f in sides(a, b).differing] == ["Node.js"]
    other = {"a/x": PLANNED.model_copy(update={"generation_key": "c" * 64})}
    prompt = make_run(tmp_path, rows, run_id="c", evals=other)
    assert [f.name for f in sides(a, prompt).differing] == ["model's parameters"]
    model = make_run(tmp_path, rows, run_id="d", evals=other, model="acme/other", experiment="x")
    found = sides(a, model)
    assert [f.name for f in found.differing] == ["model", "experiment", "benchmark"]
    assert "Not known: model's parameters (recorded in one key with" in plain(to_section(found))
    # From where the guidelines came is nothing that differs.
    same = make_run(tmp_path, rows, run_id="e", guidelines="g.md", guidelines_sha256="e" * 64)
    moved = make_run(tmp_path, rows, run_id="f", guidelines="g.md@HEAD", guidelines_sha256="e" * 64)
    assert sides(same, moved).differing == []


def test_cost_and_time(tmp_path: Path) -> None:
    a = make_run(tmp_path, {"a/x": "pp", "a/y": "p"}, run_id="a")
    b = make_run(tmp_path, {"a/x": "ppp", "a/y": "u", "b/z": "p"}, run_id="b")

    def double(generation: Generation) -> Generation:
        usage = generation.usage.model_copy(update={"output_tokens": 300})
        return generation.model_copy(update={"cost_usd": 0.025, "usage": usage, "cost_estimated": True})

    file = b.generation("a/x")
    write_record(
        b.eval_folder("a/x") / "generation.json", file.model_copy(update={"trials": [*map(double, file.trials)]})
    )
    found = sides(a, b)
    # Of the evals that make pairs alone.
    assert (found.a_means.cost_usd, found.b_means.cost_usd) == pytest.approx((0.0125, 0.025))
    assert (found.a_means.duration_ms, found.b_means.duration_ms) == (6_000, 8_000)
    text = plain(to_section(found))
    assert "cost        $0.0125  $0.0250      +100 %\n" in text and "(costs are estimated from a price map)" in text
    assert "tokens out      200      300       +50 %\n" in text and "time          6.0 s    8.0 s       +33 %\n" in text


def test_hostile_names_are_inert(tmp_path: Path) -> None:
    model = "acme/<img src=x>|`@octocat`|[x](javascript:1)"
    a = make_run(tmp_path, {"a/x @octocat": "p"}, run_id="a", model=model)
    b = make_run(tmp_path, {"a/x @octocat": "f"}, run_id="b", model=model)
    found = sides(a, b)
    markdown = to_markdown(found)
    assert "<img" not in markdown and "[x](" not in markdown and "@octocat" not in markdown


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guidelines of both runs in Git, and two runs without any. Only read."""
    planted = plant(tmp_path_factory.mktemp("chosen"))
    (planted / ".gitignore").write_text("runs/\n")
    file = planted / "guidelines" / "convex.md"
    file.parent.mkdir()
    file.write_text(GUIDELINES["a"])
    make_git_repo(planted)
    git = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run([*git, "tag", "v1"], cwd=planted, check=True)
    file.write_text(GUIDELINES["b"])
    subprocess.run([*git, "commit", "-qam", "Say more"], cwd=planted, check=True)
    rows = dict.fromkeys(known_chances(SUITE), "fffff")
    make_run(planted / "runs", rows, run_id="bare", experiment="no_guidelines", date="2026-03-01")
    make_run(planted / "runs", rows, run_id="other", model="other/model-2", date="2026-03-02")
    return planted


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        ("model=model-1,guidelines=v1", ["default-before"]),
        ("guidelines=HEAD~1", ["default-before"]),
        ("guidelines=HEAD", ["default-after"]),
        ("guidelines=guidelines/convex.md", ["default-after"]),
        ("guidelines=guidelines/convex.md@v1", ["default-before"]),
        (f"guidelines={digest(GUIDELINES['a'])[:8]}", ["default-before"]),
        ("guidelines=none,model=acme/model-1", ["bare"]),
        ("experiment=no_guidelines", ["bare"]),
        ("model=acme/model-1, date=2026-02-01", ["default-after"]),
        ("date=2026-03", ["other", "bare"]),
        ("model=model-2", ["other"]),
        ("default-b", ["default-before"]),
        ("runs/acme/model-1/2026-03-01/bare", ["bare"]),
    ],
)
def test_selections(words: str, runs: list[str], chosen: Path, invoke: Invoke) -> None:
    b = "other" if runs != ["other"] else "bare"
    if runs == ["other", "bare"]:
        b = "default-after"
    result = invoke("compare", words, b, "--json", cwd=chosen)
    assert result.err == "" and [run["run_id"] for run in json.loads(result.out)["a"]["runs"]] == runs


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nope", "nope: no such run in DIR/runs; `cli list` shows them, `last` is the newest"),
        ("modle=x", "modle=x: unknown key 'modle'; did you mean 'model'?"),
        (
            "model=model-1,zzz=1",
            "model=model-1,zzz=1: unknown key 'zzz'; available: model, experiment, guidelines, date",
        ),
        ("model=", "model=: 'model' has no value; write model=VALUE"),
        ("model=a,model=b", "model=a,model=b: 'model' is given twice; give it once"),
        ("model=mdel-1", "mdel-1: no such model; did you mean 'model-1'?"),
        ("date=yesterday", "date=yesterday: not a day; write YYYY-MM-DD, YYYY-MM or YYYY"),
        (
            "model=model-1,experiment=x",
            "model=model-1,experiment=x: no run in DIR/runs matches; experiments that ran: default, no_guidelines",
        ),
        (
            "guidelines=v9",
            "guidelines=v9: neither a file of the suite, a revision, nor the hash of guidelines that ran; "
            "`git log --oneline -- guidelines/convex.md` lists revisions",
        ),
        ("model=model-2,guidelines=v1", "no run in DIR/runs matches; guidelines that ran: none"),
        ("other", "other and other have the same runs; name others"),
    ],
)
def test_selections_that_name_nothing(words: str, message: str, chosen: Path, invoke: Invoke) -> None:
    result = invoke("compare", words, "other", cwd=chosen)
    assert result.status == 1 and result.err.count("\n") == 1 and result.out == ""
    assert message in result.err.replace(str(chosen), "DIR")


def test_there_are_no_runs(tmp_path: Path, invoke: Invoke) -> None:
    make_eval(tmp_path)
    result = invoke("compare", "model=x", "last")
    assert result.status == 1 and "no such model" in result.err and result.err.count("\n") == 1
    result = invoke("compare", "date=2026", "last")
    assert "no run in" in result.err and "`cli list` shows what has run" in result.err


def test_the_words() -> None:
    def said(gained: int, lost: int, same: int) -> str:
        rows = [(0, 1)] * gained + [(1, 0)] * lost + [(1, 1)] * same
        found = paired([EvalPair(f"a/{n:04}", a, 1, b, 1) for n, (a, b) in enumerate(rows)])
        return "\n".join(filter(None, [verdict_line(found), advice(found)]))

    assert said(10, 1, 29) == "improved: +22.5 points (95 % interval +7.5 to +37.5, p 0.012) over 40 evals"
    assert said(0, 20, 20) == "regressed: -50.0 points (95 % interval -65.0 to -35.0, p < 0.001) over 40 evals"
    assert said(3, 0, 37).splitlines()[0] == (
        "too few to tell: +7.5 points (95 % interval 0.0 to +17.5, p 0.250) over 40 evals: "
        "only 3 of them differ, it takes six"
    )
    assert said(0, 0, 40) == (
        "too few to tell: 0.0 points (95 % interval -8.8 to +8.8) over 40 evals: none differs, it takes six"
    )
    assert said(5, 4, 31).splitlines()[1] == (
        "A true difference of 30.3 points would have been found four times out of five. "
        "About 19 more trials per eval would detect 5 points."
    )
    assert said(3, 3, 1_000).splitlines() == [
        "no difference shown: 0.0 points (95 % interval -0.5 to +0.5, p 1.000) over 1006 evals",
        "A true difference of 0.7 points would have been found four times out of five.",
    ]
    assert [p_value(p) for p in (None, 0.0004, 0.05, 0.0501, 0.0499, 1.0)] == [
        *("-", "<0.001", "0.050", "0.051", "0.050", "1.000")
    ]
    assert [points(x) for x in (None, 0.0, 0.0001, -0.0301, 1.0)] == ["-", "0.0", "0.0", "-3.0", "+100.0"]
