"""A field is added to scores: the schema that takes both, the migration, the schema that requires it."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import struct
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from convex_evals.grading.backends import Endpoints
from convex_evals.grading.backends.push import DeployError
from convex_evals.publish.local import APP, administrate, open_app
from tests.conftest import REAL_CACHE, Invoke
from tests.leaderboard.sent import mint, send
from tests.publish.deployed import Deployment

pytestmark = [pytest.mark.grading, pytest.mark.full]

FIELD = "averageEvalDurationMs"
MODELS = 12
# What each version of the app has in place of the schema's line, and whether it computes the field.
STAGES = {"before": ("", False), "loose": (f"{FIELD}: v.optional(v.number()),", True)}


def stage(folder: Path, name: str) -> Path:
    """The app as it was before the field, or while both kinds of documents are there."""
    line, computes = STAGES[name]
    app = folder / name
    shutil.copytree(APP, app, ignore=shutil.ignore_patterns("_generated", "node_modules"))
    replace(app / "convex" / "schema.ts", f"{FIELD}: v.number(),", line)
    if not computes:
        computed = [each for each in (APP / "convex" / "results.ts").read_text().splitlines() if FIELD in each]
        replace(app / "convex" / "results.ts", computed[0] + "\n", "")
    return app


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))


@dataclass
class Records:
    """What the log of a backend's folder holds."""

    tables: dict[str, int] = field(default_factory=dict)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)  # by table, by id

    @classmethod
    def read(cls, log: Path) -> Records:
        found, content, at = cls(), log.read_bytes(), 0
        while at < len(content):
            (length,) = struct.unpack_from("<I", content, at)
            record = json.loads(content[at + 16 : at + 16 + length])
            at += 16 + length + 16
            if record["kind"] == "table":
                found.tables[record["name"]] = record["number"]
            for component, table, id_, document in record.get("writes", ()):
                if component == "":
                    found.documents.setdefault(table, {})[id_] = document
        return found

    def export(self, path: Path, include_files: bool = False) -> Path:
        """As `npx convex export` writes it: files are in no list of tables, and there with --include-file-storage."""
        own = {name: number for name, number in self.tables.items() if not name.startswith("_")}
        with zipfile.ZipFile(path, "w") as archive:
            lines = [json.dumps({"name": name, "id": number}) for name, number in own.items()]
            archive.writestr("_tables/documents.jsonl", "\n".join(lines) + "\n")
            for name in [*own, *(["_storage"] if include_files else [])]:
                documents = [each for each in self.documents.get(name, {}).values() if each is not None]
                text = "".join(json.dumps(each) + "\n" for each in documents)
                archive.writestr(f"{name}/documents.jsonl", text)
                for document in documents if name == "_storage" else ():
                    archive.writestr(f"{name}/{document['_id']}.zip", "content")
        return path


@asynccontextmanager
async def running(app: Path, data: Path) -> AsyncIterator[Endpoints]:
    """An app over its data; it is killed in the end, as by a machine that lost its power."""
    data.mkdir(exist_ok=True)
    lock = os.open(data / "lock", os.O_RDWR | os.O_CREAT)
    try:
        async with open_app(app, data, lock, (0, 0), lambda *_: None) as at:
            yield at
            assert at.process
            at.process.started.kill()
            await at.process.wait()
    finally:
        os.close(lock)


async def board_at(at: Endpoints) -> Deployment:
    token = (await administrate(at, "auth:createToken", {"name": secrets.token_hex(8)}))["value"]
    return Deployment(f"http://127.0.0.1:{at.port}", "", f"http://127.0.0.1:{at.site_port}", APP, Path(), token)


