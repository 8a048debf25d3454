"""Records that are read at a glance: what is found is what a look at every value finds, and everything else is None."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.inputs.bounded_json import Limits, TooLarge, decode, has_no_more_keys, is_small
from convex_evals.records import CategorySummary, Counts, EvalSummary, FileRecord, Outcome, RunPlan, StepName, Summary
from convex_evals.records.plain import keys_in, plain_record
from convex_evals.store.records import read_record, to_record, write_record
from tests.factories import EVAL, make_failure, make_generation, make_grade_file, make_verdict
from tests.records.test_records import EXAMPLES
from tests.tier import examples

LIMITS = Limits(size=1_000_000, values=50_000, repeated_keys=False)
PATH = Path("x.json")
COUNTS = Counts(passed=1)
SUMMARY = Summary(
    run_id="default-1",
    model="acme/model-1",
    experiment="default",
    date="2026-01-31",
    synthetic=False,
    benchmark="1" * 64,
    guidelines=None,
    guidelines_sha256=None,
    suite_commit=None,
    counts=COUNTS,
    categories={EVAL.partition("/")[0]: CategorySummary(counts=COUNTS, unscored={"timeout": 2})},
    evals={EVAL: EvalSummary(counts=COUNTS, grade="grade.66666666.json", replies_ms=(7, 5), score=1)},
    cost_usd=0.25,
    reused_from=("default-0",),
    generation_ms=1,
    grading_ms=2,
)
SAID = make_failure({"tests": 'a: no "b": 1\nc: no'}, {"a": 'no "b": 1', "c": 'a \\ backslash and "quotes": x'})
RECORDS: list[FileRecord] = [
    *EXAMPLES.values(),
    SUMMARY,
    make_grade_file(),
    make_grade_file(verdict=SAID),
    make_grade_file(verdict=make_failure({"deploy": "no"})),
    make_grade_file(verdict=make_verdict(Outcome.UNSCORED, StepName.TSC)),
]
TEXTS = ["", "x", '"', '":', ": ", "\\", '\\":', "schema", "schema_", "é\U0001f600", "\x1b[0m", "1", "true", "passed"]
NUMBERS = [0, 1, -1, 1.0, 0.5, 10**15, 10**16, 10**30, True, 1e-300, -0.0]
VALUES: st.SearchStrategy[Any] = st.sampled_from([None, [], {}, [[]], {"a": 1}, *NUMBERS, *TEXTS]).map(deepcopy)
# Documents that `json.dumps` writes none of.
SPELLINGS = ["1e0", "10e-1", "-0", "1.0", "NaN", "-Infinity", "1e999", "1" * 401, "0." + "0" * 400, "1.0e+" + "0" * 399]


def slowly(document: bytes, model: type[FileRecord]) -> FileRecord | None:
    """The record as files are read that are not plain; None where it is refused."""
    try:
        data = decode(document, LIMITS)
        if not isinstance(data, dict) or data.get("kind") != model.model_fields["kind"].default:
            return None
        return to_record(data, PATH, model) if type(data.get("schema")) is int and data["schema"] == 1 else None
    except (ValueError, UserError):
        return None


def agree(document: bytes, model: type[FileRecord]) -> FileRecord | None:
    """What is found at a glance, which is the same, in types and in which keys were there, or nothing."""
    found = plain_record(document, model, LIMITS)
    if found is not None:
        wanted = slowly(document, model)
        assert found == wanted and repr(found) == repr(wanted)
        assert wanted.model_dump(exclude_unset=True) == found.model_dump(exclude_unset=True)
    return found


def places(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(value, (*path, key))


@pytest.mark.parametrize("record", RECORDS)
def test_what_we_write_is_plain(record: FileRecord) -> None:
    document = record.to_json().encode()
    assert agree(document, type(record)) == record
    assert agree(json.dumps(json.loads(document)).encode(), type(record)) == record


@pytest.mark.parametrize("message", ['"a": \\', "\x1b[31mred", "half \ud800"])
def test_what_is_not_plain_is_read_all_the_same(message: str, tmp_path: Path) -> None:
    record = make_grade_file(verdict=make_failure({"tests": "no"}, {"a": message}))
    assert plain_record(record.to_json().encode("utf-8", "replace"), type(record), LIMITS) is None or "half" in message
    write_record(tmp_path / "x.json", record)
    assert read_record(tmp_path / "x.json", type(record)) == record


@pytest.mark.parametrize("name", [path.name for path in (Path(__file__).parents[1] / "golden").glob("*.1.json")])
def test_golden_files_are_plain(name: str) -> None:
    assert agree((Path(__file__).parents[1] / "golden" / name).read_bytes(), type(EXAMPLES[name])) == EXAMPLES[name]


@given(st.data())
@settings(max_examples=examples(1_500))
def test_changed_records_are_found_as_they_are(data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(RECORDS))
    document = json.loads(record.to_json())
    for _ in range(data.draw(st.integers(1, 2))):
        *way, last = data.draw(st.sampled_from([place for place in places(document) if place]))
        inside = document
        for part in way:
            inside = inside[part]
        how = data.draw(st.sampled_from(["set", "drop", "rename", "add", "spell"]))
        if how == "drop":
            del inside[last]
        elif how in ("rename", "add") and isinstance(inside, dict):
            key = data.draw(st.sampled_from([*TEXTS, *inside, "commands", "attempts", "rounds", "usage"]))
            inside[key] = inside.pop(last) if how == "rename" else data.draw(VALUES)
        elif how == "spell":
            inside[last] = f"<{data.draw(st.sampled_from(SPELLINGS))}>"
        else:
            inside[last] = data.draw(VALUES)
    text = json.dumps(document, ensure_ascii=data.draw(st.booleans()), indent=data.draw(st.sampled_from([None, 2])))
    agree(re.sub('"<(.*?)>"', r"\1", text).encode(), type(record))


@given(st.data())
@settings(max_examples=examples(1_500))
def test_damaged_documents_are_found_as_they_are(data: st.DataObject) -> None:
    """Bytes are put in, taken out and written twice: keys with them."""
    record = data.draw(st.sampled_from(RECORDS))
    document = record.to_json().encode()
    for _ in range(data.draw(st.integers(1, 3))):
        ends = [found.end() for found in re.finditer(rb"\n|:|,|\"", document)]
        first, last = sorted(data.draw(st.tuples(*[st.sampled_from([0, *ends, len(document)])] * 2)))
        pieces = [b"", b" ", b"\t", b'"', b"\\", b",", b'"a":', b"\xff", b"\0", b"\xef\xbb\xbf", document[first:last]]
        piece = data.draw(st.sampled_from(pieces))
        document = document[: data.draw(st.sampled_from([first, last]))] + piece + document[last:]
    agree(document, type(record))


@pytest.mark.parametrize("record", RECORDS)
def test_a_key_that_is_there_twice_is_found_nowhere(record: FileRecord) -> None:
    """Each line with a key in turn, beside itself: with the same value, another one, and blanks about the colon."""
    lines = record.to_json().encode().splitlines()
    draw = random.Random(1)
    for n, line in enumerate(lines):
        own = re.fullmatch(rb'( *"[^"]*"):( [^\[{]*?),?', line)
        if own is None:
            continue
        for colon in (b":", b" :", b"\t:"):
            value = draw.choice([own[2], b" null", b" 1", b' "a: \\":"'])
            again = [*lines[:n], own[1] + colon + value + b",", *lines[n:]]
            assert plain_record(b"\n".join(again), type(record), LIMITS) is None
            assert slowly(b"\n".join(again), type(record)) is None


@pytest.mark.parametrize(
    "change",
    [
        ('"schema": 1', '"schema_": 1'),
        ('"schema": 1', '"sch\\u0065ma_": 1'),
        ('"schema": 1', '"schema": true'),
        ('"schema": 1', '"schema": 1.0'),
        ('"schema": 1', '"schema": "1"'),
        ('"schema": 1', '"schema": 2'),
        ('"schema": 1,\n', ""),
        ('"kind": "run",\n', ""),
        ('"trials": 1', '"trials": 1.' + "0" * 400),
        ('"trials": 1', '"trials": 1.' + "0" * 250 + "e" + "0" * 250),
        ('"trials": 1', '"trials": 1' + "0" * 5_000),
        ('"trials": 1', '"trials": NaN'),
        ('"trials": 1', '"trials": ' + "[" * 100_000),
    ],
)
def test_what_is_refused_is_found_nowhere(change: tuple[str, str], tmp_path: Path) -> None:
    text = EXAMPLES["run.1.json"].to_json()
    document = text.replace(*change).encode()
    assert document != text.encode()
    assert plain_record(document, RunPlan, LIMITS) is None
    (tmp_path / "run.json").write_bytes(document)
    with pytest.raises(UserError):
        read_record(tmp_path / "run.json", RunPlan)


def count_keys(text: str) -> int:
    """With those that an object has twice."""
    found = 0

    def counted(pairs: list[tuple[str, Any]]) -> None:
        nonlocal found
        found += len(pairs)

    json.loads(text, object_pairs_hook=counted)
    return found


@pytest.mark.parametrize("record", RECORDS)
def test_keys_are_counted_in_all_objects(record: FileRecord) -> None:
    text = record.to_json()
    assert keys_in(type(record).model_validate_json(text)) == count_keys(text)


_VALUES = st.recursive(
    st.none() | st.floats(allow_nan=False) | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(TEXTS), inner, max_size=4),
)


@given(_VALUES, st.sampled_from([None, 0, 2]), st.sampled_from([":", ": ", " :", "\n:"]), st.booleans())
@example({"a\\": 1, '":': '":'}, None, ":", True)
@example({"a\\ ": 1}, None, " :", True)
def test_keys_are_never_more_than_is_said(value: object, indent: int | None, colon: str, plainly: bool) -> None:
    text = json.dumps(value, indent=indent, separators=(",", colon), ensure_ascii=plainly)
    assert not any(has_no_more_keys(text.encode(), fewer) for fewer in range(count_keys(text)))


@given(st.text('0123456789.eE+-,[] "a', max_size=30), st.integers(0, 900), st.integers(0, 900))
@example("1", 400, 0)
@example("1", 399, 0)
def test_what_is_small_is_over_no_limit(text: str, first: int, second: int) -> None:
    document = f"[{text}1{'0' * first}.{'0' * second}]".encode()
    few = Limits(2_000, values=40)
    if is_small(document, few):
        try:
            decode(document, few)
        except TooLarge:
            pytest.fail("over a limit")
        except ValueError:
            pass


def test_large_records_are_plain_and_said_to_be_too_large_where_they_are() -> None:
    generations = tuple(make_generation(n) for n in range(1, 900))
    record = EXAMPLES["generation.1.json"].model_copy(update={"trials": generations})
    document = record.to_json().encode()
    assert plain_record(document, type(record), LIMITS) == record
    assert plain_record(document, type(record), Limits(len(document) - 1)) is None
    assert plain_record(document, type(record), Limits(len(document), values=10_000)) is None
