"""What known actions do to files. Each takes the job and its inputs, and gives its outputs; an unknown input fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tests.workflows.artifacts import ArtifactError, find_files
from tests.workflows.checkout import CheckoutFailed, clone, resolve
from tests.workflows.hub import DEFAULT_BRANCH, REPOSITORY

if TYPE_CHECKING:
    from tests.workflows.job import JobRun

Inputs = Mapping[str, str]
Outputs = dict[str, Any]
Action = Callable[["JobRun", Inputs], Outputs]


class ActionFailed(Exception):
    """The step fails with this message."""


def only(inputs: Inputs, *known: str) -> None:
    unknown = inputs.keys() - set(known)
    if unknown:
        raise ActionFailed(f"unexpected inputs: {', '.join(sorted(unknown))}")


def flag(inputs: Inputs, name: str, default: bool = False) -> bool:
    text = inputs.get(name) or str(default)
    if text.lower() not in ("true", "false"):
        raise ActionFailed(f"{name}: {text!r} is not a boolean")
    return text.lower() == "true"


def _checkout(job: JobRun, inputs: Inputs) -> Outputs:
    only(inputs, "ref", "fetch-depth", "path", "persist-credentials")
    if "contents" not in job.rights:
        raise ActionFailed(f"{REPOSITORY}: not found by a token that may not read contents")
    persist = flag(inputs, "persist-credentials", True)
    folder = job.workspace / inputs.get("path", "")
    try:
        wanted = resolve(job.hub, job.attempt.event, inputs.get("ref", ""))
        clone(job.hub, folder, job.home, wanted, job.token, depth=int(inputs.get("fetch-depth", 1)), persist=persist)
    except CheckoutFailed as e:
        raise ActionFailed(str(e)) from e
    job.persisted_token = job.persisted_token or persist
    return {}


def _upload_artifact(job: JobRun, inputs: Inputs) -> Outputs:
    names = ("name", "path", "if-no-files-found", "include-hidden-files", "overwrite", "retention-days")
    only(inputs, *names, "compression-level")
    missing = inputs.get("if-no-files-found", "warn")
    if missing not in ("warn", "error", "ignore"):
        raise ActionFailed(f"if-no-files-found: {missing}")
    name, paths = inputs.get("name", "artifact"), inputs.get("path", "")
    files, root = find_files(paths, job.workspace, job.home, hidden=flag(inputs, "include-hidden-files"))
    if files:
        job.artifacts.upload(name, files, root, overwrite=flag(inputs, "overwrite"))
    elif missing == "error":
        raise ArtifactError(f"No files were found with the provided path: {paths}. No artifacts will be uploaded.")
    return {}


def _download_artifact(job: JobRun, inputs: Inputs) -> Outputs:
    only(inputs, "name", "path", "pattern", "merge-multiple")
    into = job.workspace / inputs.get("path", "")
    name, pattern = inputs.get("name", ""), inputs.get("pattern", "")
    job.artifacts.download(into, name=name, pattern=pattern, merge=flag(inputs, "merge-multiple"))
    return {"download-path": str(into)}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _restore(job: JobRun, inputs: Inputs) -> Outputs:
    only(inputs, "path", "key", "restore-keys", "fail-on-cache-miss")
    event = job.attempt.event
    base = [f"refs/heads/{event.base_ref}"] if event.base_ref else []
    refs = list(dict.fromkeys([event.ref, *base, f"refs/heads/{DEFAULT_BRANCH}"]))
    others, paths = _lines(inputs.get("restore-keys", "")), _lines(inputs["path"])
    found = job.hub.caches.restore(inputs["key"], others, paths, refs, job.workspace, job.home)
    if found is None and flag(inputs, "fail-on-cache-miss"):
        raise ActionFailed(f"Failed to restore cache entry: {inputs['key']}")
    hit = "" if found is None else str(found == inputs["key"]).lower()
    return {"cache-hit": hit, "cache-primary-key": inputs["key"], "cache-matched-key": found or ""}


def _save(job: JobRun, inputs: Inputs) -> Outputs:
    only(inputs, "path", "key")
    paths = _lines(inputs["path"])
    job.hub.caches.save(inputs["key"], paths, job.attempt.event.ref, job.workspace, job.home)
    return {}


def _cache(job: JobRun, inputs: Inputs) -> Outputs:
    """Restores now, and saves at the end of a job that succeeded."""
    outputs = _restore(job, inputs)
    if outputs["cache-hit"] != "true":
        job.at_end.append(lambda: _save(job, {"path": inputs["path"], "key": inputs["key"]}))
    return outputs


def _nothing(job: JobRun, inputs: Inputs) -> Outputs:
    """What it would install is here."""
    return {}


ACTIONS: dict[str, Action] = {
    "actions/checkout": _checkout,
    "actions/upload-artifact": _upload_artifact,
    "actions/download-artifact": _download_artifact,
    "actions/cache": _cache,
    "actions/cache/restore": _restore,
    "actions/cache/save": _save,
    "actions/setup-python": _nothing,
    "actions/setup-node": _nothing,
}