def test_a_new_field_comes_to_old_documents(
    toolchain: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONVEX_EVALS_CACHE", str(REAL_CACHE))
    data, log = tmp_path / "data", tmp_path / "data" / "log-00000000"
    before, loose = stage(tmp_path, "before"), stage(tmp_path, "loose")

    async def fill() -> None:
        async with running(before, data) as at:
            board = await board_at(at)
            await asyncio.to_thread(mint, board)
            for n in range(MODELS):
                await asyncio.to_thread(send, board, "ppff", runId=str(n), model=f"acme/{n}")

    async def deploy(app: Path) -> None:
        async with running(app, data):
            pass

    async def migrate(until_done: bool) -> None:
        async with running(loose, data) as at:
            await administrate(at, "migrations:run", {"fn": "migrations:recomputeScores", "reset": not until_done})
            for _ in range(600 if until_done else 0):
                if not without_field(log):
                    break
                await asyncio.sleep(0.1)

    async def use() -> list[dict[str, Any]]:
        async with running(APP, data) as at:
            board = await board_at(at)
            await asyncio.to_thread(send, board, "pppp", runId="new", model="acme/new")
            shown: list[dict[str, Any]] = board.query("runs:leaderboardScores")
            return shown

    asyncio.run(fill())
    assert without_field(log) == 2 * MODELS  # of the version, and across versions
    refused = invoke("leaderboard-app", "check", Records.read(log).export(tmp_path / "old.zip"))
    assert refused.status == 4 and "needs a migration" in refused.out and FIELD in refused.out
    with pytest.raises(DeployError, match=FIELD):
        asyncio.run(deploy(APP))
    asyncio.run(deploy(loose))
    asyncio.run(migrate(until_done=False))  # killed at its beginning
    assert without_field(log) > 0
    asyncio.run(migrate(until_done=True))
    accepted = invoke("leaderboard-app", "check", Records.read(log).export(tmp_path / "new.zip"), "--json")
    assert accepted.status == 0, accepted.err
    assert json.loads(accepted.out)["mismatch"] is None
    shown = asyncio.run(use())
    assert len(shown) == MODELS + 1 and {each[FIELD] for each in shown} == {1000}


def without_field(log: Path) -> int:
    """Scores that lack the field."""
    scores = Records.read(log).documents.get("scores", {}).values()
    return sum(score is not None and FIELD not in score for score in scores)


def send_files(board: Deployment) -> None:
    """A file wherever documents refer to one."""

    def upload() -> str:
        url = board.mutation("generateUploadUrl")
        answer = httpx.post(url, content=b"content", headers={"content-type": "application/zip"}, trust_env=False)
        return str(answer.raise_for_status().json()["storageId"])

    model = board.mutation("ensureModelFromSlug", slug="acme/m", formattedName="M")
    run = board.mutation("startRun", modelId=model, provider="acme", plannedEvals=["a/b", "a/c"])
    for name, storage_id in (("b", upload()), ("c", upload())):
        of = {"runId": run, "evalPath": f"a/{name}", "category": "a", "name": name}
        started = board.mutation("startEval", **of, evalSourceStorageId=upload())
        board.mutation("updateEvalOutput", evalId=started, outputStorageId=storage_id)
        if name == "b":
            board.mutation("completeEval", evalId=started, status={"kind": "passed", "durationMs": 1})
    board.mutation("registerAsset", hash="h", assetType="evalSource", storageId=upload())
    session: dict[str, Any] = {
        "sessionId": "a" * 20,
        "digest": "d",
        "replaces": None,
        "status": "golden",
        "tags": [],
        "order": 0,
    }
    board.sessions("put", **session, files={"openai": upload(), "text": upload()})


def test_ids_of_files_need_no_migration(toolchain: Path, tmp_path: Path, invoke: Invoke) -> None:
    data = tmp_path / "data"

    async def fill() -> None:
        async with running(APP, data) as at:
            await asyncio.to_thread(send_files, await board_at(at))

    asyncio.run(fill())
    there = Records.read(data / "log-00000000")
    for name, include_files in (("without", False), ("with", True)):
        export = there.export(tmp_path / f"{name}.zip", include_files)
        done = invoke("leaderboard-app", "check", export, "--json")
        assert done.status == 0 and json.loads(done.out)["mismatch"] is None, done.out + done.err
    (asset,) = there.documents["assets"].values()
    asset["storageId"] = next(iter(there.documents["models"]))
    for include_files in (False, True):
        done = invoke("leaderboard-app", "check", there.export(tmp_path / "wrong.zip", include_files))
        assert done.status == 4 and 'v.id("_storage")' in done.out, done.out + done.err


@pytest.mark.parametrize("content", [b"", b"PK no zip", None])
def test_what_is_no_export_is_said_in_one_line(invoke: Invoke, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "export.zip"
    if content is None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("other.txt", "")
    else:
        path.write_bytes(content)
    done = invoke("leaderboard-app", "check", path)
    assert done.status == 1 and "export" in done.err and len(done.err.strip().splitlines()) == 1


def test_no_app_is_said(invoke: Invoke, tmp_path: Path) -> None:
    Records({"models": 10_001}).export(tmp_path / "export.zip")
    done = invoke("leaderboard-app", "check", tmp_path / "export.zip", "--app", tmp_path)
    assert done.status == 1 and "has no app" in done.err
