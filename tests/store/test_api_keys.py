"""Keys of the export API: shown once, found by their hash, revoked for good."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.records.api_key import ApiKey, KeyState
from convex_evals.store.api_keys import ApiKeyStore, today


def test_a_key_is_written_nowhere(tmp_path: Path) -> None:
    store = ApiKeyStore(tmp_path)
    key = store.create("nightly", ["export"], "2026-12-31")
    assert key.startswith("osk_") and len(key) == 47
    text = store.path("nightly").read_text()
    assert key not in text and key[4:] not in text
    found = store.find(key)
    assert found == store.all()[0] and found is not None
    assert (found.name, found.scopes, found.created, found.expires) == ("nightly", ("export",), today(), "2026-12-31")


def test_no_two_keys_are_alike(tmp_path: Path) -> None:
    store = ApiKeyStore(tmp_path)
    keys = {name: store.create(name, ["export"], None) for name in ("a", "b", "c")}
    assert len(set(keys.values())) == 3
    assert {name: found.name for name, key in keys.items() if (found := store.find(key))} == {n: n for n in keys}


def test_all_hashes_are_compared_in_constant_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of them it is: no comparison is left out after a hit."""
    store = ApiKeyStore(tmp_path)
    keys = [store.create(name, ["export"], None) for name in ("a", "b", "c")]
    compared: list[str] = []
    real = secrets.compare_digest

    def compare(one: str, other: str) -> bool:
        compared.append(one)
        return real(one, other)

    monkeypatch.setattr(secrets, "compare_digest", compare)
    for key in (*keys, "osk_" + "x" * 43):
        compared.clear()
        store.find(key)
        assert len(set(compared)) == 3


def test_a_name_is_used_once(tmp_path: Path) -> None:
    store = ApiKeyStore(tmp_path)
    store.create("a", ["export"], None)
    store.revoke("a")
    with pytest.raises(UserError, match=r"keys/a\.json: there is such a key; choose another name"):
        store.create("a", ["export"], None)


@pytest.mark.parametrize("name", ["", "../x", "A", "a/b", "-a", "a" * 61, "a\n", ".a", "\u00e9"])
def test_a_name_is_a_plain_word(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a name for a key"):
        ApiKeyStore(tmp_path).create(name, ["export"], None)
    with pytest.raises(UserError, match="not a name for a key"):
        ApiKeyStore(tmp_path).revoke(name)
    assert list(tmp_path.iterdir()) == []


def test_revoking_stays(tmp_path: Path) -> None:
    store = ApiKeyStore(tmp_path)
    key = store.create("a", ["export"], None)
    assert store.revoke("a") == store.revoke("a") == store.find(key)
    assert store.all()[0].state("2000-01-01") is KeyState.REVOKED
    with pytest.raises(UserError, match="b: no such key in"):
        store.revoke("b")


def test_the_last_day_is_included() -> None:
    key = ApiKey(name="a", key_sha256="0" * 64, scopes=("export",), created="2026-01-01", expires="2026-01-31")
    days = ("2026-01-30", "2026-01-31", "2026-02-01")
    assert [key.state(day) for day in days] == [KeyState.ACTIVE, KeyState.ACTIVE, KeyState.EXPIRED]


@pytest.mark.parametrize("change", [{"scopes": ["admin"]}, {"name": "b"}, {"key_sha256": "x"}, {"expires": "soon"}])
def test_a_file_that_was_tampered_with_is_refused(change: dict[str, object], tmp_path: Path) -> None:
    store = ApiKeyStore(tmp_path)
    key = store.create("a", ["export"], None)
    path = store.path("a")
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(UserError, match=r"keys/a\.json"):
        store.find(key)
