"""Replies compared with texts: the three methods, and the similarity against its definition."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from convex_evals.grading.comparison import MOST_WORDS, compare, normalised, similarity
from convex_evals.records import ComparisonMethod, ComparisonRules, Outcome, StepName, StepOutcome, Verdict
from convex_evals.records.judge import Opinion

EXACT, NORMALISED, SIMILARITY, JUDGE = ComparisonMethod
BY_TEXT = (EXACT, NORMALISED, SIMILARITY)
texts = st.text(st.sampled_from("ab1 .,\n\tÄßﬁ"), max_size=30)


def judged(reply: str, expected: str, method: ComparisonMethod = SIMILARITY, threshold: float = 0.75) -> Verdict:
    return asyncio.run(compare(reply, expected, ComparisonRules(method=method, threshold=threshold)))


@pytest.mark.parametrize(
    ("reply", "expected", "holding"),
    [
        ("Use a Blob.", "Use a Blob.", [EXACT, NORMALISED, SIMILARITY]),
        ("Use a Blob.\n", "  Use a Blob.", [EXACT, NORMALISED, SIMILARITY]),
        ("use  a\nBLOB.", "Use a Blob.", [NORMALISED, SIMILARITY]),
        ("ﬁrst STRASSE", "first straße", [NORMALISED, SIMILARITY]),
        ("Use a Blob!", "Use a Blob.", [SIMILARITY]),
        ("Something else.", "Use a Blob.", []),
        ("", "Use a Blob.", []),
    ],
)
@pytest.mark.parametrize("method", BY_TEXT)
def test_what_holds_and_what_decides(
    method: ComparisonMethod, reply: str, expected: str, holding: list[ComparisonMethod]
) -> None:
    verdict = judged(reply, expected, method)
    assert (verdict.outcome is Outcome.PASSED) == (method in holding)
    found = {test.name: test.outcome for test in verdict.tests}
    assert [name for name, outcome in found.items() if outcome == "passed"] == [each.value for each in holding]
    assert [name for name, outcome in found.items() if outcome == "failed"] == [method.value] * (method not in holding)
    assert {step.step: step.outcome for step in verdict.steps} == {
        **dict.fromkeys(StepName, StepOutcome.SKIPPED),
        StepName.TESTS: StepOutcome.PASSED if method in holding else StepOutcome.FAILED,
    }
    assert verdict.caught_by == (None if method in holding else StepName.TESTS)


def test_the_score_is_the_similarity_whatever_decides() -> None:
    for method in BY_TEXT:
        verdict = judged("a b c x", "a b c y z", method, threshold=0.7)
        assert verdict.score == pytest.approx(2 * 3 / 9)
    assert judged("a b c x", "a b c y z", threshold=2 / 3).outcome is Outcome.PASSED
    failed = judged("a b c x", "a b c y z", threshold=0.7)
    assert failed.reason == "similarity: a similarity of 0.667, less than 0.7"


def test_long_texts_are_compared_by_their_beginnings() -> None:
    begun = "a " * MOST_WORDS
    assert judged(begun + "b " * 1000, begun + "c " * 1000).score == 1.0


def rouge_l(one: list[str], other: list[str]) -> float:
    """By the textbook's table."""
    row = [0] * (len(other) + 1)
    for word in one:
        before, row = row, [0]
        for at, each in enumerate(other):
            row.append(before[at] + 1 if word == each else max(before[at + 1], row[at]))
    return 2 * row[-1] / (len(one) + len(other)) if one or other else 1.0


@given(texts, texts)
def test_the_similarity_is_rouge_l(one: str, other: str) -> None:
    one, other = normalised(one), normalised(other)
    words = [re.findall(r"\w+|[^\w\s]", text) for text in (one, other)]
    assert similarity(one, other) == pytest.approx(rouge_l(*words))
    assert similarity(one, other) == similarity(other, one)


@given(st.text(max_size=40))
def test_normalised_again_is_the_same(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)
    assert similarity(normalised(text), normalised(text)) == 1.0


def by_judge(acceptable: bool | None, method: ComparisonMethod) -> Verdict:
    rules = ComparisonRules(method=method, judge="stub/judge", judge_sha256="0" * 64)
    opinion = Opinion(model="stub/judge", acceptable=acceptable, reason="So it is.", cost_usd=0.5)
    return asyncio.run(compare("Something else.", "Use a Blob.", rules, opinion))


@pytest.mark.parametrize(
    ("acceptable", "outcome", "test"),
    [(True, Outcome.PASSED, "passed"), (False, Outcome.FAILED, "failed"), (None, Outcome.UNSCORED, "skipped")],
)
def test_a_judge_that_decides(acceptable: bool | None, outcome: Outcome, test: str) -> None:
    verdict = by_judge(acceptable, JUDGE)
    assert verdict.outcome is outcome and {each.name: each.outcome for each in verdict.tests}["judge"] == test
    assert verdict.opinion and verdict.opinion.acceptable is acceptable and verdict.judge_cost_usd == 0.5
    said = {True: None, False: "judge: stub/judge: So it is.", None: "stub/judge: So it is."}
    assert verdict.reason == said[acceptable] and verdict.score < 0.5
    assert verdict.without_cost().judge_cost_usd == 0


@pytest.mark.parametrize("acceptable", [True, False, None])
def test_a_judge_that_does_not_decide(acceptable: bool | None) -> None:
    verdict = by_judge(acceptable, SIMILARITY)
    assert verdict.outcome is Outcome.FAILED and verdict.reason and verdict.reason.startswith("similarity: ")
    outcomes = {each.name: each.outcome for each in verdict.tests}
    assert outcomes["judge"] == ("passed" if acceptable else "skipped")


@pytest.mark.parametrize(
    "fields", [{"method": JUDGE}, {"judge": "a/b"}, {"judge_sha256": "0" * 64}, {"threshold": 1.5}, {"threshold": -1}]
)
def test_rules_that_cannot_be(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ComparisonRules(**fields)
