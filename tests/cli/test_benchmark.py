"""`cli benchmark`, and what `cli leaderboard` makes of minted benchmarks."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.records import EvalPlan, Pipeline
from convex_evals.records.benchmark import Benchmark, BenchmarkEval, BenchmarkExperiment
from convex_evals.records.grading_inputs import GradingInputs
from convex_evals.render.formats import FORMATS
from convex_evals.store.benchmarks import BenchmarkFolder
from convex_evals.store.run import Run
from tests.conftest import Invoke
from tests.factories import grade_again, make_eval, make_eval_plan, make_plan, make_run, make_toolchain

EVALS = ("000-fundamentals/000-answer", "000-fundamentals/001-more", "001-queries/000-first")


def planned(**changes: Any) -> EvalPlan:
    """An eval's plan whose grading key is that of its inputs."""
    own = make_eval_plan().model_copy(update=changes)
    inputs = GradingInputs.recorded(make_plan(evals={EVALS[0]: own}), EVALS[0])
    return own.model_copy(update={"grading_key": inputs.key()})


PLANS = dict.fromkeys(EVALS, planned())


def run_of(suite: Path, rows: str, evals: dict[str, EvalPlan] = PLANS, **changes: Any) -> Run:
    outcomes = dict(zip(evals, rows.split(), strict=True))
    return make_run(suite / "runs", outcomes, evals=evals, **changes)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for eval_id in EVALS:
        make_eval(tmp_path, eval_id)
    run_of(tmp_path, "p p f", run_id="first", date="2026-02-01")
    return tmp_path


def standings(invoke: Invoke, *options: str) -> list[tuple[str, str]]:
    found = json.loads(invoke("leaderboard", "--json", *options).out)["standings"]
    return [(row["model"], row["run_id"]) for row in found]


def test_a_run_is_minted(suite: Path, invoke: Invoke) -> None:
    result = invoke("benchmark", "mint", "v1", "--from", "first", "-m", "claude-sonnet-5,gpt-5")
    assert result.status == 0 and "3 evals under default; 1 run of it so far" in result.out
    assert f"Written: {suite / 'benchmarks' / 'v1.yaml'}" in result.out
    found = BenchmarkFolder(suite).read("v1")
    assert tuple(found.evals) == EVALS and found.models == ("anthropic/claude-sonnet-5", "openai/gpt-5")
    carried = json.loads((suite / "runs/acme/model-1/2026-02-01/first/summary.json").read_text())["benchmark"]
    assert found.experiments["default"].id == carried and found.version != carried
    board = invoke("leaderboard").out
    assert f"default, v1: 3 evals, no guidelines, embedded backend (benchmark {found.version[:8]})" in board
    assert "Curated, but without a run of v1 under default: anthropic/claude-sonnet-5, openai/gpt-5." in board
    assert "v1" in invoke("history", "-m", "model-1").out


def test_the_newest_benchmark_that_has_runs_is_ranked(suite: Path, invoke: Invoke) -> None:
    """A larger set of runs, of other evals, does not displace it."""
    invoke("benchmark", "mint", "v1", "--from", "first")
    grown = {**PLANS, "001-queries/001-more": planned()}
    for name in ("one", "two"):
        run_of(suite, "p p p p", grown, model=f"acme/{name}", run_id=name, date="2026-02-02")
    data = json.loads(invoke("leaderboard", "--json").out)
    assert [row["model"] for row in data["standings"]] == ["acme/model-1"]
    assert data["left_out"] == {"of other evals": 2} and data["benchmarks"][0]["name"] == "v1"
    invoke("benchmark", "mint", "v2", "--from", "one")
    assert standings(invoke) == [("acme/one", "one"), ("acme/two", "two")]
    assert standings(invoke, "-b", "v1") == [("acme/model-1", "first")]
    # Of the next one there is no run yet.
    edited = {**grown, EVALS[0]: planned(grader_sha256="e" * 64)}
    run = run_of(suite, "p p p p", edited, model="acme/gone", run_id="gone", date="2026-02-03")
    invoke("benchmark", "mint", "v10", "--from", "gone")
    (run.folder / "summary.json").unlink()
    data = json.loads(invoke("leaderboard", "--json").out)
    assert data["notes"] == ["default: no run of v10 yet, so v2 is ranked."]
    assert "No run to rank of v10" in invoke("leaderboard", "-b", "v10").out


