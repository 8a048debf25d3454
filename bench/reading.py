"""How long it takes to read every file of a long history, and what of it takes how long.

    python bench/reading.py [--runs N] [--evals N] [--trials N] [--json]

Makes up N runs of ten models (200 runs of 120 evals, three trials each: 24,000 evals, 48,400 files), and reads all of
them as commands do: checked, and held against each other. Then says of some files of each kind what the parts of that
take: opening and reading, validating from bytes, the scan for what is too large or there twice, all the rest; and what
decoding and validating in two steps takes, which is how a file is read that is not plainly right. Microseconds of
processor time, the best of several rounds: the machine may be busy with something else.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bench.fabricate import Campaign, eval_ids, models, texts
from convex_evals.inputs import confined
from convex_evals.inputs.bounded_json import Limits, decode, has_no_more_keys, is_small
from convex_evals.records import FileRecord, GenerationFile, GradeFile, RunPlan, Summary
from convex_evals.records.plain import keys_in
from convex_evals.store.records import read_record
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from scripts.command import start

MODELS = 10
FILES: dict[str, type[FileRecord]] = {
    "run.json": RunPlan,
    "summary.json": Summary,
    "generation.json": GenerationFile,
    "grade.*.json": GradeFile,
}
_ROUNDS, _SAMPLE = 7, 300
_LIMITS = Limits(size=64 * 1024 * 1024, values=500_000, repeated_keys=False)
_MOST = 64 * 1024 * 1024


def fabricate(runs: Path, number: int, evals: int, trials: int) -> None:
    ids = eval_ids(evals)
    versions = range(-(-number // MODELS))
    campaign = Campaign(models(min(MODELS, number)), versions, ids, trials, lambda model, eval_id, version: 0.6)
    campaign.write(runs, texts(len(versions), ids))


def read_all(store: RunStore) -> dict[str, float]:
    """Processor milliseconds per file, by kind: in the order in which a viewer would read them."""
    runs: list[Run] = []
    took = {
        "run.json": _seconds(lambda: runs.extend(store.all())),
        "summary.json": _seconds(lambda: [run.summary() for run in runs]),
        "generation.json": _seconds(lambda: [run.generation(e) for run in runs for e in run.plan.evals]),
        "grade.*.json": _seconds(lambda: _each(_read_grades, runs)),
    }
    evals = sum(len(run.plan.evals) for run in runs)
    return {name: took[name] * 1_000 / (len(runs) if n < 2 else evals) for n, name in enumerate(FILES)}


def _read_grades(run: Run) -> None:
    summary = run.summary()
    assert summary is not None
    for eval_id, found in summary.evals.items():
        run.grade_file(eval_id, found.grade)


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def parts(root: Path, pattern: str, model: type[FileRecord]) -> dict[str, float]:
    """Processor microseconds per file of each part."""
    paths = list(islice(root.rglob(pattern), _SAMPLE))
    documents = [path.read_bytes() for path in paths]
    values = [decode(document, _LIMITS) for document in documents]
    records = [model.model_validate_json(document) for document in documents]
    pairs = list(zip(documents, map(keys_in, records), strict=True))
    found = {
        "bytes": float(len(documents[0])),
        "whole": _best(lambda path: read_record(path, model, root), paths),
        "open and read": _best(lambda path: confined.read_bytes(path, root, _MOST), paths),
        "validate bytes": _best(model.model_validate_json, documents),
        "sizes": _best(lambda document: is_small(document, _LIMITS), documents),
        "keys": _best(keys_in, records) + _best(lambda pair: has_no_more_keys(*pair), pairs),
        "completed": _best(lambda record: record.completed(), records),
        "else: decode": _best(lambda document: decode(document, _LIMITS), documents),
        "else: validate": _best(model.model_validate, values),
    }
    return {name: round(value, 1) for name, value in found.items()}


def _best(work: Callable[[Any], object], items: Sequence[Any]) -> float:
    return min(_seconds(lambda: _each(work, items)) for _ in range(_ROUNDS)) * 1_000_000 / len(items)


def _each(work: Callable[[Any], object], items: Iterable[Any]) -> None:
    for item in items:
        work(item)


def table(whole: dict[str, float], shares: dict[str, dict[str, float]]) -> str:
    names = next(iter(shares.values())).keys()
    lines = [f"{'':16}" + "".join(f"{name:>18}" for name in FILES)]
    lines.append(f"{'all, ms a file':16}" + "".join(f"{whole[name]:18.3f}" for name in FILES))
    lines += [f"{part:16}" + "".join(f"{shares[name][part]:18.0f}" for name in FILES) for part in names]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=200, help="how many are made up, about; at least 1")
    parser.add_argument("--evals", type=int, default=120, help="of each run; at least 3")
    parser.add_argument("--trials", type=int, default=3, help="of each eval; at least 1")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")
    options = parser.parse_args()
    if options.runs < 1 or options.evals < 3 or options.trials < 1:
        parser.error("--runs and --trials must be at least 1, --evals at least 3")
    with tempfile.TemporaryDirectory() as name:
        runs = Path(name, "runs")
        fabricate(runs, options.runs, options.evals, options.trials)
        whole = read_all(RunStore(runs))
        shares = {pattern: parts(runs, pattern, model) for pattern, model in FILES.items()}
    data = {"ms_per_file": {key: round(value, 4) for key, value in whole.items()}, "parts_us": shares}
    print(json.dumps(data, indent=2) if options.as_json else table(whole, shares))
    return 0


if __name__ == "__main__":
    start(main)
