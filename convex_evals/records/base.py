"""What every record has in common: frozen, closed, and diffable bytes."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict

from convex_evals.text import well_formed


def _well_formed(value: object) -> object:
    return well_formed(value) if isinstance(value, str) else value


# Of fields that quote what others wrote, which files in UTF-8 may not be able to hold.
WELL_FORMED = BeforeValidator(_well_formed)
Quoted = Annotated[str | None, WELL_FORMED]


class Record(BaseModel):
    """One value object. Unknown keys are refused: a typo in a file must not be lost silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)


class FileRecord(Record):
    """A record that is a file of its own: carries `kind` and `schema`."""

    def to_json(self) -> str:
        """The file's text: sorted keys, two spaces, no NaN, a newline at the end."""
        return dump_json(self.model_dump(mode="json", by_alias=True))

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Raises `pydantic.ValidationError` where `data` is not such a record."""
        return cls.model_validate(data)


def dump_json(data: Any) -> str:
    return json.dumps(data, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"