def test_what_two_benchmarks_share_is_ranked(suite: Path, invoke: Invoke) -> None:
    invoke("benchmark", "mint", "v1", "--from", "first")
    grown = {**PLANS, EVALS[1]: planned(task_sha256="d" * 64), "001-queries/001-more": planned()}
    run_of(suite, "p f p f", grown, model="acme/new", run_id="new", date="2026-02-02")
    invoke("benchmark", "mint", "v2", "--from", "new")
    data = json.loads(invoke("leaderboard", "--shared", "v1", "v2", "--json").out)
    rows = {row["model"]: (row["rank"], row["counts"]["passed"], row["evals"]) for row in data["standings"]}
    assert rows == {"acme/new": (1, 2, 2), "acme/model-1": (2, 1, 2)}
    shown = invoke("leaderboard", "--shared", "v1", "v2").out
    assert "default: 2 evals that v1 (3) and v2 (4) share" in shown
    assert invoke("leaderboard", "--shared", "v1", "v2", "-e", "default").out == shown
    # With other guidelines, no score means the same.
    run_of(suite, "p f p f", grown, model="acme/new", run_id="told", date="2026-02-03", guidelines_sha256="a" * 64)
    invoke("benchmark", "mint", "v3", "--from", "told")
    result = invoke("leaderboard", "--shared", "v1", "v3")
    assert result.status == 1 and "default is asked with other guidelines; `cli benchmark diff v1 v3`" in result.err
    assert result.err.count("\n") == 1
    result = invoke("leaderboard", "--shared", "v1", "v2", "-e", "no_guidelines")
    assert result.status == 1 and "v1: has no experiment no_guidelines; it has: default" in result.err
    assert invoke("leaderboard", "--shared", "v1", "v2", "-b", "v1").status == 2


def test_one_benchmark_has_several_experiments(suite: Path, invoke: Invoke) -> None:
    """Their rankings stand side by side, and what the guidelines change of each model."""
    told: dict[str, Any] = {"guidelines": "guidelines/convex.md", "guidelines_sha256": "a" * 64}
    for model, guided, bare in (("acme/one", "p p p", "f f p"), ("acme/two", "p f f", "p f f")):
        run_of(suite, guided, model=model, run_id=f"told-{model[-3:]}", **told)
        run_of(suite, bare, model=model, run_id=f"bare-{model[-3:]}", experiment="no_guidelines")
    result = invoke("benchmark", "mint", "v1", "--from", "told-one", "--from", "bare-one", "-m", "gpt-5")
    assert "3 evals under default and no_guidelines; 4 runs of it so far" in result.out, result.err
    shown = invoke("leaderboard").out
    found = BenchmarkFolder(suite).read("v1")
    for words in ("default, v1: 3 evals, guidelines aaaaaaaa", "no_guidelines, v1: 3 evals, no guidelines"):
        assert f"{words}, embedded backend (benchmark {found.version[:8]})" in shown
    assert "default, v1 against no_guidelines, v1" in shown
    assert "Curated, but without a run of v1 under default and no_guidelines: openai/gpt-5." in shown
    data = json.loads(invoke("leaderboard", "--json").out)
    assert {each["version"] for each in data["benchmarks"]} == {found.version}
    assert {each["id"] for each in data["benchmarks"]} == found.ids
    (gain,) = data["gains"]
    assert (gain["before"], gain["after"]) == ("no_guidelines", "default")
    differences = {each["model"]: (each["a_rate"], each["b_rate"], each["difference"]) for each in gain["models"]}
    assert differences == {"acme/one": (1 / 3, 1.0, 2 / 3), "acme/two": (1 / 3, 1 / 3, 0.0)}
    assert invoke("leaderboard", "-b", "v1").out == shown
    alone = json.loads(invoke("leaderboard", "-b", "v1", "-e", "no_guidelines", "--json").out)
    assert {row["experiment"] for row in alone["standings"]} == {"no_guidelines"} and alone["gains"] == []
    result = invoke("leaderboard", "-b", "v1", "-e", "other")
    assert result.status == 1 and "v1: has no experiment other; it has: default, no_guidelines" in result.err
    ranked = list(csv.DictReader(io.StringIO(invoke("leaderboard", "--format", "csv").out)))
    assert {(row["experiment"], row["model"]) for row in ranked} == {
        (experiment, model) for experiment in ("default", "no_guidelines") for model in ("acme/one", "acme/two")
    }
    shown = invoke("benchmark", "show", "v1").out
    assert re.search(r"default +aaaaaaaa guidelines/convex.md +2 +2\n", shown), shown
    assert re.search(r"no_guidelines +none +2 +2\n", shown), shown
    assert json.loads(invoke("benchmark", "show", "v1", "--json").out)["runs"] == {"default": 2, "no_guidelines": 2}


