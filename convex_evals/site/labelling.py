"""What people write into a label on its page: one field at a time, never over what was written elsewhere meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from convex_evals.errors import UserError
from convex_evals.records.session import STATUSES, Label
from convex_evals.sessions.exchanges import exchanges
from convex_evals.sessions.labelling import LabelChange, changes, write_changes
from convex_evals.sessions.labels import read_label, write_label
from convex_evals.sessions.store import SessionStore
from convex_evals.site.pages.session import digests

_READY = {"true": True, "false": False}


class NotAForm(Exception):
    """What was sent is no form of these pages."""


class LabelConflict(Exception):
    """The field is no longer as the page showed it; both texts, so that nothing is lost."""

    def __init__(self, own: str, there: str) -> None:
        super().__init__("It was changed in the meantime, elsewhere.")
        self.own, self.there = own, there


@dataclass(frozen=True)
class LabelWriter:
    """Writes labels, one change at a time."""

    store: SessionStore
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def save(self, session_id: str, fields: Mapping[str, str]) -> None:
        """Change the field that a form names.

        `was` is the digest of the field as its reader saw it: of anything else nothing is overwritten. Tags are added
        and removed one by one, whatever the others are. Raises `NotAForm`, `LabelConflict`, and `UserError` where the
        label cannot be read or written.
        """
        change = self._change(session_id, fields)
        with self._lock:
            label = read_label(self.store, session_id)
            after = change.of(label)
            if after != label:
                _refuse_outdated(label, fields)
                write_label(self.store, session_id, after)

    def mark(self, ids: list[str], *, ready: bool) -> int:
        """Mark these sessions as evals, or take the mark away; how many were changed. Raises `UserError`."""
        with self._lock:
            found = changes(self.store, ids, LabelChange(ready=ready))
            write_changes(self.store, found)
        return len(found)

    def _change(self, session_id: str, fields: Mapping[str, str]) -> LabelChange:
        name, value = fields.get("field"), _text(fields.get("value", ""))
        if name == "evalStatus" and value in STATUSES:
            return LabelChange(status=STATUSES[value])
        if name == "evalReady" and value in _READY:
            return LabelChange(ready=_READY[value])
        if name == "evalTags":
            tags = tuple(filter(None, (tag.strip() for tag in value.split(","))))
            return LabelChange(tags=tags, untags=(fields["untag"],) if fields.get("untag") else ())
        if name == "evalNotes":
            return LabelChange(notes=_ended(value))
        if name == "expectedOutput":
            value = self.last_reply(session_id) if fields.get("take") == "last" else value
            return LabelChange(expected=value) if value.strip() else LabelChange(no_expected=True)
        raise NotAForm

    def last_reply(self, session_id: str) -> str:
        """Raises `UserError` where there is none."""
        found = exchanges(list(self.store.messages(session_id)))
        if not found:
            raise UserError("nothing was answered in words in this session")
        return found[-1].reply


def _refuse_outdated(label: Label, fields: Mapping[str, str]) -> None:
    name = fields["field"]
    if name == "evalTags" or fields.get("was") == digests(label)[name]:
        return
    there = label.model_dump(mode="json")[name]
    raise LabelConflict(_text(fields.get("value", "")), "" if there is None else str(there))


def _text(sent: str) -> str:
    """Browsers send lines as `\r\n`."""
    return sent.replace("\r\n", "\n").replace("\r", "\n")


def _ended(notes: str) -> str:
    """A text of several lines ends with one, as editors and `git diff` expect."""
    text = notes.rstrip()
    return f"{text}\n" if "\n" in text else text
