"""Record files: read with their version checked and migrated, written atomically."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from convex_evals.errors import NewerFormat, UserError
from convex_evals.inputs import confined
from convex_evals.inputs.bounded_json import Limits, decode
from convex_evals.records import FileRecord
from convex_evals.records.plain import plain_record
from convex_evals.store.files import write_atomic
from convex_evals.text import decoded

F = TypeVar("F", bound=FileRecord)
Migration = Callable[[dict[str, Any]], dict[str, Any]]

# By kind: the functions that lead from schema 1 to 2, 2 to 3, ... None yet.
MIGRATIONS: dict[str, list[Migration]] = {}

# A thousand trials with every message in full are far below it.
_LIMITS = Limits(size=64 * 1024 * 1024, values=500_000, repeated_keys=False)


def read_record(path: Path, model: type[F], root: Path | None = None) -> F:
    """The record in the file `path`, migrated to the schema of today; nothing below `root` is read through a link.

    Raises `UserError`: not there, not JSON, too large, another kind of file, newer than this program, not well formed.
    """
    return _record(_there(_document(path, root), path), path, model)


def find_record(path: Path, model: type[F], root: Path) -> F | None:
    """`read_record`; None where there is no such file."""
    document = _document(path, root)
    return None if document is None else _record(document, path, model)


def read_plain_or_data(path: Path, model: type[F], root: Path) -> F | dict[str, Any]:
    """The record, where it is plain that the file is one; else its keys, migrated but not checked one by one.

    For lists that look at many files and keep few. Raises `UserError` like `read_record`, but for a file that is not
    well formed.
    """
    document = _there(_document(path, root), path)
    return plain_record(document, model, _LIMITS) or _data(document, path, model)


def _document(path: Path, root: Path | None) -> bytes | None:
    return confined.read_bytes(path, root or path.parent, _LIMITS.size)


def _there(document: bytes | None, path: Path) -> bytes:
    if document is None:
        raise UserError(f"{path}: no such file; restore it from Git")
    return document


def _record(document: bytes, path: Path, model: type[F]) -> F:
    return plain_record(document, model, _LIMITS) or to_record(_data(document, path, model), path, model)


def _data(document: bytes, path: Path, model: type[FileRecord]) -> dict[str, Any]:
    try:
        data = decode(decoded(document, path), _LIMITS)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}: not valid JSON: {error.msg}; restore the file from Git") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}; restore the file from Git") from None
    kind = model.model_fields["kind"].default
    if not isinstance(data, dict) or data.get("kind") != kind:
        raise UserError(f"{path}: not a '{kind}' file; restore it from Git")
    return migrate(data, path)


def to_record(data: dict[str, Any], path: Path, model: type[F]) -> F:
    """What `read_plain_or_data` found in `path`, checked. Raises `UserError` where it is not well formed."""
    try:
        return model.from_data(data)
    except ValidationError as error:
        from convex_evals.records.human import explain

        raise UserError(f"{path}: {explain(error, model)}; restore the file from Git") from None
    except UnicodeEncodeError:
        raise UserError(f"{path}: a name in it is not valid Unicode; restore the file from Git") from None


def migrate(data: dict[str, Any], path: Path) -> dict[str, Any]:
    """`data` in the newest schema of its kind."""
    steps = MIGRATIONS.get(data["kind"], [])
    newest = len(steps) + 1
    schema = data.get("schema")
    if type(schema) is not int or schema < 1:
        raise UserError(f"{path}: no schema number; restore the file from Git")
    if schema > newest:
        raise NewerFormat(f"{path}: schema {schema} is newer than {newest}; upgrade convex-evals")
    for step in steps[schema - 1 :]:
        data = step(data)
    return data


def write_record(path: Path, record: FileRecord, root: Path | None = None) -> None:
    """Below `root`, through no link."""
    write_atomic(path, record.to_json(), root)
