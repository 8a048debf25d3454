"""Record files: read with their version checked and migrated, written atomically."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from convex_evals.errors import UserError
from convex_evals.records import FileRecord
from convex_evals.records.human import explain
from convex_evals.store.files import write_atomic
from convex_evals.text import read_text

F = TypeVar("F", bound=FileRecord)
Migration = Callable[[dict[str, Any]], dict[str, Any]]

# By kind: the functions that lead from schema 1 to 2, 2 to 3, ... None yet.
MIGRATIONS: dict[str, list[Migration]] = {}


def read_record(path: Path, model: type[F]) -> F:
    """The record in the file `path`, migrated to the schema of today.

    Raises `UserError`: not there, not JSON, another kind of file, newer than this program, or not well formed.
    """
    return to_record(read_data(path, model), path, model)


def read_data(path: Path, model: type[FileRecord]) -> dict[str, Any]:
    """The file's keys, migrated but not checked one by one: for lists that look at many files and keep few.

    Raises `UserError` like `read_record`, but for a file that is not well formed.
    """
    try:
        data = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}: not valid JSON: {error.msg}; restore the file from Git") from None
    kind = model.model_fields["kind"].default
    if not isinstance(data, dict) or data.get("kind") != kind:
        raise UserError(f"{path}: not a '{kind}' file; restore it from Git")
    return migrate(data, path)


def to_record(data: dict[str, Any], path: Path, model: type[F]) -> F:
    """What `read_data` found in `path`, checked. Raises `UserError` where it is not well formed."""
    try:
        return model.from_data(data)
    except ValidationError as error:
        raise UserError(f"{path}: {explain(error, model)}") from None


def migrate(data: dict[str, Any], path: Path) -> dict[str, Any]:
    """`data` in the newest schema of its kind."""
    steps = MIGRATIONS.get(data["kind"], [])
    newest = len(steps) + 1
    schema = data.get("schema")
    if not isinstance(schema, int) or schema < 1:
        raise UserError(f"{path}: no schema number; restore the file from Git")
    if schema > newest:
        raise UserError(f"{path}: schema {schema} is newer than {newest}; upgrade convex-evals")
    for step in steps[schema - 1 :]:
        data = step(data)
    return data


def write_record(path: Path, record: FileRecord) -> None:
    write_atomic(path, record.to_json())
