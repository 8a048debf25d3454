"""What kind of failure a verdict is: the same mistake has the same signature in every reply. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from convex_evals.records import StepName, StepOutcome, Verdict
from convex_evals.render.verdicts import headline
from convex_evals.reports.model import Signature

_TYPE_ERROR = re.compile(r"^\S{1,300}?:\d+:\d+ (TS\d+): (.*)$", re.MULTILINE)
_LINT = re.compile(r"^\S{1,300}?:\d+:\d+ ([@\w/-]{1,100}): ", re.MULTILINE)
_NAMED = re.compile(
    r"^(?:Property|Cannot find (?:name|module)|Module|Object literal may only specify known properties)"
)
_QUOTED = re.compile(r"""['"`]([\w$@./:-]{1,60})['"`]""")
_QUOTED_LAST = re.compile(r"""(?:for import|has no exported member|and) ['"`]([\w$@./:-]{1,60})['"`]""")
_ERROR_CLASS = re.compile(r"\b((?!Assertion)[A-Z][A-Za-z]{2,40}Error)\b: ?([^\n]*)")
_MISSING_FUNCTION = re.compile(r"Could not find (?:public )?function for '([^']{1,80})'")
_ASSERTION = re.compile(r"^(?:The call of `[^`]*` failed: )?(?:AssertionError: )?")
# Where it went wrong, which comes before what went wrong: a bundler's place, what Convex analyzed, and its document.
_PLACE = re.compile(
    r"^(?:\S{1,300}:\d+:\d+:? (?:ERROR: )?)?(?:Failed to analyze \S{1,300}: )?(?:Uncaught )?"
    r"(?:Document with ID \S{1,100} in table \S{1,100} does not match the schema: )?"
)
_WAITED = re.compile(r"^Waited \d+ ms for ([^.\n]{1,60})", re.MULTILINE)
_VARIABLE = re.compile(r"""(['"`]).*?\1|\d+|[^\w\s]+""")
_MOST_TEXT = 20_000  # characters of one message that are looked at
_MOST_KEPT = 200  # of them: a few megabytes at most
_QUOTE = re.compile(r"""['"`]""")
_DANGLING = re.compile(r"(?: (?:in|of|for|from|to|the|a))+$")


def signature(verdict: Verdict) -> Signature:
    """Of the step that caught it."""
    return next(_of_step(verdict, verdict.caught_by or StepName.TESTS))


def signatures(verdict: Verdict) -> tuple[Signature, ...]:
    """Of all steps that failed, each once, the first one's first."""
    failed = [s.step for s in verdict.steps if s.outcome is StepOutcome.FAILED]
    found = [s for step in failed for s in _of_step(verdict, step)]
    return tuple(dict.fromkeys([signature(verdict), *found]))


def gist(verdict: Verdict, width: int = 160) -> str:
    """What went wrong, without where: the complaint itself, on one line."""
    if verdict.caught_by is StepName.TESTS:
        message = next((t.message for t in verdict.tests if t.outcome == "failed" and t.message), None)
        if message:
            return complaint(message, width)
    return complaint(verdict.reason, width)


def complaint(message: str | None, width: int = 160) -> str:
    """Of a step's reason or a test's message, the part that says what is wrong."""
    return _complaint((message or "")[:_MOST_TEXT], width)


@lru_cache(maxsize=_MOST_KEPT)
def _complaint(start: str, width: int) -> str:
    error = _ERROR_CLASS.search(start)
    line = error[0] if error else headline(start, 10 * width)
    return headline(_ASSERTION.sub("", _PLACE.sub("", line)), width)


def _of_step(verdict: Verdict, step: StepName) -> Iterator[Signature]:
    reason = (next((s.reason for s in verdict.steps if s.step == step), None) or "")[:_MOST_TEXT]
    found: list[Signature] = []
    if step is StepName.TSC:
        found = [Signature(step, m[1], _subject(m[2])) for m in _TYPE_ERROR.finditer(reason)]
    elif step is StepName.ESLINT:
        found = [Signature(step, m[1]) for m in _LINT.finditer(reason)]
    elif step is StepName.TESTS:
        found = [_of_test(t.name[:120], (t.message or "")[:_MOST_TEXT]) for t in verdict.tests if t.outcome == "failed"]
    yield from found or [_of_message(step, reason)]


# One failure is asked about by lists, groups and patterns.
@lru_cache(maxsize=_MOST_KEPT)
def _of_test(name: str, message: str) -> Signature:
    step = StepName.TESTS
    if missing := _MISSING_FUNCTION.search(message):
        return Signature(step, "function not found", missing[1].strip())
    if error := _ERROR_CLASS.search(message):
        quoted = _QUOTED.search(error[2])
        return Signature(step, error[1], quoted[1] if quoted else "")
    if waited := _WAITED.search(message):
        return Signature(step, "waited in vain", waited[1].strip())
    # An assertion says what one test wants: only the same test is the same failure.
    return Signature(step, "assertion", name)


@lru_cache(maxsize=_MOST_KEPT)
def _of_message(step: StepName, reason: str) -> Signature:
    line = _PLACE.sub("", headline(reason, 300))
    about = _QUOTED_LAST.search(line) or _QUOTED.search(line)
    before = _QUOTE.split(line, maxsplit=1)[0] if about else line
    words = _DANGLING.sub("", " ".join(_VARIABLE.sub(" ", before).split()[:8]))
    return Signature(step, words or "no reason given", about[1] if about else "")


def _subject(message: str) -> str:
    """What a type error is about, where that is a name and not a type."""
    if not _NAMED.match(message):
        return ""
    found = _QUOTED_LAST.search(message) if message.startswith("Module") else None
    found = found or _QUOTED.search(message)
    return found[1] if found else ""
