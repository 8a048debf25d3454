"""`cli prune`: which runs lose their replies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convex_evals.store.summary import summarize
from tests.conftest import Invoke
from tests.factories import EVAL, make_eval, make_run

OTHER = "000-fundamentals/001-other"


@pytest.mark.parametrize(("keep", "pruned"), [(0, ["a", "b", "c"]), (1, ["a", "b"]), (2, ["a"]), (3, [])])
def test_a_run_that_is_not_complete_uses_up_no_place(
    tmp_path: Path, invoke: Invoke, keep: int, pruned: list[str]
) -> None:
    make_eval(tmp_path)
    runs, rows = tmp_path / "runs", {EVAL: "p", OTHER: "f"}
    for day, name in enumerate("abc", 1):
        make_run(runs, rows, run_id=f"default-{name}", date=f"2026-01-0{2 * day}")
        make_run(runs, rows, run_id=f"default-begun-{name}", date=f"2026-01-0{2 * day + 1}", complete=False)
    make_run(runs, rows, run_id="default-begun", date="2026-02-01", complete=False)
    lacking = make_run(runs, rows, run_id="default-finished-without-one", date="2026-02-02", complete=False)
    for path in lacking.eval_folder(OTHER).iterdir():
        path.unlink()
    lacking.write_summary(summarize(lacking))
    make_run(runs, {EVAL: "p"}, run_id="bare-a", experiment="bare", date="2026-02-03", complete=False)

    found = invoke("prune", "--keep", str(keep), "--json", cwd=tmp_path)
    assert found.status == 0, found.err
    assert sorted(row["run_id"] for row in json.loads(found.out)) == [f"default-{name}" for name in pruned]
