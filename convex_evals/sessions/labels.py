"""`labels/<xx>/<id>.yaml`, the only file of a session that people and pages change; written to be reviewed in a diff.

A key a paragraph, so that two changes of different keys merge; tags one a line; text as a block.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from convex_evals.errors import UserError
from convex_evals.inputs import bounded_yaml
from convex_evals.records.human import parse_human
from convex_evals.records.session import STATUSES, Label
from convex_evals.sessions.store import SessionStore
from convex_evals.store.files import read_confined, write_atomic

_ORDER = ("evalReady", "evalStatus", "evalTags", "expectedOutput", "evalNotes", "reviewedAt")
_SIMPLE_TAG = re.compile(r"- ([a-z][a-z0-9_-]*)")
_SIMPLE_LINE = re.compile(r"  [ !-~\xa1-\u1fff]*|")
# YAML reads these as line ends, except where they are escaped.
_OTHER_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
# What YAML reads as something else than text.
_WORDS = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n"])


def read_label(store: SessionStore, session_id: str) -> Label:
    """All defaults where there is no file. Raises `UserError` where it is not well formed."""
    path = store.label_path(session_id)
    text = read_confined(path, store.root)
    return Label() if text is None else parse_label(text, path)


def parse_label(text: str, path: Path) -> Label:
    """Raises `UserError`, which names the line."""
    return _parse_plain(text) or parse_human(text, path, Label, any_text=True)


def write_label(store: SessionStore, session_id: str, label: Label) -> None:
    """Raises `UserError` where it is too long, or cannot be written."""
    text = render_label(label)
    if len(text) > bounded_yaml.LONGEST:
        raise UserError(
            f"label of {session_id}: longer than {bounded_yaml.LONGEST:,} characters; make its texts shorter"
        )
    write_atomic(store.label_path(session_id), text, store.root)


def changed(label: Label, now_ms: int | None = None, **fields: Any) -> Label:
    """`label` with other values. `reviewedAt` changes when the status does, and when it is set for the first time."""
    status = fields.get("evalStatus")
    if status is not None and (status is not label.evalStatus or label.reviewedAt is None):
        fields["reviewedAt"] = int(time.time() * 1000) if now_ms is None else now_ms
    return Label.model_validate({**label.model_dump(), **fields})


def render_label(label: Label) -> str:
    """The file's text."""
    import yaml

    data = label.model_dump(mode="json")
    kept = {key: data[key] for key in _ORDER if key in ("evalReady", "evalStatus") or data[key] not in (None, "", [])}
    return "\n".join(
        yaml.dump({key: value}, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=10**9)
        for key, value in kept.items()
    )


def _dumper() -> type[Any]:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Text of several lines as a block where YAML can hold it so, else between quotes."""

    def text(dumper: Any, value: str) -> Any:
        # A block that ends in empty lines would take in the one before the next key.
        is_block = "\n" in value and value.strip("\n") and not value.endswith("\n\n")
        style = '"' if _OTHER_LINE_ENDS.search(value) else "|" if is_block else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return Dumper


def _parse_plain(text: str) -> Label | None:
    """What most labels are, read in a hundredth of the time that YAML takes; None for all others."""
    data: dict[str, Any] = {}
    for paragraph in _paragraphs(text):
        if not paragraph:
            return None
        key, colon, rest = paragraph[0].partition(":")
        if not colon or key not in _ORDER or key in data:
            return None
        value = _plain_value(key, rest, paragraph[1:])
        if value is None:
            return None
        data[key] = value
    return Label.model_validate(data)


def _paragraphs(text: str) -> Iterable[list[str]]:
    """Lines from one key to the next, without the empty line between them."""
    lines = text.removesuffix("\n").split("\n")
    begins = [at for at, line in enumerate(lines) if at == 0 or (line[:1].isalpha() and not lines[at - 1])]
    for begin, end in zip(begins, [*begins[1:], len(lines) + 1], strict=True):
        yield lines[begin : end - 1]


def _plain_value(key: str, rest: str, lines: list[str]) -> Any:
    if key == "evalReady" and not lines:
        return {" true": True, " false": False}.get(rest)
    if key == "evalStatus" and not lines and rest[1:] in STATUSES:
        return STATUSES[rest[1:]]
    if key == "reviewedAt" and not lines and re.fullmatch(r" [1-9]\d{0,14}", rest):
        return int(rest)
    if key == "evalTags" and not rest and lines:
        tags = [found[1] for line in lines if (found := _SIMPLE_TAG.fullmatch(line)) and found[1] not in _WORDS]
        return tuple(tags) if len(tags) == len(lines) else None
    if key in ("evalNotes", "expectedOutput") and rest in (" |", " |-") and lines:
        return _block(lines, keep_end=rest == " |")
    return None


def _block(lines: list[str], *, keep_end: bool) -> str | None:
    if not all(map(_SIMPLE_LINE.fullmatch, lines)) or not lines[0].strip() or lines[0][2] == " " or not lines[-1]:
        return None
    return "\n".join(line[2:] for line in lines) + ("\n" if keep_end else "")
