"""`cli sessions push` and the leaderboard's `/api/export`: what is there afterwards, and what an attacker would try."""

from __future__ import annotations

import json
import secrets
import shlex
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from convex_evals.records.hashes import sha256_text
from convex_evals.records.session import SessionStatus
from convex_evals.sessions.index import SessionFilter
from convex_evals.sessions.store import MESSAGES, RECORD
from tests import patience
from tests.conftest import ROOT, Invoke
from tests.factories import edit_json
from tests.leaderboard.pushed import Pushing, line_of, make_pushing, refusal
from tests.publish.deployed import Deployment, RefusedError
from tests.publish.publications import TOKEN_ENV
from tests.sessions.chats import chat, write_chats
from tests.sessions.exported import CONDITIONS, WRONG

pytestmark = pytest.mark.grading


@pytest.fixture
def pushing(board: Deployment, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pushing:
    """Four sessions, one of which is not marked as an eval."""
    monkeypatch.setenv(TOKEN_ENV, board.token)
    return make_pushing(tmp_path / "home", board, invoke)


@pytest.fixture
def key(pushing: Pushing) -> str:
    """Of sessions that are pushed."""
    made = pushing.add_key()
    pushing.push()
    return made


def import_chats(pushing: Pushing, *chats: dict[str, Any]) -> None:
    """Sessions that are marked as evals, and await a review."""
    file = write_chats(pushing.store.root / "more.jsonl", chats)
    home = pushing.store.root
    assert pushing.invoke("sessions", "import", "--from", "openai", file, cwd=home).status == 0
    chosen = ("--of-status", "needs_review", "--ready", "--yes")
    assert pushing.invoke("sessions", "label", *chosen, cwd=home).status == 0


def test_the_documented_line_word_for_word(pushing: Pushing, key: str) -> None:
    line = line_of(ROOT / "docs" / "leaderboard.md", r"^ +curl .*status=golden.*$")
    command, flag, header, url = shlex.split(line)
    assert (command, flag) == ("curl", "-H") and header == "Authorization: Bearer osk_your_api_key"
    host, _, query = url.partition("/api/export?")
    assert host == "https://your-convex.convex.site"
    answer = pushing.get(query, key)
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    assert answer.headers["content-disposition"] == 'attachment; filename="sessions-golden.json"'
    assert answer.headers["cache-control"] == "no-store" and answer.headers["x-content-type-options"] == "nosniff"
    assert sorted((row["input"], row["actual_output"], row["expected_output"]) for row in answer.json()) == [
        ("What is one?", "one.", None),
        ("What is two?", "two.", "better"),
    ]


def test_exports_are_those_of_the_command(pushing: Pushing, key: str) -> None:
    """Also of sessions that leave no trace in a format, at the beginning, between others and at the end."""
    pushing.check(key)
    silent = [{"id": f"s{n}", "messages": [{"role": "user", "content": f"Nobody answers {n}"}]} for n in range(3)]
    import_chats(pushing, *silent, chat("é \u2028 <b>", "{{x}}\n\n---\n", id="odd"))
    assert pushing.results() == Counter(unchanged=3, sent=4)
    pushing.check(key)
    for session_id in pushing.ready():
        pushing.label(session_id, evalReady=False)
    pushing.push()
    pushing.check(key)
    assert pushing.get("format=deepeval", key).text == "[]\n"


def test_conditions(pushing: Pushing, key: str) -> None:
    for query, found in CONDITIONS:
        answer = pushing.get(f"format=openai{query}", key)
        assert (answer.status_code, answer.text.count("\n")) == (200, found), query


NAMES = "The parameter format is one of deepeval, openai, text."
BAD = [*WRONG, ("", NAMES), ("format=hf", NAMES), ("format=openai&tag=%zz", "The query is not well formed")]


def test_a_wrong_request_is_explained_to_those_who_have_a_key(pushing: Pushing, key: str) -> None:
    unknown = f"osk_{secrets.token_urlsafe(32)}"
    for query, message in BAD:
        status, code, said = refusal(pushing.get(query, key))
        assert (status, code) == (400, "bad_request") and said.startswith(message), query
        assert refusal(pushing.get(query, unknown)) == (401, "unauthorized", "This key is not known.")


def test_what_is_no_key_opens_nothing(pushing: Pushing, key: str) -> None:
    digest, token = sha256_text(key), pushing.board.token
    headers = ["", "Bearer", "Basic b3NrOg==", key, f"Token {key}", f"Bearer {digest}", f"Bearer {key}x"]
    headers += [f"Bearer {key[:-1]}", "Bearer osk_", f"Bearer {key},{key}", f"Bearer {key} {key}", "Bearer nightly"]
    headers += ["Bearer osk_' or '1'='1", f"Bearer {key.upper()}", f"Bearer {token}", f"Bearer lb_{digest}"]
    for header in headers:
        answer = pushing.get(Authorization=header)
        assert refusal(answer)[0] == 401 and answer.headers["www-authenticate"].startswith("Bearer"), header
        assert "What is" not in answer.text
    assert pushing.get(f"format=openai&key={key}").status_code == 401
    assert pushing.get(Cookie=f"key={key}").status_code == 401


def test_keys_end_with_a_push(pushing: Pushing, key: str) -> None:
    assert pushing.get(key=key).status_code == 200
    edit_json(pushing.keys.path("nightly"), expires="2026-01-31")
    assert "1 key replaced" in pushing.push().out
    assert refusal(pushing.get(key=key))[2] == "The key 'nightly' is expired."
    today = datetime.now(UTC).date()
    edit_json(pushing.keys.path("nightly"), expires=(today + timedelta(days=1)).isoformat())
    pushing.push()
    assert pushing.get(key=key).status_code == 200
    pushing.keys.revoke("nightly")
    assert "1 key replaced" in pushing.push("--dry-run").out and pushing.get(key=key).status_code == 200
    pushing.push()
    assert refusal(pushing.get(key=key))[2] == "The key 'nightly' is revoked."
    pushing.keys.path("nightly").unlink()
    assert "0 keys replaced" in pushing.push().out and "0 keys unchanged" in pushing.push().out
    assert refusal(pushing.get(key=key))[2] == "This key is not known."
    assert sha256_text(key) not in json.dumps(pushing.board.everything())


def test_a_key_of_one_status_exports_no_other(pushing: Pushing) -> None:
    key = pushing.add_key("partner", "export:golden", "export:correct")
    pushing.push()
    assert pushing.get("format=openai&status=golden", key).status_code == 200
    message = "The key 'partner' exports only: status=golden, status=correct."
    assert refusal(pushing.get("format=openai", key)) == (403, "forbidden", message)
    assert refusal(pushing.get("format=openai&status=incorrect", key)) == (403, "forbidden", message)


def flood(pushing: Pushing, number: int, key: str) -> list[int]:
    """The statuses of so many requests, one after another."""
    url, headers = f"{pushing.board.site_url}/api/export?format=openai", {"Authorization": f"Bearer {key}"}
    with httpx.Client(trust_env=False, headers=headers, timeout=patience.seconds(60)) as client:
        return [client.get(url).status_code for _ in range(number)]


@pytest.mark.parametrize("number", [150, pytest.param(1_500, marks=pytest.mark.full)])
def test_guessing_is_slowed_down_and_keeps_nobody_out(number: int, pushing: Pushing, key: str) -> None:
    found = flood(pushing, number, f"osk_{secrets.token_urlsafe(32)}")
    assert set(found) == {401, 429} and found[:60] == [401] * 60
    answer = pushing.get()
    if answer.status_code == 429:
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert refusal(answer)[2] == "Too many requests without a key that is known."
    assert pushing.get(key=key).status_code == 200


def test_a_key_is_used_so_often_in_a_minute(pushing: Pushing, key: str) -> None:
    other = pushing.add_key("other")
    pushing.push()
    found = flood(pushing, 120, key)
    assert found[:60] == [200] * 60 and 429 in found[60:]
    assert pushing.get(key=other).status_code == 200


def test_a_push_makes_the_deployment_what_the_folder_is(pushing: Pushing, key: str) -> None:
    first, second, third = pushing.ready()
    assert pushing.results() == Counter(unchanged=3)
    pushing.label(first, expectedOutput="now better")
    pushing.label(second, evalTags=("new",))
    pushing.label(third, evalReady=False)
    before = pushing.board.everything()
    assert pushing.results("--dry-run") == Counter(replaced=2, withdrawn=1)
    assert pushing.board.everything() == before
    assert pushing.results() == Counter(replaced=2, withdrawn=1)
    pushing.check(key)
    pushing.label(third, evalReady=True)
    assert pushing.results() == Counter(unchanged=2, sent=1)
    assert pushing.results("--tag", "new") == Counter(unchanged=1, withdrawn=2)
    pushing.check(key, SessionFilter(ready=True, tags=("new",)))
    pushing.push("--status", "golden")
    pushing.check(key, SessionFilter(ready=True, status=SessionStatus.GOLDEN))
    assert pushing.files()[0] == pushing.files()[1] > 0  # what was replaced or withdrawn left no file


def test_sessions_of_other_folders_stay_unless_they_are_pruned(
    pushing: Pushing, key: str, board: Deployment, invoke: Invoke, tmp_path: Path
) -> None:
    other = make_pushing(tmp_path / "other", board, invoke)
    gone = other.ready()[0]
    for path in sorted(other.store.folder(gone).rglob("*"), reverse=True):
        path.unlink()
    other.store.folder(gone).rmdir()
    done = other.push()
    assert "1 not of this folder" in done.out and "--prune removes those" in done.err
    assert len(board.everything()["sessions"]) == 3
    assert other.results("--prune")["withdrawn"] == 1
    assert len(board.everything()["sessions"]) == 2


def test_a_wrong_folder_takes_nothing_away(pushing: Pushing, key: str, invoke: Invoke, tmp_path: Path) -> None:
    settings = (pushing.store.root / "convex-evals.yaml").read_text(encoding="utf-8")
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / "convex-evals.yaml").write_text(settings, encoding="utf-8")
    done = invoke("sessions", "push", cwd=wrong)
    assert done.status == 1 and done.err.startswith(f"error: {wrong}: has no sessions; go to the folder")
    pushing.check(key)
    assert invoke("sessions", "push", "--prune", cwd=wrong).status == 0
    there = pushing.board.everything()
    assert there["sessions"] == there["files"] == there["exportKeys"][0]["keys"] == []
    for session_id in pushing.ready():
        pushing.label(session_id, evalReady=False)
    done = pushing.push()
    assert "no session is chosen; `cli sessions mark ID --ready`" in done.err and "1 key replaced" in done.out


