"""What `cli validate` makes of verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from convex_evals.config import open_workspace
from convex_evals.errors import UserError
from convex_evals.grading.case_results import CaseResult
from convex_evals.grading.cases import Case, cases_of, foils_of, matching
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.suite_validation import Choice, SuiteValidation
from convex_evals.grading.validation import Validation
from convex_evals.grading.validation_table import validation_table
from convex_evals.grading.verdict import build_verdict
from convex_evals.records import StepName, StepOutcome, StepResult, Verdict
from convex_evals.render.terminal import Display
from convex_evals.suite.suite import load_suite
from tests.factories import make_eval, write_files

OTHER = "export const other = 1;"


def verdict(caught_by: StepName | None = None, seconds: float = 1.0, unscored: bool = False) -> Verdict:
    bad = StepOutcome.UNSCORED if unscored else StepOutcome.FAILED
    return build_verdict(
        [
            StepResult(
                step=step,
                outcome=bad if step is caught_by else StepOutcome.PASSED,
                duration_ms=round(seconds * 1000) if step is StepName.TESTS else 0,
                reason="no" if step is caught_by else None,
            )
            for step in StepName
        ],
        None,
    )


def cases(root: Path) -> dict[str, Case]:
    folder = make_eval(root)
    write_files(folder / "wrong" / "one", {"convex/main.ts": "1", "reason.txt": "One.\ncaught by: tests"})
    write_files(folder / "accept" / "two", {"convex/main.ts": "2", "reason.txt": "Two."})
    make_eval(root, "000-fundamentals/001-same")
    make_eval(root, "000-fundamentals/002-other", {"answer/convex/main.ts": OTHER})
    suite = load_suite(root)
    first = [suite.evals[0]]
    return {c.project.label: c for c in cases_of(first) + foils_of(first, suite)}


def test_what_must_pass_and_what_must_not(tmp_path: Path) -> None:
    found = cases(tmp_path)
    good = {"answer": None, "accept/two": None, "wrong/one": StepName.TESTS, "foil/empty": StepName.FILESYSTEM}
    results = tuple(CaseResult(found[label], verdict(step)) for label, step in good.items())
    validation = Validation(results)
    assert validation.is_clean
    table = validation_table(validation)
    assert [table.rows[0][i].text for i in table.shown][1:5] == ["passed", "1/1", "1/1", "1/1"]


def test_each_way_to_be_off_has_its_words(tmp_path: Path) -> None:
    found = cases(tmp_path)
    off = [
        ("answer", verdict(StepName.TESTS), "must pass, failed at tests: no"),
        ("accept/two", verdict(StepName.ESLINT, unscored=True), "unscored at eslint: no"),
        ("wrong/one", verdict(), "must not pass, and did; expected to be caught by tests"),
        ("wrong/one", verdict(StepName.TSC), "caught by tsc, not by tests as its reason.txt says: no"),
        ("wrong/one", verdict(StepName.TESTS, unscored=True), "unscored at tests: no"),
        ("foil/package-json", verdict(), "must not pass, and did: it has a package.json and nothing else"),
    ]
    for label, graded, words in off:
        validation = Validation((CaseResult(found[label], graded),))
        assert validation.complaints == [f"000-fundamentals/000-answer {label}: {words}"]


def test_an_eval_without_wrong_projects_is_off(tmp_path: Path) -> None:
    results = (CaseResult(cases(tmp_path)["answer"], verdict()),)
    work = SuiteValidation(open_workspace(tmp_path, None, tmp_path), Choice(), 1, Containment(), Display())
    work.find_cases()
    assert work.untried == ("000-fundamentals/001-same", "000-fundamentals/002-other")
    (first, _) = Validation(results, untried=work.untried).complaints
    assert first.startswith("000-fundamentals/001-same: no project under wrong/")
    for choice in (Choice(wrong=False), Choice(project="answer")):
        part = SuiteValidation(open_workspace(tmp_path, None, tmp_path), choice, 1, Containment(), Display())
        assert part.find_cases() and part.untried == ()


def test_flaky_is_off_even_where_each_time_could_be_right(tmp_path: Path) -> None:
    """Caught, but not at the same step each time."""
    empty = cases(tmp_path)["foil/empty"]
    steps = (StepName.FILESYSTEM, StepName.TESTS, StepName.FILESYSTEM)
    validation = Validation(tuple(CaseResult(empty, verdict(s), i + 1) for i, s in enumerate(steps)))
    (line,) = validation.complaints
    assert line.endswith("foil/empty: flaky: 2 x failed at filesystem; 1 x failed at tests")
    assert validation.rows()[0].total("foil") == 1


def test_a_slow_grader_is_off_where_there_is_a_limit(tmp_path: Path) -> None:
    results = (CaseResult(cases(tmp_path)["answer"], verdict(seconds=6)),)
    assert Validation(results).is_clean
    (line,) = Validation(results, grader_limit=5).complaints
    assert line == "000-fundamentals/000-answer answer: its tests took 6.0 s, over 5 s"


def test_projects_are_chosen_by_name(tmp_path: Path) -> None:
    found = list(cases(tmp_path).values())
    assert [c.project.label for c in matching(found, "wrong|two")] == ["accept/two", "wrong/one"]
    with pytest.raises(UserError, match="matches none of the 6 projects"):
        matching(found, "nothing")
    with pytest.raises(UserError, match="not a regular expression"):
        matching(found, "(")


def test_a_foil_is_the_answer_of_the_nearest_eval_that_differs(tmp_path: Path) -> None:
    foil = cases(tmp_path)["foil/other-answer"].project
    assert foil.reason == "it is the answer of 000-fundamentals/002-other"
    assert foil.files["convex/main.ts"] == OTHER


def test_a_suite_of_one_eval_has_no_other_answer(tmp_path: Path) -> None:
    make_eval(tmp_path)
    suite = load_suite(tmp_path)
    assert [c.project.label for c in foils_of(suite.evals, suite)] == ["foil/empty", "foil/package-json"]
