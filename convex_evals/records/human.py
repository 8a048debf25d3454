"""Files that people write: YAML or JSON into a record, with errors that point and suggest."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from convex_evals.errors import UserError
from convex_evals.records.base import Record

R = TypeVar("R", bound=Record)


def parse_human(text: str, path: Path, model: type[R], *, ignore_unknown: bool = False) -> R:
    """`text` of `path` as `model`; an empty file is all defaults. Raises `UserError`, one line."""
    data = _load(text, path)
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise UserError(f"{path}: expected keys and values, found {_kind(data)}")
    if ignore_unknown:
        data = {key: value for key, value in data.items() if key in known_keys(model, [])}
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise UserError(f"{path}: {explain(error, model)}") from None


def _load(text: str, path: Path) -> Any:
    try:
        return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise UserError(f"{where}: not valid YAML: {getattr(error, 'problem', None) or error}") from None
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: a value is not valid: {error}") from None


def explain(error: ValidationError, model: type[Record]) -> str:
    """The first problem of a validation, in words."""
    problem = error.errors(include_url=False)[0]
    location = [str(part) for part in problem["loc"]]
    key = ".".join(location)
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(location[-1], known_keys(model, location[:-1]), n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        return f"unknown key '{key}'{hint}"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{key}: {message[0].lower()}{message[1:]}" if key else message


def known_keys(model: type[Record], location: list[str]) -> list[str]:
    """The keys that may stand at `location` inside `model`."""
    for part in location:
        field = model.model_fields.get(part)
        inner = field.annotation if field else None
        if not (isinstance(inner, type) and issubclass(inner, Record)):
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _kind(data: object) -> str:
    return {list: "a list", str: "text", int: "a number", float: "a number", bool: "true or false"}.get(
        type(data), type(data).__name__
    )
