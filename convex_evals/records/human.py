"""Files that people write: YAML or JSON into a record, with errors that point and suggest."""

from __future__ import annotations

import difflib
import json
import math
import re
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from convex_evals.errors import UserError
from convex_evals.inputs.bounded_json import Limits, decode
from convex_evals.records.base import Record
from convex_evals.text import one_line, shortened, spelled_out

R = TypeVar("R", bound=Record)
# A models.yaml of a thousand models is far below it. As `bounded_yaml` has them.
_LIMITS = Limits(size=2_000_000, values=50_000, depth=40)
_LONGEST = 300  # characters of a key or a value that are shown
# Control characters, what reorders text, and halves of surrogate pairs.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def parse_human(text: str, path: Path, model: type[R], *, ignore_unknown: bool = False, any_text: bool = False) -> R:
    """`text` of `path` as `model`; an empty file is all defaults. Raises `UserError`, one line.

    Text that cannot be seen is refused, except with `any_text`.
    """
    data = _load(text, path, any_text=any_text)
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise UserError(f"{path}: expected keys and values, found {_kind(data)}")
    if ignore_unknown:
        data = {key: value for key, value in data.items() if key in known_keys(model, [])}
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise UserError(f"{_where(error, text, path)}: {explain(error, model)}") from None


def _where(error: ValidationError, text: str, path: Path) -> str:
    if path.suffix == ".json":
        return str(path)
    from convex_evals.inputs import bounded_yaml

    return f"{path}:{bounded_yaml.line_of(text, error.errors()[0]['loc'])}"


def _load(text: str, path: Path, *, any_text: bool) -> Any:
    if len(text) > _LIMITS.size:
        raise UserError(f"{path}: more than {_LIMITS.size:,} characters, too long for a settings file; make it shorter")
    try:
        data = decode(text, _LIMITS) if path.suffix == ".json" else _load_yaml(text, path)
        if not any_text:
            _refuse_unseen(data)
        return data
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: a value is not valid: {_short(str(error))}") from None


def _load_yaml(text: str, path: Path) -> Any:
    # Many commands read records, and no YAML.
    import yaml

    from convex_evals.inputs import bounded_yaml

    try:
        return bounded_yaml.load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise UserError(f"{where}: not valid YAML: {one_line(str(getattr(error, 'problem', None) or error))}") from None


def _refuse_unseen(data: Any) -> None:
    """Raise `ValueError` for text that cannot be printed, and numbers that are none."""
    if isinstance(data, dict):
        for key, value in data.items():
            _refuse_unseen(key)
            _refuse_unseen(value)
    elif isinstance(data, list | tuple | set):
        for value in data:
            _refuse_unseen(value)
    elif isinstance(data, float) and not math.isfinite(data):
        raise ValueError("a number that is infinite or none")
    elif isinstance(data, str) and _UNSEEN.search(data):
        raise ValueError(f"'{spelled_out(data)[:60]}' has characters that cannot be seen")


def explain(error: ValidationError, model: type[Record]) -> str:
    """The first problem of a validation, in words."""
    problem = error.errors(include_url=False)[0]
    location = [str(part) for part in problem["loc"]]
    key = _short(".".join(location))
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(location[-1][:_LONGEST], known_keys(model, location[:-1]), n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        return f"unknown key '{key}'{hint}"
    message = _short(problem["msg"].removeprefix("Value error, ").replace("valid tuple", "valid list"))
    return f"{key}: {message[0].lower()}{message[1:]}" if key else message


def _short(text: str) -> str:
    return shortened(text, _LONGEST)


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
