"""`GET /api/export` over real HTTP: what the docs say, and what an attacker would try."""

from __future__ import annotations

import http.client
import json
import re
import secrets
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convex_evals.records.hashes import sha256_text
from convex_evals.sessions.exporting import export
from convex_evals.sessions.exports import EXPORTS
from convex_evals.sessions.labels import read_label
from convex_evals.sessions.store import MESSAGES, SessionStore
from convex_evals.site.export_api import PLACE, Refused, parse
from convex_evals.site.rate import TokenBucket
from convex_evals.site.server import Viewer
from convex_evals.store.api_keys import ApiKeyStore
from tests import patience, tier
from tests.conftest import ROOT
from tests.factories import edit_json, make_eval
from tests.sessions.exported import CONDITIONS, WRONG, add_sessions
from tests.site.served import ask, serving


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    """Four sessions, one of which is not marked as an eval."""
    make_eval(tmp_path)
    return add_sessions(tmp_path)


@pytest.fixture
def keys(store: SessionStore) -> ApiKeyStore:
    return ApiKeyStore(store.root)


@pytest.fixture
def key(keys: ApiKeyStore) -> str:
    return keys.create("nightly", ["export"], None)


@pytest.fixture
def viewer(store: SessionStore) -> Iterator[Viewer]:
    with serving(store.root) as found:
        yield found


def get(viewer: Viewer, query: str = "format=openai", key: str | None = None, **headers: str) -> tuple[int, str]:
    """Status and body."""
    given = {"Authorization": f"Bearer {key}"} if key is not None else {}
    status, _, body = ask(viewer, f"/{PLACE}?{query}", {**given, **headers})
    return status, body


def refused(found: tuple[int, str]) -> tuple[int, str]:
    """Status and message of an error."""
    status, body = found
    error = json.loads(body)["error"]
    assert list(json.loads(body)) == ["error"] and sorted(error) == ["code", "message"]
    return status, error["message"]


def test_the_documented_line_word_for_word(viewer: Viewer, key: str) -> None:
    text = (ROOT / "docs" / "sessions.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^ +curl .*status=golden.*$", text, re.MULTILINE)
    command, flag, header, url = shlex.split(line)
    assert (command, flag) == ("curl", "-H") and header == "Authorization: Bearer osk_your_api_key"
    assert url.startswith("http://127.0.0.1:8420/api/export?")
    name, _, value = header.replace("osk_your_api_key", key).partition(": ")
    status, headers, body = ask(viewer, url.removeprefix("http://127.0.0.1:8420"), {name: value})
    assert status == 200 and headers["content-type"] == "application/json"
    assert headers["content-disposition"] == 'attachment; filename="sessions-golden.json"'
    assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
    found = json.loads(body)
    assert sorted((row["input"], row["actual_output"], row["expected_output"]) for row in found) == [
        ("What is one?", "one.", None),
        ("What is two?", "two.", "better"),
    ]


@pytest.mark.parametrize("form", EXPORTS)
def test_an_export_is_what_the_command_writes(form: str, viewer: Viewer, store: SessionStore, key: str) -> None:
    ids = [i for i in store.ids() if read_label(store, i).evalReady]
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=patience.seconds(20))
    connection.request("GET", f"/{PLACE}?format={form}", headers={"Authorization": f"bearer {key}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == 200 and answer.headers["Content-Type"] == EXPORTS[form].media_type
    assert len(body) == len(b"".join(export(store, ids, form)))
    assert answer.headers["Content-Disposition"].endswith(f'sessions.{EXPORTS[form].suffix}"')


@pytest.mark.parametrize(("query", "found"), CONDITIONS)
def test_conditions(query: str, found: int, viewer: Viewer, key: str) -> None:
    status, body = get(viewer, f"format=openai{query}", key)
    assert (status, body.count("\n")) == (200, found)


@pytest.mark.parametrize(("query", "message"), [*WRONG, ("", f"The parameter format is one of {', '.join(EXPORTS)}.")])
def test_a_wrong_request_is_explained_to_those_who_have_a_key(
    query: str, message: str, viewer: Viewer, key: str
) -> None:
    status, said = refused(get(viewer, query, key))
    assert status == 400 and said.startswith(message)
    assert refused(get(viewer, query, "osk_" + "x" * 43)) == (401, "This key is not known.")


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: quote(data)))
@settings(max_examples=tier.examples(200))
def test_any_query_is_taken_or_refused(query: str) -> None:
    for text in (query, f"format=openai&{query}", f"format=openai&tag={quote(query, errors='replace')}"):
        try:
            assert parse(text).form in EXPORTS.values()
        except Refused as error:
            assert error.status == 400


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic b3NrOg==", "{key}", "Token {key}", "Bearer {hash}", "Bearer {key}x",
     "Bearer {short}", "Bearer osk_", "Bearer {key},{key}", "Bearer {key} {key}", "Bearer ../../keys/nightly",
     "Bearer nightly", "Bearer osk_' or '1'='1", "Bearer \u00e9", "Bearer {upper}"],
)  # fmt: skip
def test_what_is_no_key_opens_nothing(header: str, viewer: Viewer, key: str) -> None:
    facts = {"key": key, "hash": sha256_text(key), "short": key[:-1], "upper": key.upper()}
    given = {"Authorization": header.format(**facts)}
    status, headers, body = ask(viewer, f"/{PLACE}?format=openai", given)
    assert refused((status, body))[0] == 401 and headers["www-authenticate"].startswith("Bearer")
    assert "What is" not in body


