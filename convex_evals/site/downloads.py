"""Exports of sessions as downloads, streamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from convex_evals.errors import UserError
from convex_evals.records.session import SessionStatus
from convex_evals.render.output import complain
from convex_evals.sessions.exporting import export
from convex_evals.sessions.exports import ExportFormat
from convex_evals.sessions.store import SessionStore

if TYPE_CHECKING:
    from starlette.responses import Response


def file_name(form: ExportFormat, status: SessionStatus | None) -> str:
    return f"sessions{f'-{status.value}' if status else ''}.{form.suffix}"


def begin(store: SessionStore, ids: Sequence[str], form: ExportFormat) -> tuple[bytes, Iterator[bytes]]:
    """Return the first piece, so that what cannot be read is told by the status, and the others. Raises `UserError`."""
    pieces = export(store, ids, form.name)
    return next(pieces, b""), pieces


def download(
    form: ExportFormat, name: str, first: bytes, rest: Iterator[bytes], headers: Mapping[str, str]
) -> Response:
    """Answer with a file of this name."""
    from starlette.responses import StreamingResponse

    own = {"Content-Type": form.media_type, "Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_followed(name, first, rest), headers={**headers, **own})


def _followed(name: str, first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    """End the connection early where something fails now, which a client takes for a failure."""
    yield first
    try:
        yield from rest
    except UserError as error:
        complain(f"{name}: {error}; the export was cut off")
        raise