def test_what_may_not_leave_is_left_out_and_withdrawn(pushing: Pushing, key: str) -> None:
    first = pushing.ready()[0]
    edit_json(pushing.store.folder(first) / RECORD, secrets_kept=True)
    done = pushing.push()
    assert first[:8] in done.out and "has secrets that its import kept" in done.out
    assert len(pushing.board.everything()["sessions"]) == 2
    data = json.loads(pushing.push("--json").out)["sessions"]
    assert [(each["session"], each["result"]) for each in data] == [(first, "left out")]


def test_a_broken_session_is_no_reason_to_withdraw_it(pushing: Pushing, key: str) -> None:
    first, second, _ = pushing.ready()
    messages = pushing.store.folder(first) / MESSAGES
    whole = messages.read_text(encoding="utf-8")
    messages.write_text("{\n", encoding="utf-8")
    pushing.label(second, evalStatus=SessionStatus.INCORRECT)
    done = pushing.push(status=1)
    assert f"error: session {first}: {messages}:1: " in done.err
    assert pushing.get("format=openai&status=incorrect", key).text.count("\n") == 1
    messages.write_text(whole, encoding="utf-8")
    pushing.check(key)
    record = pushing.store.folder(first) / RECORD
    record.write_text("{", encoding="utf-8")
    pushing.keys.revoke("nightly")
    done = pushing.push(status=1)
    assert f"{record}:1: " in done.err and len(pushing.board.everything()["sessions"]) == 3
    assert refusal(pushing.get(key=key))[2] == "The key 'nightly' is revoked."  # which does not wait for the session


