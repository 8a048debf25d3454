"""Do the documents of an export fit the app as it is now, or does its schema need a migration first?"""

from __future__ import annotations

import json
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from convex_evals.errors import UserError
from convex_evals.grading.backends.push import DeployError
from convex_evals.grading.npm import Progress
from convex_evals.publish.local import open_app

_TABLES = "_tables/documents.jsonl"
_LARGEST = 4 * 1024**3  # bytes of documents, unpacked
_PER_RECORD = 500
_TOLD_EVERY = 20_000


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
            for name in tables:
                for batch in _batches(archive, f"{name}/documents.jsonl"):
                    writes = [["", name, document["_id"], document] for document in batch]
                    _write(out, {"kind": "commit", "ts": "1", "writes": writes})
                    before, count = count, count + len(batch)
                    if before // _TOLD_EVERY != count // _TOLD_EVERY:
                        progress("reading documents", count, 0)
            return count, len(tables)
    except (OSError, zipfile.BadZipFile) as error:
        raise UserError(f"{export}: cannot be read as an export of `npx convex export`: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{export}: is no export of `npx convex export`: {error}") from None


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
