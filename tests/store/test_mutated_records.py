"""Records in which one value is another."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import Invoke
from tests.store.hostile import EVAL, READS, WRITES, plant, run_folder, tree

pytestmark = pytest.mark.full

SITES = ("run.json", "summary.json", f"evals/{EVAL}/generation.json", f"evals/{EVAL}/grade.66666666.json")
TEXTS = ["", "../..", "/etc", "x" * 2_000, "\x1b[2J\r::error::x", "2026-02-30"]
VALUES: st.SearchStrategy[Any] = st.sampled_from([None, True, 0, -1, 10**14, 1e308, [], {}, [[]], *TEXTS])


def places(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Of every value in a document."""
    yield path
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(value, (*path, key))


def mutated(data: Any, place: tuple[str | int, ...], value: Any, how: str) -> Any:
    if not place:
        return value
    if isinstance(data, dict | list):
        copy = dict(data) if isinstance(data, dict) else list(data)
        if len(place) == 1 and how == "drop":
            del copy[place[0]]  # type: ignore[arg-type]
        elif len(place) == 1 and how == "rename" and isinstance(copy, dict):
            copy[str(value)] = copy.pop(str(place[0]))
        else:
            copy[place[0]] = mutated(copy[place[0]], place[1:], value, how)  # type: ignore[index]
        return copy
    return data


@given(st.data())
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_mutation_of_a_record_is_a_bug(
    tmp_path_factory: pytest.TempPathFactory, invoke: Invoke, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("mutated") / "suite"
    plant(root)
    for _ in range(data.draw(st.integers(1, 2))):
        path = run_folder(root) / data.draw(st.sampled_from(SITES))
        document = json.loads(path.read_text())
        place = data.draw(st.sampled_from(list(places(document))))
        how = data.draw(st.sampled_from(["set", "drop", "rename"]))
        path.write_text(json.dumps(mutated(document, place, data.draw(VALUES), how)))
    outside = tree(root / "evals")
    for words in (*READS, *WRITES):
        result = invoke(*words, cwd=root)
        assert result.status in (0, 1), (words, result)
        assert "bug in" not in result.err and "\x1b" not in result.out + result.err
        if result.status:
            assert result.err.splitlines()[-1].startswith("error: ")
        if "--json" in words and result.status == 0:
            json.loads(result.out)
    assert tree(root / "evals") == outside
    shutil.rmtree(root.parent)


def test_a_graded_reply_that_is_gone_is_no_bug(tmp_path_factory: pytest.TempPathFactory, invoke: Invoke) -> None:
    root = tmp_path_factory.mktemp("mutated") / "suite"
    plant(root)
    path = run_folder(root) / SITES[2]
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "trials": document["trials"][1:]}))
    for words in (*READS, *WRITES):
        result = invoke(*words, cwd=root)
        assert result.status in (0, 1), (words, result)
