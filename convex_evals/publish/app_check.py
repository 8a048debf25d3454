"""Do the documents of an export fit the app as it is now, or does its schema need a migration first?"""

from __future__ import annotations

import json
import os
import re
import struct
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from convex_evals.errors import UserError
from convex_evals.grading.backends.push import DeployError
from convex_evals.grading.npm import Progress
from convex_evals.publish.local import open_app

_TABLES = "_tables/documents.jsonl"
_FILES = "_storage"
_LARGEST = 4 * 1024**3  # bytes of documents, unpacked
_PER_RECORD = 500
_TOLD_EVERY = 20_000
_ID = re.compile("[0-9a-hjkmnp-tv-z]{31,37}")
_DIGITS = str.maketrans("jkmnpqrstvwxyz", "ijklmnopqrstuv")  # Crockford's, which ids have, to those of `int`


@dataclass(frozen=True)
class Checked:
    """What an export holds, and the first of its documents that the app's schema refuses."""

    documents: int
    tables: int
    mismatch: str | None

    def to_data(self) -> dict[str, Any]:
        return {"documents": self.documents, "tables": self.tables, "mismatch": self.mismatch}


async def check_export(export: Path, app: Path, progress: Progress) -> Checked:
    """Deploy the app over the documents of an export (`npx convex export`), in a folder of its own.

    Documents of components are left out: their schemas are not the app's. Raises `UserError`.
    """
    with tempfile.TemporaryDirectory(prefix="leaderboard-check-") as temporary:
        data = Path(temporary) / "data"
        data.mkdir()
        documents, tables = _import(export, data / "log-00000000", progress)
        lock = os.open(data / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            async with open_app(app, data, lock, (0, 0), progress):
                return Checked(documents, tables, None)
        except DeployError as error:
            return Checked(documents, tables, str(error).removeprefix("Schema validation failed: "))
        finally:
            os.close(lock)


def _import(export: Path, log: Path, progress: Progress) -> tuple[int, int]:
    """Write the documents of an export as a log; how many there were, and in how many tables."""
    try:
        with zipfile.ZipFile(export) as archive, log.open("wb") as out:
            if sum(entry.file_size for entry in archive.infolist() if _is_table(entry.filename)) > _LARGEST:
                raise UserError(f"{export}: has more than {_LARGEST // 1024**3} GiB of documents")
            _write(out, {"kind": "begin", "follows": 0})
            tables = {str(table["name"]): int(table["id"]) for table in _lines(archive, _TABLES)}
            for name, number in tables.items():
                _write(out, {"kind": "table", "name": name, "number": number})
            count = 0
            known, elsewhere = set(tables.values()), Counter[int]()
            for name in tables:
                for batch in _batches(archive, f"{name}/documents.jsonl"):
                    writes = [["", name, document["_id"], document] for document in batch]
                    _write(out, {"kind": "commit", "ts": "1", "writes": writes})
                    elsewhere.update(number for number in _numbers(batch) if number not in known)
                    before, count = count, count + len(batch)
                    if before // _TOLD_EVERY != count // _TOLD_EVERY:
                        progress("reading documents", count, 0)
            files = _number_of_files(archive, elsewhere)
            if files is not None:
                _write(out, {"kind": "table", "name": _FILES, "number": files})
            return count, len(tables)
    except (OSError, zipfile.BadZipFile) as error:
        raise UserError(f"{export}: cannot be read as an export of `npx convex export`: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{export}: is no export of `npx convex export`: {error}") from None


def _number_of_files(archive: zipfile.ZipFile, elsewhere: Counter[int]) -> int | None:
    """By which number ids name `_storage`, of which an export holds nothing unless files are included.

    `elsewhere` are ids in documents that name no table of the export: they are of files.
    """
    listed = next(_batches(archive, f"{_FILES}/documents.jsonl"), [])
    return next(_numbers(listed), None) or next((number for number, _ in elsewhere.most_common(1)), None)


def _numbers(found: Any) -> Iterator[int]:
    """The number of the table of each id in a value."""
    if isinstance(found, str):
        number = _table_number(found) if _ID.fullmatch(found) else None
        if number is not None:
            yield number
    elif isinstance(found, list | dict):
        for each in found.values() if isinstance(found, dict) else found:
            yield from _numbers(each)


def _table_number(text: str) -> int | None:
    """As convex_evals/node/backend/runtime/id_encoding.ts reads an id; None for what is none."""
    surplus = 5 * len(text) % 8
    data = (int(text.translate(_DIGITS), 32) >> surplus).to_bytes(5 * len(text) // 8, "big")
    end = len(data) - 18  # of the number, before 16 bytes and a checksum
    low = high = 0
    for byte in data[:-2]:
        low = (low + byte) & 0xFF
        high = (high + low) & 0xFF
    if data[-2:] != bytes((low, high)) or [at for at, byte in enumerate(data[:end]) if byte < 0x80] != [end - 1]:
        return None
    return sum((byte & 0x7F) << (7 * at) for at, byte in enumerate(data[:end]))


def _is_table(name: str) -> bool:
    return name.endswith("/documents.jsonl") and not name.startswith("_components/")


def _lines(archive: zipfile.ZipFile, name: str) -> Iterator[dict[str, Any]]:
    with archive.open(name) as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _batches(archive: zipfile.ZipFile, name: str) -> Iterator[list[dict[str, Any]]]:
    if name not in archive.namelist():
        return
    batch: list[dict[str, Any]] = []
    for document in _lines(archive, name):
        batch.append(document)
        if len(batch) == _PER_RECORD:
            yield batch
            batch = []
    if batch:
        yield batch


def _write(out: BinaryIO, record: dict[str, Any]) -> None:
    """One record as convex_evals/node/backend/durable/log_file.ts reads it."""
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    header = struct.pack("<III", len(body), zlib.crc32(body), out.tell())
    header += struct.pack("<I", zlib.crc32(header))
    out.write(header + body + header)
