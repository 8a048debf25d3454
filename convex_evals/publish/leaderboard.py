"""The functions of a leaderboard deployment. What is sent is exact; of what comes back only what we need is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from convex_evals.errors import UserError
from convex_evals.publish.client import ConvexClient, FunctionFailedError

_NO_ASSET = "0" * 32  # the hash of nothing
MOST_LISTED = 40  # runs that `listRuns` gives
_END_OF_TIME = 8.64e15  # the last moment that JavaScript has, in milliseconds since 1970
_LIST, _DETAILS = "runs:listRuns", "runs:getRunDetails"


@dataclass(frozen=True)
class ListedRun:
    id: str
    text: str | None  # what its publisher called it
    created: float  # milliseconds since 1970, by the deployment's clock


@dataclass(frozen=True)
class FoundEval:
    id: str
    status: str  # passed or failed; anything else: under way
    steps: Mapping[str, str]  # status by name
    has_repeated_steps: bool
    output: str | None  # the file of the reply


@dataclass(frozen=True)
class FoundRun:
    text: str | None  # what its publisher called it
    model: str  # its id there
    benchmark: str | None
    experiment: str | None
    status: str  # completed or failed; anything else: under way
    all_evals: tuple[tuple[str, FoundEval], ...]  # with their paths, in the deployment's order

    @property
    def evals(self) -> Mapping[str, FoundEval]:
        """By path; of those that are there twice, the last."""
        return dict(self.all_evals)

    @property
    def has_repeated_evals(self) -> bool:
        return len(self.evals) < len(self.all_evals)


@dataclass(frozen=True)
class LeaderboardApi:
    client: ConvexClient

    async def scopes(self) -> tuple[str, ...] | None:
        """What the token may do; None where it is right, and a deployment does not tell.

        Raises `FunctionFailedError` for a token that is refused, and `UserError`.
        """
        path = "auth:tokenScopes"
        try:
            found = await self.client.mutate_again(path, {})
        except FunctionFailedError as error:
            # Others have no such function, which in production is told as little as any error.
            try:
                await self.client.mutate_again("admin:checkAssetHash", {"hash": _NO_ASSET})
            except FunctionFailedError as other:
                raise (other if error.is_unknown else error) from None
            return None
        listed = self._list(self._get(found, "scopes", path, (list,)), path, ".scopes")
        return tuple(self._text(each, path, ".scopes") for each in listed)

    async def ensure_model(self, model: dict[str, Any]) -> str:
        path = "admin:ensureModelFromSlug"
        return self._text(await self._mutate_again(path, model), path, "")

    async def model(self, slug: str) -> str | None:
        """The id of a model; None where none has this slug."""
        path = "models:getBySlug"
        found = await self._query(path, {"slug": slug})
        return None if found is None else self._text(self._get(found, "_id", path, (str,)), path, "._id")

    async def start_run(self, args: dict[str, Any]) -> str:
        """Raises `LostAnswerError` and `FunctionFailedError`."""
        return self._text(await self.client.mutate_once("admin:startRun", args), "admin:startRun", "")

    async def start_eval(self, args: dict[str, Any]) -> str:
        """Raises `LostAnswerError` and `FunctionFailedError`."""
        return self._text(await self.client.mutate_once("admin:startEval", args), "admin:startEval", "")

    async def record_step(self, eval_id: str, name: str, status: dict[str, Any]) -> None:
        """Raises `LostAnswerError` and `FunctionFailedError`."""
        await self.client.mutate_once("admin:recordStep", {"evalId": eval_id, "name": name, "status": status})

    async def complete_eval(self, eval_id: str, status: dict[str, Any]) -> None:
        """Raises `LostAnswerError` and `FunctionFailedError`."""
        await self.client.mutate_once("admin:completeEval", {"evalId": eval_id, "status": status})

    async def complete_run(self, run_id: str, status: dict[str, Any]) -> None:
        """Raises `LostAnswerError` and `FunctionFailedError`."""
        await self.client.mutate_once("admin:completeRun", {"runId": run_id, "status": status})

    async def delete_run(self, run_id: str) -> None:
        """Raises `LostAnswerError` and `FunctionFailedError`."""
        await self.client.mutate_once("admin:deleteRun", {"runId": run_id})

    async def stored_source(self, digest: str) -> str | None:
        """The file of a source that was registered; None where none was."""
        path = "admin:checkAssetHash"
        found = await self._mutate_again(path, {"hash": digest})
        if not self._get(found, "exists", path, (bool,)):
            return None
        return self._text(self._get(found, "storageId", path, (str,)), path, ".storageId")

    async def register_source(self, digest: str, file: str) -> None:
        """Raises `LostAnswerError` and `FunctionFailedError`."""
        args = {"hash": digest, "assetType": "evalSource", "storageId": file}
        await self.client.mutate_once("admin:registerAsset", args)

    async def upload(self, data: bytes) -> str:
        """The id of a new file. Raises `UserError`. Each answer that is lost leaves a file that nothing refers to."""
        return await self.client.again("upload", partial(self._upload, data))

    async def _upload(self, data: bytes) -> str:
        path = "admin:generateUploadUrl"
        url = self._text(await self._mutate_again(path, {}), path, "")
        answer = await self.client.upload(url, data, "application/zip")
        return self._text(self._get(answer, "storageId", "upload", (str,)), "upload", ".storageId")

    async def versions(self, experiment: str | None) -> Any:
        """The benchmarks that were minted, in whatever shape a deployment tells them.

        None where it refuses an experiment, which it may not know.
        """
        if experiment is None:
            return await self._query("runs:leaderboardVersions", {})
        try:
            return await self.client.query("runs:leaderboardVersions", {"experiment": experiment})
        except FunctionFailedError:
            return None

    async def name_benchmark(self, version: str, name: str) -> None:
        """Name a minted benchmark for people; deployments of others may have no names."""
        with suppress(FunctionFailedError):
            await self.client.mutate_again("admin:nameBenchmark", {"version": version, "name": name})

    async def runs(self, model: str) -> list[ListedRun]:
        """The newest runs of a model, newest first; more than `MOST_LISTED` are never given.

        Under all experiments: a deployment may choose those of one only after it took the newest.
        """
        args = {"modelId": model, "limit": MOST_LISTED}
        return [self._listed(run) for run in self._list(await self._query(_LIST, args), _LIST, "")]

    async def run(self, run_id: str) -> FoundRun | None:
        """None where there is no such run."""
        found = await self._query(_DETAILS, {"runId": run_id})
        if found is None:
            return None
        listed = self._list(self._get(found, "evals", _DETAILS, (list,)), _DETAILS, ".evals")
        found = found["run"] if isinstance(found.get("run"), dict) else found  # the run beside its evals
        paths = [self._text(self._get(e, "evalPath", _DETAILS, (str,)), _DETAILS, ".evals.evalPath") for e in listed]
        return FoundRun(
            text=_text_or_none(found, "runId"),
            model=self._text(self._get(found, "modelId", _DETAILS, (str,)), _DETAILS, ".modelId"),
            benchmark=_text_or_none(found, "benchmarkVersion"),
            experiment=_text_or_none(found, "experiment"),
            status=self._kind(found),
            all_evals=tuple((path, self._eval(each)) for path, each in zip(paths, listed, strict=True)),
        )

    async def has_file(self, storage_id: str) -> bool:
        """Whether a stored file is there."""
        return await self._query("runs:getOutputUrl", {"storageId": storage_id}) is not None

    async def update_output(self, eval_id: str, file: str) -> None:
        """Put another file in the place of an eval's reply. Raises `FunctionFailedError`."""
        await self.client.mutate_again("admin:updateEvalOutput", {"evalId": eval_id, "outputStorageId": file})

    def _listed(self, run: Any) -> ListedRun:
        return ListedRun(
            self._text(self._get(run, "_id", _LIST, (str,)), _LIST, "._id"),
            _text_or_none(run, "runId"),
            self._time(self._get(run, "_creationTime", _LIST, (int, float))),
        )

    def _eval(self, found: Any) -> FoundEval:
        steps = self._list(self._get(found, "steps", _DETAILS, (list,)), _DETAILS, ".evals.steps")
        names = Counter(self._get(step, "name", _DETAILS, (str,)) for step in steps)
        kinds = {step["name"]: self._kind(step) for step in steps}
        own = self._text(self._get(found, "_id", _DETAILS, (str,)), _DETAILS, ".evals._id")
        status = self._kind(found)
        output = _text_or_none(found["status"], "outputStorageId")
        return FoundEval(own, status, kinds, max(names.values(), default=0) > 1, output)

    def _kind(self, found: Any) -> str:
        status = self._get(found, "status", _DETAILS, (dict,))
        return self._text(self._get(status, "kind", _DETAILS, (str,)), _DETAILS, ".status.kind")

    async def _query(self, path: str, args: dict[str, Any]) -> Any:
        try:
            return await self.client.query(path, args)
        except FunctionFailedError as error:
            raise UserError(f"{self.client.deployment.url}: {error}") from None

    async def _mutate_again(self, path: str, args: dict[str, Any]) -> Any:
        try:
            return await self.client.mutate_again(path, args)
        except FunctionFailedError as error:
            raise UserError(f"{self.client.deployment.url}: {error}") from None

    def _get(self, found: Any, name: str, path: str, kinds: tuple[type, ...]) -> Any:
        value = found.get(name) if isinstance(found, dict) else None
        if not isinstance(value, kinds):
            raise self._unusable(path, f"no field '{name}' that can be read")
        return value

    def _list(self, found: Any, path: str, where: str) -> list[Any]:
        if not isinstance(found, list):
            raise self._unusable(path, f"its answer{where} is not a list")
        return found

    def _text(self, found: Any, path: str, where: str) -> str:
        if not isinstance(found, str) or not found or len(found) > 1000 or not found.isprintable():
            raise self._unusable(path, f"its answer{where} is not a text that can be read")
        return found

    def _time(self, found: float) -> float:
        if not 0 <= found < _END_OF_TIME:
            raise self._unusable(_LIST, "its answer._creationTime is no time")
        return float(found)

    def _unusable(self, path: str, what: str) -> UserError:
        return UserError(
            f"{self.client.deployment.url}: {path}: {what}; this is not a leaderboard that `cli publish` knows"
        )


def _text_or_none(found: Any, name: str) -> str | None:
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, str) else None