def test_calls_that_come_late_or_from_another_are_refused(pushing: Pushing, key: str, board: Deployment) -> None:
    """Each call names what it replaces. Calls that are repeated change nothing."""
    session = next(each for each in board.everything()["sessions"] if each["sessionId"] == pushing.ready()[0])
    files = {form: part["storageId"] for form, part in session["parts"].items()}
    kept = {name: session[name] for name in ("sessionId", "status", "tags", "order")}

    def put(digest: str, replaces: str | None, **more: Any) -> Any:
        args = {**kept, "files": files, "digest": digest, "replaces": replaces, **more}
        return board.sessions("put", **args)

    before = board.everything()
    put(session["digest"], None)
    put(session["digest"], "whatever")
    assert board.everything() == before
    for replaces in (None, "another"):
        with pytest.raises(RefusedError, match="has changed meanwhile"):
            put("new", replaces)
    with pytest.raises(RefusedError, match="has changed meanwhile"):
        board._call(
            "mutation", "sessions:withdraw", {"token": board.token, "sessionId": kept["sessionId"], "digest": "x"}
        )
    assert board.everything() == before
    put("new", session["digest"])
    put("new", session["digest"])
    for _ in range(2):
        board.sessions("withdraw", sessionId=kept["sessionId"], digest="new")
    with pytest.raises(RefusedError, match="File not found"):
        put(session["digest"], None)  # the first one, arriving after all
    with pytest.raises(RefusedError, match="The keys have changed meanwhile"):
        board.sessions("putKeys", digest="d", keys=[], replaces=None)
    for _ in range(2):
        pushing.results()
    pushing.check(key)


