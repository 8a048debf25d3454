"""`keys/` on disk: the keys of the export API."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.records.api_key import ApiKey
from convex_evals.records.hashes import sha256_text
from convex_evals.records.names import is_api_key_name
from convex_evals.store.records import read_record, write_record

KEYS = "keys"
_SUFFIX = ".json"
_PREFIX = "osk_"
_BYTES = 32
_KEY = re.compile(rf"{_PREFIX}[A-Za-z0-9_-]{{43}}")


def today() -> str:
    """Return the UTC day, YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()


@dataclass(frozen=True)
class ApiKeyStore:
    """The keys below the folder `root`."""

    root: Path

    def path(self, name: str) -> Path:
        return self.root / KEYS / f"{name}{_SUFFIX}"

    def all(self) -> list[ApiKey]:
        """Return all keys by name. Raises `UserError` where a file is not well formed."""
        entries = confined.entries(self.root / KEYS, self.root)
        return [
            self._read(name.removesuffix(_SUFFIX))
            for name, kind in sorted(entries.items())
            if kind == "file" and name.endswith(_SUFFIX)
        ]

    def create(self, name: str, scopes: Sequence[str], expires: str | None) -> str:
        """Write a new key's file and return the key, which is not kept. Raises `UserError` where the name is taken."""
        _check_name(name)
        path = self.path(name)
        if confined.is_file(path, self.root):
            raise UserError(f"{path}: there is such a key; choose another name, also for one that replaces it")
        key = _PREFIX + secrets.token_urlsafe(_BYTES)
        record = ApiKey(name=name, key_sha256=sha256_text(key), scopes=tuple(scopes), created=today(), expires=expires)
        write_record(path, record, self.root)
        return key

    def revoke(self, name: str) -> ApiKey:
        """Revoke a key for good and return its record. Raises `UserError` if there is no such key."""
        _check_name(name)
        if not confined.is_file(self.path(name), self.root):
            raise UserError(f"{name}: no such key in {self.root / KEYS}; `cli keys list` shows them")
        found = self._read(name)
        if found.revoked is None:
            found = found.model_copy(update={"revoked": today()})
            write_record(self.path(name), found, self.root)
        return found

    def find(self, key: str) -> ApiKey | None:
        """Return the record of this key, whatever its state, or None. Raises `UserError`.

        The time it takes says nothing about keys: all hashes are compared, each in constant time.
        """
        if not _KEY.fullmatch(key):
            return None
        digest, found = sha256_text(key), None
        for each in self.all():
            if secrets.compare_digest(each.key_sha256, digest):
                found = each
        return found

    def _read(self, name: str) -> ApiKey:
        record = read_record(self.path(name), ApiKey, self.root)
        if record.name != name:
            raise UserError(f"{self.path(name)}: is of the key '{record.name}'; restore it from Git")
        return record


def _check_name(name: str) -> None:
    if not is_api_key_name(name):
        raise UserError(f"'{name[:60]}': not a name for a key; take lower-case letters, digits, '_' and '-'")
