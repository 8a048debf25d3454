"""Reads an export of sessions with the library that it is for, and writes what that made of it, as JSON.

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


if __name__ == "__main__":
    found = {"deepeval": deepeval, "inspect": inspect, "hf": hf}[sys.argv[1]](sys.argv[2])
    Path(sys.argv[3]).write_text(json.dumps(found), encoding="utf-8")
