"""The inputs of a workflow that is started by hand, or called by another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.workflows.values import to_text


class InputError(Exception):
    """GitHub would not start the workflow."""


def resolve_inputs(declared: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The context `inputs`: each of its declared type, the defaults filled in."""
    unknown = given.keys() - declared.keys()
    if unknown:
        raise InputError(f"unexpected inputs: {', '.join(sorted(unknown))}")
    return {name: _resolve(name, details or {}, given.get(name)) for name, details in declared.items()}


def _resolve(name: str, details: Mapping[str, Any], value: Any) -> Any:
    if value is None:
        value = details.get("default")
    if details.get("required") and value in (None, ""):
        raise InputError(f"required input not given: {name}")
    kind = details.get("type", "string")
    if kind == "boolean":
        if to_text(value) not in ("", "true", "false"):
            raise InputError(f"{name}: {value!r} is not a boolean")
        return to_text(value) == "true"
    if kind == "number":
        return float(value or 0)
    if kind == "choice" and value is not None and value not in details["options"]:
        raise InputError(f"{name}: {value!r} is not in the list of allowed values")
    return to_text(value)
