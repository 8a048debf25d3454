"""What names, hashes and numbers in records may be: they become paths, keys and words of commands."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, Field

from convex_evals.text import shortened

MOST_TRIALS = 1_000  # of one eval in one run
_PART = r"\w(?:[\w .,+@~()=%-]{0,98}[\w+@~()=%-])?"
_EVAL_ID = re.compile(rf"{_PART}/{_PART}")
_CATEGORY = re.compile(_PART)
_RUN_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_EXPERIMENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_SLUG = re.compile(r"[^\W_][\w \x21-\x2e\x3a-\x7e]{0,99}/[\w \x21-\x7e]{1,199}")
_BENCHMARK = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_DEPLOYMENT = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")
_API_KEY = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_HASH = re.compile(r"[0-9a-f]{64}")
# The checker tells the beginning of the lint rules' hash; runs have recorded that, and whole hashes.
_RULES = re.compile(r"[0-9a-f]{16}|[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_IDENTITY = re.compile(r"[0-9a-f]{16,64}")
_GRADE_NAME = re.compile(r"grade\.[0-9a-f]{8}\.json")
_SESSION = re.compile(r"[0-9a-f]{20}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?\+00:00", re.ASCII)
_LINE = re.compile(r"[^\n\r\x00-\x1f\x7f-\x9f\u2028\u2029]{0,1000}")


def is_eval_id(text: str) -> bool:
    """Whether `text` may name an eval: what becomes of it is two folder names, of letters, digits and a few signs."""
    return _EVAL_ID.fullmatch(text) is not None


def is_benchmark_name(text: str) -> bool:
    """Whether `text` may name a benchmark, and its file."""
    return _BENCHMARK.fullmatch(text) is not None


def is_api_key_name(text: str) -> bool:
    """Whether `text` may name a key of the export API, and its file."""
    return _API_KEY.fullmatch(text) is not None


def utc_now() -> str:
    """The present as a `Moment`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _matching(pattern: re.Pattern[str], what: str) -> AfterValidator:
    # Runs repeat each other's names and hashes.
    @lru_cache(maxsize=8_192)
    def check(text: str) -> str:
        if not pattern.fullmatch(text) or text != text.strip():
            raise ValueError(f"'{shortened(text, 60)}' is no {what}")
        return text

    return AfterValidator(check)


def _day(text: str) -> str:
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError(f"'{text[:20]}' is not YYYY-MM-DD")
    return text


def _moment(text: str) -> str:
    datetime.fromisoformat(text)
    if not _MOMENT.fullmatch(text):
        raise ValueError(f"'{text[:40]}' is not YYYY-MM-DDTHH:MM:SS.mmm+00:00")
    return text


RunId = Annotated[str, _matching(_RUN_ID, "name of a run (lower-case letters, digits, '_' and '-')")]
EvalId = Annotated[str, _matching(_EVAL_ID, "eval id, `category/name` of letters, digits and a few signs")]
Category = Annotated[str, _matching(_CATEGORY, "category: letters, digits and a few signs")]
Slug = Annotated[str, _matching(_SLUG, "slug of a model, `provider/name`")]
ExperimentName = Annotated[str, _matching(_EXPERIMENT, "name of an experiment")]
BenchmarkName = Annotated[
    str, _matching(_BENCHMARK, "name of a benchmark (lower-case letters, digits, '.', '_' and '-')")
]
DeploymentName = Annotated[
    str, _matching(_DEPLOYMENT, "name of a deployment (lower-case letters, digits and '-', 60 at most)")
]
ApiKeyName = Annotated[str, _matching(_API_KEY, "name of a key (lower-case letters, digits, '_' and '-')")]
Sha256 = Annotated[str, _matching(_HASH, "SHA-256 in hexadecimal digits")]
RulesHash = Annotated[str, _matching(_RULES, "hash of lint rules in hexadecimal digits")]
Commit = Annotated[str, _matching(_COMMIT, "commit's hash")]
Identity = Annotated[str, _matching(_IDENTITY, "identity of a reply, in hexadecimal digits")]
SessionId = Annotated[str, _matching(_SESSION, "id of a session, 20 hexadecimal digits")]
GradeName = Annotated[str, _matching(_GRADE_NAME, "name of a grade file")]
Day = Annotated[str, AfterValidator(_day)]
# UTC; as texts they sort by time.
Moment = Annotated[str, AfterValidator(_moment)]
Line = Annotated[str, _matching(_LINE, "line of text")]
# Far more than there is, and no more than a double holds exactly: milliseconds, tokens, bytes, trials.
MOST_NATURAL = 10**15
MOST_DOLLARS = 1e9
Natural = Annotated[int, Field(ge=0, le=MOST_NATURAL)]
Positive = Annotated[int, Field(ge=1, le=10**9)]
TrialNumber = Annotated[int, Field(ge=1, le=MOST_TRIALS)]
Dollars = Annotated[float, Field(ge=0, le=MOST_DOLLARS)]
