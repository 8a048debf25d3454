"""Changes of labels, of one session or of many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from convex_evals.errors import UserError
from convex_evals.records.session import Label, SessionStatus, check_tag
from convex_evals.sessions.labels import changed, read_label, write_label
from convex_evals.sessions.store import SessionStore


@dataclass(frozen=True)
class LabelChange:
    """What is to be different; None leaves a field as it is."""

    ready: bool | None = None
    status: SessionStatus | None = None
    tags: tuple[str, ...] = ()  # added
    untags: tuple[str, ...] = ()  # removed
    notes: str | None = None  # empty text removes them
    expected: str | None = None
    no_expected: bool = False

    @property
    def is_empty(self) -> bool:
        return self == LabelChange()

    def of(self, label: Label, now_ms: int | None = None) -> Label:
        """`label`, changed. Raises `UserError` where the result is no label."""
        fields: dict[str, Any] = {
            "evalReady": self.ready,
            "evalStatus": self.status,
            "evalNotes": self.notes,
            "expectedOutput": self.expected,
        }
        fields = {key: value for key, value in fields.items() if value is not None}
        if self.no_expected:
            fields["expectedOutput"] = None
        if self.tags or self.untags:
            fields["evalTags"] = tuple((set(label.evalTags) | set(self.tags)) - set(self.untags))
        try:
            return changed(label, now_ms, **fields)
        except ValidationError as error:
            raise UserError(str(error.errors()[0]["msg"]).removeprefix("Value error, ")) from None

    def check(self) -> None:
        """Raise `UserError` where a tag is none."""
        for tag in self.tags:
            try:
                check_tag(tag)
            except ValueError as error:
                raise UserError(str(error)) from None


@dataclass(frozen=True)
class Changed:
    """A label before and after."""

    session_id: str
    before: Label
    after: Label


def changes(store: SessionStore, ids: Iterable[str], change: LabelChange) -> list[Changed]:
    """What `change` would make of labels; without those that it leaves as they are. Raises `UserError`."""
    change.check()
    pairs = [(session_id, read_label(store, session_id)) for session_id in ids]
    found = [Changed(session_id, label, change.of(label)) for session_id, label in pairs]
    return [each for each in found if each.before != each.after]


def write_changes(store: SessionStore, found: Iterable[Changed]) -> None:
    """Raises `UserError`."""
    for each in found:
        write_label(store, each.session_id, each.after)