def test_runs_that_are_not_of_one_benchmark(suite: Path, invoke: Invoke) -> None:
    """They are not minted under one name."""
    run_of(suite, "p p f", run_id="told", guidelines_sha256="a" * 64)
    run_of(suite, "p", {EVALS[0]: planned()}, run_id="part", experiment="no_guidelines")
    for run, said in {
        "told": "told: was asked otherwise under default than another of these runs; mint it under another name",
        "part": "part: is of other evals or graders than first; mint it under another name",
    }.items():
        result = invoke("benchmark", "mint", "v1", "--from", "first", "--from", run)
        assert result.status == 1 and said in result.err and result.err.count("\n") == 1


def test_an_experiment_may_be_minted_later(suite: Path, invoke: Invoke) -> None:
    """The newest benchmark that has a run is ranked, each experiment for itself."""
    run_of(suite, "p p p", run_id="bare", experiment="no_guidelines")
    invoke("benchmark", "mint", "v1", "--from", "first")
    data = json.loads(invoke("leaderboard", "--json").out)
    assert [(each["experiment"], each["name"]) for each in data["benchmarks"]] == [
        ("default", "v1"),
        ("no_guidelines", None),
    ]
    result = invoke("benchmark", "mint", "v2", "--from", "bare", "--from", "first")
    assert result.status == 0 and "under no_guidelines and default; 2 runs of it so far" in result.out
    data = json.loads(invoke("leaderboard", "--json").out)
    assert [(each["experiment"], each["name"]) for each in data["benchmarks"]] == [
        ("default", "v2"),
        ("no_guidelines", "v2"),
    ]
    assert len({each["version"] for each in data["benchmarks"]}) == 1
    shared = json.loads(invoke("leaderboard", "--shared", "v1", "v2", "--json").out)
    assert [row["run_id"] for row in shared["standings"]] == ["first"]
    assert shared["notes"] == ["no_guidelines: not comparable, for it is only in v2."]
    # What is a part of another has nothing new.
    result = invoke("benchmark", "mint", "v3", "--from", "bare")
    assert result.status == 1 and "nothing has changed since v2 was minted" in result.err


def test_what_changed_is_said_eval_by_eval(suite: Path, invoke: Invoke) -> None:
    invoke("benchmark", "mint", "v1", "--from", "first")
    other = {
        EVALS[0]: planned(grader_sha256="e" * 64, answer_sha256="d" * 64),
        EVALS[1]: planned(),
        "001-queries/001-more": planned(pipeline=Pipeline.STATIC),
    }
    run_of(suite, "p p p", other, run_id="second", experiment="no_guidelines", date="2026-02-02")
    invoke("benchmark", "mint", "v2", "--from", "second")
    found = json.loads(invoke("benchmark", "diff", "v1", "v2", "--json").out)
    assert found["asked"] == {"default": "only in v1", "no_guidelines": "only in v2"} and found["alike"] == 1
    assert found["evals"] == {EVALS[0]: "grader, answer", EVALS[2]: "removed", "001-queries/001-more": "added"}
    shown = invoke("benchmark", "diff", "v1", "v2").out
    assert "default is only in v1.\nno_guidelines is only in v2.\n1 of 4 evals are graded alike." in shown
    assert "They are the same." in invoke("benchmark", "diff", "v1", "v1").out


def test_each_format(suite: Path, invoke: Invoke) -> None:
    assert "No benchmark yet" in invoke("benchmark", "list").out
    minted = invoke("benchmark", "mint", "v1", "--from", "first", "--json")
    assert json.loads(minted.out)["name"] == "v1"
    for command in (("list",), ("show", "v1")):
        texts = {form: invoke("benchmark", *command, "--format", form) for form in FORMATS}
        assert all(result.status == 0 for result in texts.values())
        assert json.loads(texts["json"].out) and "| --- |" in texts["markdown"].out
        assert list(csv.DictReader(io.StringIO(texts["csv"].out)))
    (row,) = csv.DictReader(io.StringIO(invoke("benchmark", "list", "--format", "csv").out))
    assert (row["name"], row["evals"], row["runs"]) == ("v1", "3", "1")


