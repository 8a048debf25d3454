"""Sessions as other tools read them. All formats are streamed, and the same sessions make the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from convex_evals.sessions.exports import atif, deepeval, huggingface, inspect_ai, openai, promptfoo, text
from convex_evals.sessions.exports.labelled import LabelledSession
from convex_evals.sessions.exports.parts import PartedFormat

__all__ = ["EXPORTS", "IN_PARTS", "ExportFormat", "LabelledSession", "PartedFormat"]


@dataclass(frozen=True)
class ExportFormat:
    """A format, and what writes it: piece by piece, with one session in memory at a time."""

    name: str  # the word of `--format`
    suffix: str  # of a file's name
    media_type: str
    write: Callable[[Iterable[LabelledSession]], Iterator[bytes]]


# Those of the documented API, which a deployment answers with.
IN_PARTS: dict[str, PartedFormat] = {"deepeval": deepeval.FORMAT, "openai": openai.FORMAT, "text": text.FORMAT}

_LINES = ("jsonl", "application/x-ndjson")
EXPORTS: dict[str, ExportFormat] = {
    "deepeval": ExportFormat("deepeval", "json", "application/json", deepeval.FORMAT.write),
    "openai": ExportFormat("openai", *_LINES, openai.FORMAT.write),
    "text": ExportFormat("text", "txt", "text/plain; charset=utf-8", text.FORMAT.write),
    "atif": ExportFormat("atif", *_LINES, atif.write),
    "inspect": ExportFormat("inspect", *_LINES, inspect_ai.write),
    "promptfoo": ExportFormat("promptfoo", *_LINES, promptfoo.write),
    "hf": ExportFormat("hf", "parquet", "application/vnd.apache.parquet", huggingface.write),
}
