"""`cli keys`, as it is typed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from convex_evals.cli.commands.keys import SCOPES
from convex_evals.records import api_key
from convex_evals.records.session import SessionStatus
from convex_evals.store.api_keys import ApiKeyStore
from tests.conftest import Invoke


def day(days: int) -> str:
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


def test_scopes_are_those_of_the_statuses() -> None:
    assert SCOPES == api_key.SCOPES
    assert ("export", *(f"export:{status.value}" for status in SessionStatus)) == api_key.SCOPES


def test_stdout_is_the_key_alone(tmp_path: Path, invoke: Invoke) -> None:
    done = invoke("keys", "create", "nightly")
    (record,) = ApiKeyStore(tmp_path).all()
    found = ApiKeyStore(tmp_path).find(done.out.removesuffix("\n"))
    assert found == record and record.expires in (day(89), day(90), day(91))
    assert done.err.startswith("shown this once; ") and f"until {record.expires}" in done.err


@pytest.mark.parametrize(("given", "last"), [("never", None), ("1d", 1), ("3650d", 3650)])
def test_expiry(given: str, last: int | None, tmp_path: Path, invoke: Invoke) -> None:
    assert invoke("keys", "create", "a", "--expires", given).status == 0
    expected = [None] if last is None else [day(last - 1), day(last), day(last + 1)]
    assert ApiKeyStore(tmp_path).all()[0].expires in expected


@pytest.mark.parametrize("given", ["0d", "-1d", "90", "soon", "2020-01-01", "2026-02-30", "9999999d", ""])
def test_a_wrong_expiry_is_one_line(given: str, tmp_path: Path, invoke: Invoke) -> None:
    done = invoke("keys", "create", "a", "--expires", given)
    assert done.status == 2 and "Traceback" not in done.err


def test_keys_are_listed_and_revoked(tmp_path: Path, invoke: Invoke) -> None:
    assert invoke("keys", "list").out == "No keys.\n"
    key = invoke("keys", "create", "a", "--scope", "export:golden", "--expires", "never").out.strip()
    invoke("keys", "create", "b")
    assert "revoked on" in invoke("keys", "revoke", "a").out
    rows = json.loads(invoke("keys", "list", "--json").out)
    assert [(row["name"], row["state"], row["scopes"]) for row in rows] == [
        ("a", "revoked", ["export:golden"]),
        ("b", "active", ["export"]),
    ]
    for form in ("terminal", "markdown", "json", "csv"):
        assert key not in invoke("keys", "list", "--format", form).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["create", "A b"], "'A b': not a name for a key"),
        (["revoke", "none"], "none: no such key in"),
        (["create", "../a"], "not a name for a key"),
    ],
)
def test_what_is_refused(words: list[str], message: str, tmp_path: Path, invoke: Invoke) -> None:
    done = invoke("keys", *words)
    assert done.status == 1 and message in done.err and done.err.count("\n") == 1
