from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.grading.verdict import failed_reply, unscored
from convex_evals.records import (
    Attempt,
    EvalConfig,
    FileRecord,
    GenerationFile,
    GradeFile,
    Outcome,
    Pruned,
    RunPlan,
    StepName,
    Summary,
)
from convex_evals.records.api_key import ApiKey
from convex_evals.records.batch import BatchedRequest, BatchFile
from convex_evals.records.human import parse_human
from convex_evals.records.journal import JournalEntry
from convex_evals.records.judge import JudgeFile, MeasuredOpinion
from convex_evals.records.validation import ValidationRecord
from convex_evals.stats import EvalPair
from convex_evals.store.records import read_record, write_record
from tests.factories import (
    make_failure,
    make_generation,
    make_generation_file,
    make_grade_file,
    make_plan,
    make_validation,
    make_verdict,
)

GOLDEN = Path(__file__).parents[1] / "golden"
FAILED = make_verdict(Outcome.FAILED, StepName.TESTS)
EXAMPLES: dict[str, FileRecord] = {
    "run.1.json": make_plan(),
    "generation.1.json": make_generation_file(),
    "grade.1.json": make_grade_file(verdict=FAILED),
    "pruned.1.json": Pruned(date="2026-01-31", responses=3, bytes=4096),
    "batch.1.json": BatchFile(
        token="0123456789abcdef",
        model="openai/gpt-5",
        submitted_at="2026-01-31T10:00:00.000+00:00",
        batch="batch_68d2",
        requests=(
            BatchedRequest(
                eval="000-fundamentals/000-example",
                trial=2,
                generation_key="5" * 64,
                max_output_tokens=16_000,
                attempts=(Attempt(fault="unprocessed", max_output_tokens=16_000, batch="fedcba9876543210"),),
            ),
        ),
    ),
    "api-key.1.json": ApiKey(
        name="nightly",
        key_sha256="5" * 64,
        scopes=("export:golden",),
        created="2026-01-31",
        expires="2026-03-31",
        revoked="2026-02-28",
    ),
    "judge.1.json": JudgeFile(
        model="acme/model-1",
        judge_sha256="6" * 64,
        rubric="judges/rubric.md",
        opinions={
            "3fa1c2d4000000000000": MeasuredOpinion(
                model="acme/model-1", acceptable=True, reason="It is right.", cost_usd=0.01, asked_sha256="7" * 64
            )
        },
    ),
    "validation.1.json": make_validation(
        [EvalPair("a/flipped", 0, 3, 3, 3), EvalPair("a/lost", 0, 3, 2, 3), EvalPair("a/same", 3, 3, 3, 3)],
        [EvalPair("a/flipped", 1, 10, 10, 10)],
    ),
    "journal.1.json": JournalEntry(
        generation_key="5" * 64, generation=make_generation(), response="# Files\n", verdict=FAILED, commands=1
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_golden_files_of_each_schema(name: str, golden: Callable[[str, str], None], tmp_path: Path) -> None:
    record = EXAMPLES[name]
    golden(name, record.to_json())
    assert read_record(GOLDEN / name, type(record)) == record
    write_record(tmp_path / "copy.json", record)
    assert (tmp_path / "copy.json").read_bytes() == (GOLDEN / name).read_bytes()


@given(st.text(st.characters(categories=("Cs", "Ll", "So", "Cc")), max_size=20))
def test_records_quote_what_utf_8_cannot_hold(said: str) -> None:
    verdict = make_failure({"tsc": said, "tests": said}, {said: said})
    text = make_grade_file(verdict=verdict).to_json()
    read = GradeFile.from_data(json.loads(text.encode()))
    assert read.trials[0].verdict == verdict
    halves = re.sub("[\ud800-\udbff][\udc00-\udfff]", "", said)
    assert ("\ufffd" in text) == any("\ud800" <= character <= "\udfff" for character in halves)


@pytest.mark.parametrize("model", [RunPlan, GenerationFile, GradeFile, Summary, Pruned, ValidationRecord, JournalEntry])
def test_a_file_from_the_future_is_refused(model: type[FileRecord], tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"kind": model.model_fields["kind"].default, "schema": 99}))
    with pytest.raises(UserError, match=r"x\.json: schema 99 is newer than 1; upgrade convex-evals"):
        read_record(path, model)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a 'run' file"),
        ('{"kind": "grade"}', "not a 'run' file"),
        ('{"kind": "run"}', "no schema number"),
        ('{"kind": "run", "schema": 1}', "run_id: field required"),
    ],
)
def test_broken_files_are_one_clear_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(UserError) as error:
        read_record(path, RunPlan)
    assert message in str(error.value) and "\n" not in str(error.value) and str(path) in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tiemouts: {}", "eval.yaml:1: unknown key 'tiemouts'; did you mean 'timeouts'?"),
        ("timeouts: {test: 3}", "eval.yaml:1: unknown key 'timeouts.test'; did you mean 'tests'?"),
        ("timeouts: {tests: -1}", "eval.yaml:1: timeouts.tests: input should be greater than 0"),
        ("# how\n\ntimeouts:\n  # few\n  tests: 3\n  deploy: soon\n", "eval.yaml:6: timeouts.deploy: input should be"),
        ("tags: [a,\n b,\n {c: 1}]", "eval.yaml:3: tags.2: input should be a valid string"),
        ("pipeline: quick", "eval.yaml:1: pipeline: input should be 'full' or 'static'"),
        ("- a", "eval.yaml: expected keys and values, found a list"),
        ("a: [", "eval.yaml:1:5: not valid YAML: expected the node content, but found '<stream end>'"),
    ],
)
def test_what_people_write_is_checked(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        parse_human(text, Path("eval.yaml"), EvalConfig)
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


def test_an_empty_settings_file_is_all_defaults() -> None:
    assert parse_human("", Path("eval.yaml"), EvalConfig) == EvalConfig()


def test_a_grade_file_holds_each_message_once() -> None:
    said = {
        "reads > all": "AssertionError: expected 1 to be 2",
        "writes": "Waited 2000 ms for the list.\nIt was empty.",
    }
    tests = "\n".join(f"{name}: {message}" for name, message in said.items())
    down = unscored("server_error: the provider is down")
    for verdict in (
        make_failure({"tests": tests}, {"fine": None, **said}),
        make_failure({"tests": "no test of the grader ran"}),
        make_failure({"tests": f"Error: outside of tests\n{tests}"}, said),
        failed_reply("no files in the reply"),
        down,
    ):
        text = make_grade_file(verdict=verdict).to_json()
        assert GradeFile.from_data(json.loads(text)).trials[0].verdict == verdict
    text = make_grade_file(verdict=make_failure({"tests": tests}, said)).to_json()
    assert [text.count(json.dumps(message)[1:-1]) for message in said.values()] == [1, 1]
    assert make_grade_file(verdict=down).to_json().count("the provider is down") == 1


def test_a_grade_file_with_all_reasons_is_read_as_it_is() -> None:
    verdict = make_failure({"tests": "a: no"}, {"a": "no"})
    data = make_grade_file(verdict=verdict).model_dump(mode="json", by_alias=True)
    assert GradeFile.from_data(data).trials[0].verdict == verdict
