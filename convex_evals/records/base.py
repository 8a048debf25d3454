"""What every record has in common: frozen, closed, and diffable bytes."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, field_validator
from pydantic_core import CoreSchema, core_schema

from convex_evals.text import well_formed


def _well_formed(value: object) -> object:
    return well_formed(value) if isinstance(value, str) else value


class _WellFormed:
    """Texts of JSON are well formed where it could be parsed; a call for each takes as long as the rest of a file."""

    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        told = core_schema.no_info_before_validator_function(_well_formed, schema)
        return core_schema.json_or_python_schema(json_schema=schema, python_schema=told)


# Of fields that quote what others wrote, which files in UTF-8 may not be able to hold.
WELL_FORMED = _WellFormed
Quoted = Annotated[str | None, WELL_FORMED]


class Record(BaseModel):
    """One value object. Unknown keys are refused: a typo in a file must not be lost silently."""

    # Validators are built when they are first used: a command uses few of them.
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False, defer_build=True)


class FileRecord(Record):
    """A record that is a file of its own: carries `kind` and `schema`."""

    @field_validator("schema_", mode="before", check_fields=False)
    @classmethod
    def _is_a_number(cls, schema: object) -> object:
        # Where JSON is validated, `true` and `1.0` are 1, too.
        if type(schema) is not int:
            raise ValueError("not a schema number")
        return schema

    def to_json(self) -> str:
        """The file's text: sorted keys, two spaces, no NaN, a newline at the end."""
        return dump_json(self.model_dump(mode="json", by_alias=True))

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Raises `pydantic.ValidationError` where `data` is not such a record."""
        return cls.model_validate(data).completed()

    def completed(self) -> Self:
        """With what its file leaves out because it can be told from the rest."""
        return self


def dump_json(data: Any) -> str:
    return json.dumps(data, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"
