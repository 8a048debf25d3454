"""What every record has in common: frozen, closed, and diffable bytes."""

from __future__ import annotations

import json
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """One value object. Unknown keys are refused: a typo in a file must not be lost silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


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
