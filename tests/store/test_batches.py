"""The batches of a run on disk: which request counts, what is taken in, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from convex_evals.errors import UserError
from convex_evals.records import Attempt
from convex_evals.records.batch import BatchedRequest, BatchFile, is_batch_id
from convex_evals.store.batches import BatchFolder
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from tests.factories import EVAL, make_plan

KEY = "0" * 64


def token(n: int) -> str:
    return f"{n:016x}"


def make_batch(n: int, minute: int, *before: int, trial: int = 1, batch: str | None = "batch_1") -> BatchFile:
    """Submitted at this minute; `before` are the batches that its request was in before."""
    attempts = tuple(Attempt(fault="expired", batch=token(b)) for b in before)
    request = BatchedRequest(eval=EVAL, trial=trial, generation_key=KEY, max_output_tokens=100, attempts=attempts)
    return BatchFile(
        token=token(n),
        model="stub/model",
        submitted_at=f"2026-11-27T10:{minute:02}:00.000+00:00",
        batch=batch,
        requests=(request,),
    )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    plan = make_plan(model="stub/model", trials=2)
    evals = {EVAL: next(iter(plan.evals.values())).model_copy(update={"generation_key": KEY})}
    return RunStore(tmp_path / "runs").create(plan.model_copy(update={"evals": evals}))


def found(run: Run, *used: int) -> str | None:
    ticket = BatchFolder(run).find(EVAL, 1, KEY, [token(n) for n in used])
    return ticket.file.token if ticket else None


def test_the_newest_request_counts_until_it_is_used(run: Run) -> None:
    folder = BatchFolder(run)
    assert found(run) is None
    folder.write(make_batch(1, 5))
    folder.write(make_batch(2, 9, 1))
    assert found(run) == token(2) and found(run, 1) == token(2) and found(run, 1, 2) is None
    folder.remove(token(2))
    assert found(run) == token(1)


def test_a_clock_that_is_wrong_does_not_bring_back_an_old_request(run: Run) -> None:
    folder = BatchFolder(run)
    folder.write(make_batch(1, 50))  # by a machine whose clock is fast
    folder.write(make_batch(2, 9, 1))
    folder.write(make_batch(3, 11, 1, 2))
    assert found(run) == token(3)


def test_what_others_submitted_is_taken_in_once(run: Run) -> None:
    unknown, known = make_batch(1, 5, batch=None), make_batch(1, 5)
    folder = BatchFolder(run)
    assert folder.take_in([unknown]) == 1 and folder.take_in([known]) == 1 == folder.pending()
    assert folder.take_in([known, unknown, make_batch(1, 5, batch="batch_2")]) == 0
    assert BatchFolder(run).files() == [known]


@pytest.mark.parametrize(
    "other",
    [
        make_batch(1, 5, trial=3),
        make_batch(1, 5).model_copy(update={"model": "stub/other"}),
        make_batch(1, 5).model_copy(
            update={"requests": (make_batch(1, 5).requests[0].model_copy(update={"generation_key": "1" * 64}),)}
        ),
    ],
    ids=["trial", "model", "prompt"],
)
def test_what_was_not_planned_is_not_taken_in(run: Run, other: BatchFile) -> None:
    with pytest.raises(UserError, match="asks for other things than"):
        BatchFolder(run).take_in([other])
    assert BatchFolder(run).files() == []


def test_a_file_under_another_name_is_refused(run: Run) -> None:
    folder = BatchFolder(run)
    folder.write(make_batch(1, 5))
    folder.path(token(1)).rename(folder.path(token(2)))
    with pytest.raises(UserError, match="is another batch"):
        BatchFolder(run).files()


@pytest.mark.parametrize(
    ("field", "value"),
    [("batch", "../models"), ("batch", "a b"), ("batch", "a?x=1"), ("submitted_at", "2026-11-27"), ("token", "x")],
)
def test_what_would_become_part_of_an_address(field: str, value: str) -> None:
    data = json.loads(make_batch(1, 5).to_json())
    with pytest.raises(ValidationError):
        BatchFile.from_data({**data, field: value})


@given(st.text(max_size=20))
def test_ids_lead_nowhere_else(text: str) -> None:
    if is_batch_id(text):
        assert ".." not in text and not text.startswith("/") and not set(text) & set("?#%&\\ \n:@")
