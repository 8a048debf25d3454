"""Reads an export with the library that it is for, and writes what that made of it, as JSON.

Run by a Python that has requirements.txt, as `read.py FORMAT FILE OUTPUT`. It knows nothing of this project.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

DEEPEVAL_KEYS = ("input", "actual_output", "expected_output", "context", "retrieval_context")


def deepeval(file: str) -> Any:
    """The test cases and the goldens, both as lists of objects."""
    from deepeval.dataset import EvaluationDataset

    cases, goldens = EvaluationDataset(), EvaluationDataset()
    cases.add_test_cases_from_json_file(file, *DEEPEVAL_KEYS)
    goldens.add_goldens_from_json_file(file)
    return [_fields(cases.test_cases), _fields(goldens.goldens)]


def _fields(found: list[Any]) -> list[dict[str, Any]]:
    return [{key: getattr(each, key) for key in DEEPEVAL_KEYS} for each in found]


def inspect(file: str) -> Any:
    from inspect_ai.dataset import json_dataset

    return [
        {
            "id": sample.id,
            "input": [message.model_dump(exclude_none=True) for message in sample.input],
            "target": sample.target,
            "metadata": sample.metadata,
        }
        for sample in json_dataset(file)
    ]


def hf(file: str) -> Any:
    from datasets import load_dataset

    with tempfile.TemporaryDirectory() as cache:
        return list(load_dataset("parquet", data_files=file, split="train", cache_dir=cache))


def inspect_log(file: str) -> Any:
    """The logs that Inspect finds in the folder of this one, its head read alone, all of it, and what lists show."""
    from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries

    return {
        "listed": [[Path(each.name).name, each.task, each.task_id] for each in list_eval_logs(str(Path(file).parent))],
        "head": read_eval_log(file, header_only=True).model_dump(mode="json", exclude_none=True),
        "log": read_eval_log(file).model_dump(mode="json", exclude_none=True),
        "summaries": [each.model_dump(mode="json") for each in read_eval_log_sample_summaries(file)],
    }


def junit(file: str) -> Any:
    """Each suite with its cases."""
    from junitparser import JUnitXml

    return [
        {
            "name": suite.name,
            "counts": [suite.tests, suite.failures, suite.errors, suite.skipped],
            "properties": {each.name: each.value for each in suite.properties()},
            "cases": [
                [
                    case.classname,
                    case.name,
                    case.time,
                    [[type(r).__name__, r.type, r.message, r.text] for r in case.result],
                ]
                for case in suite
            ],
        }
        for suite in JUnitXml.fromfile(file)
    ]


def table(file: str) -> Any:
    """The rows of a CSV or Parquet file, and what pandas takes its columns for."""
    import pandas

    found = pandas.read_csv(file) if file.endswith(".csv") else pandas.read_parquet(file)
    return {"rows": json.loads(found.to_json(orient="records")), "types": {k: str(v) for k, v in found.dtypes.items()}}


READERS = {
    "deepeval": deepeval,
    "inspect": inspect,
    "hf": hf,
    "inspect-log": inspect_log,
    "junit": junit,
    "table": table,
}

if __name__ == "__main__":
    found = READERS[sys.argv[1]](sys.argv[2])
    Path(sys.argv[3]).write_text(json.dumps(found), encoding="utf-8")
