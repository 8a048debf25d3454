"""Records that agents keep a line each, read in bounded memory."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.inputs.bounded_json import Limits, decode
from convex_evals.text import well_formed

# A record holds the result of a tool at most, and an image in base64 rarely.
LONGEST_LINE = 32 * 1024 * 1024
LARGEST_FILE = 1024 * 1024 * 1024
LIMITS = Limits(size=LONGEST_LINE, values=1_000_000, depth=200)
_AT_ONCE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileLine:
    """One line of a file, with what it holds."""

    number: int  # from 1
    text: str  # without its end; empty where it is too long to be read
    value: Any = None  # the JSON in it
    problem: str | None = None  # why there is no value


def json_lines(file: Path) -> Iterator[FileLine]:
    """Each line of `file` that is not empty. Lines end at "\\n" alone: U+2028 is text. Raises `OSError`."""
    for number, data in _lines(file):
        if data is None:
            yield FileLine(number, "", problem=f"longer than {LONGEST_LINE:,} bytes")
            continue
        data = data.removeprefix(BOM_UTF8) if number == 1 else data
        text = well_formed(data.decode("utf-8", "replace"))
        if not text.strip():
            continue
        try:
            yield FileLine(number, text, decode(data, LIMITS))
        except ValueError as error:
            yield FileLine(number, text, problem=str(error).partition("\n")[0][:200])


def json_file(file: Path) -> FileLine:
    """All of `file` as one document. Raises `OSError`."""
    with file.open("rb") as stream:
        data = stream.read(LONGEST_LINE + 1)
    if len(data) > LONGEST_LINE:
        return FileLine(1, "", problem=f"larger than {LONGEST_LINE:,} bytes")
    data = data.removeprefix(BOM_UTF8)
    text = well_formed(data.decode("utf-8", "replace"))
    try:
        return FileLine(1, text, decode(data, LIMITS))
    except ValueError as error:
        return FileLine(1, text, problem=str(error).partition("\n")[0][:200])


def _lines(file: Path) -> Iterator[tuple[int, bytes | None]]:
    """Lines with their numbers; None for one that is too long, of which no more than that is held."""
    number, pending, is_long = 1, bytearray(), False
    with file.open("rb") as stream:
        while chunk := stream.read(_AT_ONCE):
            *ended, rest = chunk.split(b"\n")
            for piece in ended:
                yield number, None if is_long else _whole(pending + piece)
                pending, is_long, number = bytearray(), False, number + 1
            pending += rest
            if len(pending) > LONGEST_LINE:
                pending, is_long = bytearray(), True
    if pending or is_long:
        yield number, None if is_long else _whole(pending)


def _whole(data: bytearray) -> bytes | None:
    return bytes(data).removesuffix(b"\r") if len(data) <= LONGEST_LINE else None
