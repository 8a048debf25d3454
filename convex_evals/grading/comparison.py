"""The text of a reply compared with the text that was expected, by measures that anybody can compute again.

Similarity is the F-measure of ROUGE-L (Lin 2004) over words and signs: 2 L / (m + n), where L is the length of the
longest common subsequence of texts of m and n words. Case, blanks and forms of characters do not count.
"""

from __future__ import annotations

import asyncio
import re
import time
import unicodedata
from collections.abc import Sequence

from convex_evals.grading.tester import TestReport
from convex_evals.grading.verdict import build_verdict, skipped
from convex_evals.records import (
    ComparisonMethod,
    ComparisonRules,
    StepName,
    StepOutcome,
    StepResult,
    TestResult,
    Verdict,
)
from convex_evals.records.grade import reason_of_tests
from convex_evals.records.judge import Opinion

# Raised by hand when the meaning of a measure changes.
COMPARISON_PROTOCOL = 1
# Of one text, those that are compared: the time grows with the product of both.
MOST_WORDS = 50_000
_WORD = re.compile(r"\w+|[^\w\s]")
_AT_ONCE = 20_000  # characters; comparing more takes longer than other tasks should wait
_NOTHING_RUNS = "nothing of the reply is run: it is compared with a text"


async def compare(reply: str, expected: str, rules: ComparisonRules, opinion: Opinion | None = None) -> Verdict:
    """Return the verdict on `reply`. Its score is the similarity, whatever decides.

    Its tests are the methods, that of the judge where it has an `opinion`. One that does not hold is `failed` where it
    decides, and `skipped` otherwise. A judge that decides and gave no answer leaves the reply unscored.
    """
    if len(reply) + len(expected) > _AT_ONCE:
        return await asyncio.to_thread(_compare, reply, expected, rules, opinion)
    return _compare(reply, expected, rules, opinion)


def _compare(reply: str, expected: str, rules: ComparisonRules, opinion: Opinion | None) -> Verdict:
    started = time.monotonic()
    ours, theirs = normalised(reply), normalised(expected)
    alike = similarity(ours, theirs)
    differs = "the texts differ"
    found = {
        ComparisonMethod.EXACT: (reply.strip() == expected.strip(), differs),
        ComparisonMethod.NORMALISED: (ours == theirs, f"{differs} in more than case, blanks and forms of characters"),
        ComparisonMethod.SIMILARITY: (
            alike >= rules.threshold,
            f"a similarity of {alike:.3f}, less than {rules.threshold:g}",
        ),
    }
    if opinion is not None:
        said = f"{opinion.model}: {opinion.reason}"
        found[ComparisonMethod.JUDGE] = (opinion.acceptable is True, said)
    is_open = rules.method is ComparisonMethod.JUDGE and (opinion is None or opinion.acceptable is None)
    decides = None if is_open else rules.method
    tests = tuple(_test(method, *held, decides=method is decides) for method, held in found.items())
    took_ms = round((time.monotonic() - started) * 1000)
    if is_open:
        why = found.get(ComparisonMethod.JUDGE, (False, "the judge was not asked"))[1]
        outcome, reason = StepOutcome.UNSCORED, why
    elif found[rules.method][0]:
        outcome, reason = StepOutcome.PASSED, None
    else:
        outcome, reason = StepOutcome.FAILED, reason_of_tests(tests)
    step = StepResult(step=StepName.TESTS, outcome=outcome, duration_ms=took_ms, reason=reason)
    steps = [step if name is StepName.TESTS else skipped(name, _NOTHING_RUNS) for name in StepName]
    return build_verdict(steps, TestReport(tests, ())).model_copy(update={"score": round(alike, 6), "opinion": opinion})


def _test(method: ComparisonMethod, holds: bool, message: str, *, decides: bool) -> TestResult:
    if holds:
        return TestResult(name=method.value, outcome="passed")
    return TestResult(name=method.value, outcome="failed" if decides else "skipped", message=message)


def normalised(text: str) -> str:
    """Return `text` in one case and one form of its characters (NFKC), with single blanks between words."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def similarity(one: str, other: str) -> float:
    """Return how alike two normalised texts are, 0 to 1, by their first `MOST_WORDS` words; empty ones are alike."""
    from rapidfuzz.distance import Indel

    numbers: dict[str, int] = {}
    return Indel.normalized_similarity(_words(one, numbers), _words(other, numbers))


def _words(text: str, numbers: dict[str, int]) -> Sequence[int]:
    """The words and signs of `text` as numbers, which `numbers` gives to each."""
    found = (match[0] for _, match in zip(range(MOST_WORDS), _WORD.finditer(text), strict=False))
    return [numbers.setdefault(word, len(numbers)) for word in found]