def test_a_key_stands_in_its_header_alone(viewer: Viewer, key: str) -> None:
    assert get(viewer, f"format=openai&key={key}")[0] == 401
    assert get(viewer, Cookie=f"key={key}")[0] == 401
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=patience.seconds(20))
    connection.putrequest("GET", f"/{PLACE}?format=openai")
    for value in (f"Bearer {key}", "Bearer osk_x"):
        connection.putheader("Authorization", value)
    connection.endheaders()
    assert connection.getresponse().status == 401
    connection.close()


def test_revoked_and_expired_keys_open_nothing_at_once(viewer: Viewer, keys: ApiKeyStore, key: str) -> None:
    assert get(viewer, key=key)[0] == 200
    edit_json(keys.path("nightly"), expires="2026-01-31")
    assert refused(get(viewer, key=key)) == (401, "The key 'nightly' is expired.")
    edit_json(keys.path("nightly"), expires=None)
    assert get(viewer, key=key)[0] == 200
    keys.revoke("nightly")
    assert refused(get(viewer, key=key)) == (401, "The key 'nightly' is revoked.")
    keys.path("nightly").unlink()
    assert refused(get(viewer, key=key)) == (401, "This key is not known.")


def test_a_key_of_one_status_exports_no_other(viewer: Viewer, keys: ApiKeyStore) -> None:
    key = keys.create("partner", ["export:golden", "export:correct"], None)
    assert get(viewer, "format=openai&status=golden", key)[0] == 200
    message = "The key 'partner' exports only: status=golden, status=correct."
    assert refused(get(viewer, "format=openai", key)) == (403, message)
    assert refused(get(viewer, "format=openai&status=incorrect", key)) == (403, message)


