"""Records in files that are plainly as they should be, told without a look at each value in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar, get_args, get_origin

from convex_evals.inputs.bounded_json import Limits, has_no_more_keys, is_small
from convex_evals.records.base import FileRecord, Record

F = TypeVar("F", bound=FileRecord)
# What gets a field, whether it is a mapping, and of which records it is, or None.
_Nesting = tuple[Callable[[Record], Any], bool, type[Record] | None]
_NAMES_SET: Callable[[Record], set[str]] = attrgetter("__pydantic_fields_set__")


def plain_record(document: bytes, model: type[F], limits: Limits) -> F | None:
    """The record in a file of today's schema; None where it is not plain whether it is one, and what it is.

    What is found is what decoding under `limits` and validating finds. No record is as deep as limits are, and all
    keys are looked at: one that is there twice is counted in the document, and not in the record.
    """
    # `schema_` is the field's name in Python, by which no file may call it; half of a character is none to Rust.
    odd = b'"schema_"' in document or (b"\\" in document and b"\\u" in document)
    if odd or not is_small(document, limits):
        return None
    try:
        record = model.model_validate_json(document)
    except ValueError:
        return None
    named = {"kind", "schema_"} <= record.model_fields_set
    return record.completed() if named and has_no_more_keys(document, keys_in(record)) else None


def keys_in(record: Record) -> int:
    """How many keys a document had, in all its objects, that was validated as this."""
    return _keys_in(type(record), [record])


def _keys_in(model: type[Record], records: Sequence[Record]) -> int:
    # All records of a field are looked at together, by functions that are not ours: there are hundreds in a file.
    count = sum(map(len, map(_NAMES_SET, records)))
    for values_of, is_mapping, inner in _nesting(model):
        found: Any = filter(None, map(values_of, records))
        if is_mapping:
            mappings = list(found)
            count += sum(map(len, mappings))
            found = map(dict.values, mappings)
        if inner:
            below = list(found)
            if below:
                count += _keys_in(inner, below if isinstance(below[0], Record) else list(chain.from_iterable(below)))
    return count


@cache
def _nesting(model: type[Record]) -> list[_Nesting]:
    """The fields that hold objects with keys."""
    found: list[_Nesting] = []
    for name, field in model.model_fields.items():
        parts = list(_parts(field.annotation))
        records = [part for part in parts if isinstance(part, type) and issubclass(part, Record)]
        is_mapping = dict in parts
        assert len(records) <= 1 and parts.count(dict) <= 1, f"{model.__name__}.{name} holds objects of several kinds"
        if records or is_mapping:
            found.append((attrgetter(name), is_mapping, records[0] if records else None))
    return found


def _parts(annotation: Any) -> Iterator[Any]:
    """The types that an annotation is made of."""
    yield get_origin(annotation) or annotation
    for part in get_args(annotation):
        yield from _parts(part)
