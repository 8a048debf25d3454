"""What other machines made is read and checked, never copied."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from convex_evals.records import GenerationFile, GradeFile
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from tests.conftest import Invoke
from tests.factories import EVAL, make_eval, make_generation_file, make_grade_file, make_plan

R = TypeVar("R", GenerationFile, GradeFile)
OTHER = "001-more/000-later"


@pytest.fixture
def planned(tmp_path: Path) -> Run:
    """A run of two evals, planned here."""
    make_eval(tmp_path)
    evals = make_plan().evals
    return RunStore(tmp_path / "runs").create(make_plan(evals={**evals, OTHER: evals[EVAL]}))


def there(planned: Run, place: Path) -> Run:
    """The same run on another machine: its results without its plan."""
    return Run(place / "runs" / planned.folder.relative_to(planned.root), planned.plan)


def of_other(file: R) -> R:
    return file.model_copy(update={"eval": OTHER})


def files(run: Run) -> set[str]:
    return {p.relative_to(run.folder).as_posix() for p in run.folder.rglob("*") if p.is_file()}


def test_results_of_two_machines(planned: Run, tmp_path: Path, invoke: Invoke) -> None:
    machines = [there(planned, tmp_path / "graded" / name) for name in ("graded-1", "graded-2")]
    machines[0].write_eval(make_generation_file(), {1: "# Files\n"}, make_grade_file())
    machines[1].write_eval(of_other(make_generation_file()), {1: "# Other files\n"}, of_other(make_grade_file()))
    # What is not a result is left where it is.
    (machines[0].folder / "summary.json").write_text("{}")
    (machines[0].folder / "evals" / EVAL / "more.sh").write_text("exit 1")
    result = invoke("finish", "default", "--from", "graded")
    assert result.status == 0, result.err
    assert "took in 2 evals from graded" in result.err
    summary = planned.summary()
    assert summary and not summary.missing and "more.sh" not in str(files(planned))
    assert planned.reply(EVAL, 1) == "# Files\n" and planned.reply(OTHER, 1) == "# Other files\n"
    again = invoke("finish", "default", "--from", "graded/graded-1")
    assert again.status == 0 and "took in 0 evals" in again.err


def test_what_is_written_here_is_kept(planned: Run, tmp_path: Path, invoke: Invoke) -> None:
    planned.write_eval(make_generation_file(), {1: "Ours.\n"}, make_grade_file())
    there(planned, tmp_path / "graded").write_eval(make_generation_file(), {1: "Theirs.\n"}, make_grade_file())
    result = invoke("finish", "default", "--from", "graded")
    assert result.status == 6 and "1 of 2 trials has no verdict (1 x not delivered)" in result.err
    assert planned.reply(EVAL, 1) == "Ours.\n"


def _link(run: Run) -> None:
    path = run.eval_folder(EVAL) / "1.md"
    path.unlink()
    path.symlink_to("/etc/passwd")


def _other_eval(run: Run) -> None:
    run.eval_folder(OTHER).parent.mkdir(parents=True)
    run.eval_folder(EVAL).rename(run.eval_folder(OTHER))


def _other_prompt(run: Run) -> None:
    run.write_eval(make_generation_file().model_copy(update={"generation_key": "f" * 64}), {1: "x"}, make_grade_file())


def _no_json(run: Run) -> None:
    (run.eval_folder(EVAL) / "generation.json").write_text("[" * 100_000)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_link, "is a link"),
        (_other_eval, "is about 000"),
        (_other_prompt, "answers another prompt"),
        (_no_json, "generation.json"),
    ],
)
def test_what_is_no_result_of_the_run_is_refused(
    planned: Run, tmp_path: Path, invoke: Invoke, spoil: Callable[[Run], None], why: str
) -> None:
    theirs = there(planned, tmp_path / "graded")
    theirs.write_eval(make_generation_file(), {1: "# Files\n"}, make_grade_file())
    spoil(theirs)
    result = invoke("finish", "default", "--from", "graded")
    assert result.status == 1 and why in result.err and result.err.count("\n") == 1, result.err
    assert files(planned) == {"run.json"}


def test_a_folder_without_results(planned: Run, tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "empty").mkdir()
    result = invoke("finish", "default", "--from", "empty")
    assert result.status == 1 and "empty: has no results; --from takes a folder with runs/" in result.err
