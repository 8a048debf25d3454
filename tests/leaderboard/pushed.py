"""Sessions of a folder, pushed to the leaderboard's app and exported from it."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from convex_evals.publish.session_content import content_of
from convex_evals.sessions.exporting import export, labelled
from convex_evals.sessions.exports import IN_PARTS
from convex_evals.sessions.index import SessionFilter, open_index
from convex_evals.sessions.labels import read_label, write_label
from convex_evals.sessions.store import SessionStore
from convex_evals.store.api_keys import ApiKeyStore
from tests import patience
from tests.conftest import Invoke, Result
from tests.publish.deployed import Deployment
from tests.publish.publications import TOKEN_ENV
from tests.sessions.exported import add_sessions

READY = SessionFilter(ready=True)


@dataclass
class Pushing:
    """A folder whose settings name one deployment."""

    store: SessionStore
    board: Deployment
    invoke: Invoke
    secrets: dict[str, str] = field(default_factory=dict)  # keys by name

    @property
    def keys(self) -> ApiKeyStore:
        return ApiKeyStore(self.store.root)

    def push(self, *words: str, status: int = 0) -> Result:
        done = self.invoke("sessions", "push", *words, cwd=self.store.root)
        assert done.status == status, done.out + done.err
        return done

    def results(self, *words: str) -> Counter[str]:
        """How many sessions had which result."""
        data = json.loads(self.push("--json", *words).out)
        return Counter({"unchanged": data["unchanged"]}) + Counter(each["result"] for each in data["sessions"])

    def add_key(self, name: str = "nightly", *scopes: str, expires: str | None = None) -> str:
        self.secrets[name] = self.keys.create(name, scopes or ("export",), expires)
        return self.secrets[name]

    def label(self, session_id: str, **fields: Any) -> None:
        write_label(self.store, session_id, read_label(self.store, session_id).model_copy(update=fields))

    def ready(self, wanted: SessionFilter = READY) -> list[str]:
        with open_index(self.store) as index:
            return [entry.id for entry in index.find(wanted)]

    def get(self, query: str = "format=openai", key: str | None = None, **headers: str) -> httpx.Response:
        given = {"Authorization": f"Bearer {key}"} if key is not None else {}
        url = f"{self.board.site_url}/api/export?{query}"
        return httpx.get(url, headers={**given, **headers}, timeout=patience.seconds(60), trust_env=False)

    def check(self, key: str, wanted: SessionFilter = READY) -> None:
        """The deployment has these sessions, each once, with their files and no others; its exports are ours."""
        ids = self.ready(wanted)
        there = self.board.everything()
        assert Counter(each["sessionId"] for each in there["sessions"]) == Counter(ids)
        contents = {each.session.id: content_of(each) for each in labelled(self.store, ids)}
        parts = {each["sessionId"]: each["parts"] for each in there["sessions"]}
        assert {i: part.keys() for i, part in parts.items()} == {i: c.parts.keys() for i, c in contents.items()}
        for form in IN_PARTS:
            answer = self.get(f"format={form}", key)
            assert answer.status_code == 200 and answer.content == b"".join(export(self.store, ids, form)), form

    def files(self) -> tuple[int, int]:
        """How many files are in storage, and how many of them sessions refer to."""
        there = self.board.everything()
        needed = {part["storageId"] for each in there["sessions"] for part in each["parts"].values()}
        return len(there["files"]), len(needed)


def make_pushing(root: Path, board: Deployment, invoke: Invoke, url: str | None = None) -> Pushing:
    """The sessions of `tests.sessions.exported`; the token is expected in the environment."""
    root.mkdir(exist_ok=True)
    settings = {"deployments": {"board": {"url": url or board.url, "token_env": TOKEN_ENV}}}
    (root / "convex-evals.yaml").write_text(json.dumps(settings), encoding="utf-8")
    return Pushing(add_sessions(root), board, invoke)


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    """Status, code and message of an error."""
    error = answer.json()["error"]
    assert list(answer.json()) == ["error"] and sorted(error) == ["code", "message"]
    return answer.status_code, error["code"], error["message"]


def line_of(path: Path, pattern: str) -> str:
    """The one line of a document that matches."""
    (line,) = re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    return str(line)