def test_mistakes(suite: Path, invoke: Invoke) -> None:
    invoke("benchmark", "mint", "v1", "--from", "first")
    path = suite / "benchmarks" / "v1.yaml"
    grade_again(run_of(suite, "p p p", run_id="again", date="2026-02-02"), "e" * 64, flip=False)
    run_of(suite, "p p p", run_id="stand-in", date="2026-02-03", synthetic=True, model="reference/answers")
    run_of(suite, "p p p", dict.fromkeys(EVALS, make_eval_plan()), run_id="odd", date="2026-02-04")
    for words, said in {
        ("mint", "v1", "--from", "first"): "is there already",
        ("mint", "v2", "--from", "first"): "nothing has changed since v1 was minted",
        ("mint", "V2", "--from", "first"): "no name of a benchmark",
        ("mint", "../v2", "--from", "first"): "no name of a benchmark",
        ("mint", "v2", "--from", "nothing"): "no such run",
        ("mint", "v2", "--from", "again"): "was graded again",
        ("mint", "v2", "--from", "stand-in"): "asked no model",
        ("mint", "v2", "--from", "odd"): "another grading key than its inputs",
        ("mint", "v2", "--from", "first", "-m", "no-such"): "no-such",
        ("show", "v"): "did you mean 'v1'?",
        ("diff", "v1", "other"): "minted: v1",
    }.items():
        result = invoke("benchmark", *words)
        assert result.status == 1 and said in result.err and result.err.count("\n") == 1, words
    assert sorted(each.name for each in path.parent.iterdir()) == ["v1.yaml"]
    text = path.read_text()
    for edited, said in {
        text.replace("2" * 64, "a" * 64): "has other fingerprints than its grading key",
        text.replace("  default:", "  other:"): "its ids are not those of the rest",
        re.sub("(?m)^version: .*", f"version: {'a' * 64}", text): "its ids are not those of the rest",
        text.replace("name: v1", "name: v2"): "says that it is v2",
        text.replace("models:", "model:"): "unknown key 'model'; did you mean 'models'?",
        text.replace("schema: 1", "schema: 2"): "schema",
    }.items():
        path.write_text(edited)
        result = invoke("benchmark", "show", "v1")
        assert result.status == 1 and said in result.err and result.err.count("\n") == 1, said


HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)


NAMES = st.from_regex(r"[0-9]{3}-[a-zé ]{1,9}z/[0-9]{3}-[a-z]{1,9}", fullmatch=True)


EXPERIMENTS = st.builds(
    BenchmarkExperiment,
    id=st.just("0" * 64),
    guidelines=st.sampled_from([None, "guidelines/1e3.md", "null"]),
    guidelines_sha256=st.none() | HASHES,
    prompt_sha256=st.none() | HASHES,
    settings_sha256=HASHES,
)


@given(
    st.dictionaries(NAMES, HASHES, min_size=1),
    st.dictionaries(st.from_regex(r"[a-z][a-z_0-9]{0,9}", fullmatch=True), EXPERIMENTS, min_size=1, max_size=3),
)
def test_the_file_says_what_was_minted(
    tmp_path_factory: pytest.TempPathFactory, evals: dict[str, str], experiments: dict[str, BenchmarkExperiment]
) -> None:
    plan, tools = make_plan(), make_toolchain()
    own = {e: BenchmarkEval(**planned(task_sha256=h).model_dump(exclude={"generation_key"})) for e, h in evals.items()}
    found = Benchmark(
        name="v1",
        version="0" * 64,
        date="2026-02-01",
        suite_commit="1" * 40,
        grading_protocol=plan.grading_protocol,
        backend=plan.backend,
        typescript=tools.typescript,
        lint_rules_sha256=tools.lint_rules_sha256,
        experiments=experiments,
        evals=own,
    ).with_ids()
    folder = BenchmarkFolder(tmp_path_factory.mktemp("home"))
    folder.write(found)
    assert folder.read("v1") == found
    assert folder.head("v1").version == found.version and folder.head("v1").ids == found.ids
    assert len(found.ids) == len(experiments)