def test_a_broken_key_file_closes_the_door(
    viewer: Viewer, keys: ApiKeyStore, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keys.path("other").write_text("{")
    assert refused(get(viewer, key=key))[0] == 500
    assert "keys/other.json" in capsys.readouterr().err
    keys.path("other").unlink()
    keys.path("copy").write_bytes(keys.path("nightly").read_bytes())
    assert refused(get(viewer, key=key))[0] == 500


def test_a_linked_key_is_not_followed(viewer: Viewer, keys: ApiKeyStore, key: str, tmp_path: Path) -> None:
    keys.path("nightly").rename(tmp_path / "elsewhere.json")
    keys.path("nightly").symlink_to(tmp_path / "elsewhere.json")
    assert get(viewer, key=key)[0] == 500


@pytest.mark.parametrize("method", ["POST", "HEAD"])
def test_only_get_is_answered(method: str, viewer: Viewer, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "Origin": f"http://127.0.0.1:{viewer.port}"}
    status, found, _ = ask(viewer, f"/{PLACE}?format=openai", headers, method=method)
    assert (status, found["allow"]) == (405, "GET")


@pytest.mark.parametrize(
    "path", ["/api", "/api/", "/api/export/", "/api/exports", "/api/export/../export", "/api/%2e%2e/keys/nightly.json"]
)
def test_other_places_of_the_api(path: str, viewer: Viewer, key: str) -> None:
    status, _, body = ask(viewer, f"{path}?format=openai", {"Authorization": f"Bearer {key}"})
    assert refused((status, body))[0] == 404


def test_keys_are_no_pages(viewer: Viewer, key: str) -> None:
    for path in ("/keys/nightly.json", "/keys", f"/{viewer.token}/keys/nightly.json"):
        assert ask(viewer, path)[0] == 404


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
def test_pages_from_elsewhere_are_refused(headers: dict[str, str], viewer: Viewer, key: str) -> None:
    assert refused(get(viewer, "format=openai", key, **headers))[0] == 403


def test_the_token_of_pages_is_no_key(viewer: Viewer, key: str) -> None:
    path = f"/{viewer.token}/{PLACE}?format=openai"
    assert ask(viewer, path)[0] == 401
    assert ask(viewer, path, {"Authorization": f"Bearer {viewer.token}"})[0] == 401
    assert ask(viewer, path, {"Authorization": f"Bearer {key}"})[0] == 200


def test_without_sessions_an_export_is_empty(tmp_path: Path) -> None:
    make_eval(tmp_path)
    key = ApiKeyStore(tmp_path).create("a", ["export"], None)
    with serving(tmp_path) as viewer:
        assert get(viewer, "format=deepeval", key) == (200, "[]\n")


def test_a_broken_session_is_no_export(
    viewer: Viewer, store: SessionStore, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing was sent yet, the status says so; later, the connection ends early, and a client sees that."""
    ids = [i for i in store.ids() if read_label(store, i).evalReady]
    for session_id in ids:
        (store.folder(session_id) / MESSAGES).write_text("{\n")
    assert refused(get(viewer, key=key)) == (500, "A file is broken; `cli view` said which one.")
    assert MESSAGES in capsys.readouterr().err


def test_an_export_that_fails_on_its_way_is_not_taken_for_a_whole_one(
    viewer: Viewer, store: SessionStore, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    written = [get(viewer, "format=openai", key)[1]]
    last = json.loads(written[0].split("\n")[-2])["messages"][0]["content"]
    (broken,) = [i for i in store.ids() if last in (store.folder(i) / MESSAGES).read_text()]
    (store.folder(broken) / MESSAGES).write_text("{\n")
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        get(viewer, key=key)
    assert "the export was cut off" in capsys.readouterr().err
    assert ask(viewer, "/")[0] == 200


def test_a_bug_is_told_to_the_one_who_serves(
    viewer: Viewer, key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("convex_evals.site.downloads.export", lambda *_: 1 // 0)
    status, said = refused(get(viewer, key=key))
    assert status == 500 and "ZeroDivisionError" not in said
    assert "ZeroDivisionError" in capsys.readouterr().err


def flood(viewer: Viewer, number: int, header: str) -> list[int]:
    """The statuses of so many requests, one after another."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=patience.seconds(20))
    found = []
    for _ in range(number):
        connection.request("GET", f"/{PLACE}?{urlencode({'format': 'openai'})}", headers={"Authorization": header})
        answer = connection.getresponse()
        answer.read()
        found.append(answer.status)
    connection.close()
    return found


@pytest.mark.parametrize("number", [300, pytest.param(10_000, marks=pytest.mark.full)])
def test_guessing_is_slowed_down_and_keeps_nobody_out(number: int, viewer: Viewer, key: str) -> None:
    found = flood(viewer, number, f"Bearer osk_{secrets.token_urlsafe(32)}")
    assert set(found) == {401, 429} and found[:60] == [401] * 60
    status, headers, body = ask(viewer, f"/{PLACE}")
    if status == 429:
        assert 1 <= int(headers["retry-after"]) <= 60 and refused((status, body))[1].startswith("Too many requests")
    assert get(viewer, key=key)[0] == 200


def test_a_key_is_used_so_often_in_a_minute(viewer: Viewer, keys: ApiKeyStore, key: str) -> None:
    other = keys.create("other", ["export"], None)
    found = flood(viewer, 120, f"Bearer {key}")
    assert found[:60] == [200] * 60 and 429 in found[60:]
    assert get(viewer, key=other)[0] == 200


def test_a_bucket_fills_again() -> None:
    now = [100.0]
    bucket = TokenBucket(60, lambda: now[0])
    assert [bucket.wait() for _ in range(60)] == [0.0] * 60
    assert bucket.wait() == pytest.approx(1.0)
    now[0] += 0.5
    assert bucket.wait() == pytest.approx(0.5)
    now[0] += 0.6
    assert bucket.wait() == 0.0 and bucket.wait() > 0
    now[0] += 1e9
    assert [bucket.wait() for _ in range(60)] == [0.0] * 60 and bucket.wait() > 0