@pytest.mark.parametrize("function", ["list", "uploadUrls", "put", "withdraw", "putKeys"])
def test_only_publishers_push(function: str, board: Deployment) -> None:
    session = {"sessionId": "a" * 20, "digest": "d"}
    calls: dict[str, dict[str, Any]] = {
        "list": {"after": None},
        "uploadUrls": {"count": 1},
        "put": {**session, "replaces": None, "status": "golden", "tags": [], "order": 0, "files": {}},
        "withdraw": session,
        "putKeys": {"digest": "d", "replaces": None, "keys": []},
    }
    args = calls[function]
    name = f"not for {function}"
    other = board.administrate("auth:createToken", name=name, scopes=["admin", "export"])["value"]
    for token, why in (("", "Invalid authentication token"), (other, "it lacks the scope publish")):
        with pytest.raises(RefusedError, match=why):
            board.sessions(function, token=token, **args)
    board.sessions(function, **args)


@pytest.mark.parametrize(
    ("function", "changes", "why"),
    [
        ("uploadUrls", {"count": 0}, "from 1 to 100"),
        ("uploadUrls", {"count": 101}, "from 1 to 100"),
        ("put", {"sessionId": ""}, "sessionId must have 1 to 200"),
        ("put", {"tags": ["a\nb"]}, "tags must be one line"),
        ("put", {"tags": ["t"] * 101}, "at most 100 tags"),
        ("put", {"status": "good"}, "status"),
        ("put", {"files": {"hf": "x"}}, "hf"),
        ("putKeys", {"keySha256": "osk_x"}, "must be a SHA-256"),
        ("putKeys", {"expires": "soon"}, "is no day"),
        ("putKeys", {"name": "a" * 201}, "name must have 1 to 200"),
    ],
)
def test_arguments_are_bounded(function: str, changes: dict[str, Any], why: str, board: Deployment) -> None:
    common: dict[str, Any] = {"digest": "d", "replaces": None}
    session = {**common, "sessionId": "a", "status": "golden", "tags": [], "order": 0, "files": {}}
    key = {"name": "a", "keySha256": "0" * 64, "scopes": ["export"], "expires": None, "revoked": None}
    given = {
        "put": {**session, **changes},
        "putKeys": {**common, "keys": [{**key, **changes}]},
        "uploadUrls": changes,
    }
    with pytest.raises(RefusedError, match=why):
        board.sessions(function, **given[function])


@pytest.mark.full
def test_what_no_answer_holds_is_refused_before_anything_is_sent(pushing: Pushing, key: str) -> None:
    """An answer of Convex ends at 20 MB: what fits is said, and exports of it are whole."""
    large = [chat("Say it", f"{n}" + "x" * (7 << 20), id=f"large{n}") for n in range(3)]
    import_chats(pushing, *large)
    pushing.push()
    status, code, said = refusal(pushing.get("format=openai&status=needs_review", key))
    assert (status, code) == (413, "too_large") and said.endswith("status, tag or limit=2.")
    answer = pushing.get("format=openai&status=needs_review&limit=2", key)
    assert answer.status_code == 200 and answer.text.count("\n") == 2 and len(answer.content) > 14 << 20
    import_chats(pushing, chat(*["y" * (7 << 20)] * 4, id="huge"))
    done = pushing.push()
    assert "MB as deepeval, and an answer of a deployment at most 20; `cli view` exports it" in done.out


def test_many_sessions_are_paged(pushing: Pushing, key: str, board: Deployment) -> None:
    board.administrate("inspect:copySessions", count=1500)
    assert pushing.get(key=key).text.count("\n") == 1503
    first = board.everything()["sessions"][0]["status"]
    assert pushing.get(f"format=openai&status={first}&limit=1200", key).text.count("\n") == 1200
    assert "1500 not of this folder" in pushing.push().out


def test_what_is_wrong_is_said_in_one_line(pushing: Pushing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_ENV, "lb_wrong")
    done = pushing.push(status=1)
    assert "sessions:list: " in done.err and f"check the token in {TOKEN_ENV}" in done.err
    assert "lb_wrong" not in done.out + done.err
    monkeypatch.delenv(TOKEN_ENV)
    assert f"{TOKEN_ENV} is not set" in pushing.push(status=1).err
    done = pushing.push("--to", "nowhere", status=1)
    assert "--to nowhere: no such deployment" in done.err
    edit = {"deployments": {"board": {"url": pushing.board.url, "token_env": TOKEN_ENV, "guard": "ci_main"}}}
    (pushing.store.root / "convex-evals.yaml").write_text(json.dumps(edit), encoding="utf-8")
    monkeypatch.setenv(TOKEN_ENV, pushing.board.token)
    assert "guard: ci_main" in pushing.push(status=1).err
    pushing.push("--dry-run")
