"""The arguments of a tool's call, which a model writes as text."""

from __future__ import annotations

from typing import Any

from convex_evals.inputs.bounded_json import Limits, decode_object

# How agents name the arguments that hold the path of a file, and the command of a shell.
PATHS = ("file_path", "filePath", "path", "absolute_path", "target_file", "filename", "file")
COMMANDS = ("command", "cmd", "script")
_LIMITS = Limits(size=64 * 1024 * 1024, values=1_000_000, depth=200)


def arguments_of(text: str) -> tuple[dict[str, Any], bool]:
    """The arguments of a call as an object, and whether they are one.

    Where a model wrote something else, its text becomes the value of `input`.
    """
    try:
        return decode_object(text or "{}", _LIMITS), True
    except ValueError:
        return {"input": text}, False
