"""Redactor: what becomes of texts, of JSON and of raw records, and of what cannot be scanned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.sessions.lines import LIMITS
from convex_evals.sessions.secrets import Redactor, SecretCount, scanner
from convex_evals.sessions.secrets.spans import NOT_SCANNED, SecretSpan
from tests.sessions.planted import FORMS, PLANTED, Planted, body, left_of
from tests.sessions.test_secrets import FRAGMENTS, TEXTS

KEY = "sk-ant-" + body("redaction", 40)
DONE = "[REDACTED:anthropic-key]"
PASSWORD = "Tr0ub4dor" + "&3"


def redacted(value: Any) -> Any:
    return Redactor().data(value)


@pytest.mark.parametrize(
    ("value", "done"),
    [
        ({"text": f"use {KEY}"}, {"text": f"use {DONE}"}),
        ({"a": [1, None, True, 2.5, [KEY]]}, {"a": [1, None, True, 2.5, [DONE]]}),
        ({KEY: KEY}, {DONE: DONE}),
        ({KEY: 1, f"{KEY}a": 2, DONE: 3}, {f"{DONE} (2)": 1, f"{DONE} (3)": 2, DONE: 3}),
        ({"DB_PASSWORD": PASSWORD}, {"DB_PASSWORD": "[REDACTED:password]"}),
        ({"env": {"password": [PASSWORD]}}, {"env": {"password": ["[REDACTED:password]"]}}),
        ({"name": "DB_PASSWORD", "value": PASSWORD}, {"name": "DB_PASSWORD", "value": "[REDACTED:password]"}),
        (["deploy", "--password", PASSWORD], ["deploy", "--password", "[REDACTED:password]"]),
        ({"Authorization": "Bearer " + body("b", 40)}, {"Authorization": "Bearer [REDACTED:authorization]"}),
        ({"Cookie": "session_id=" + body("c", 40)}, {"Cookie": "session_id=[REDACTED:cookie]"}),
        ({"kty": "OKP", "x": "abc", "d": body("d", 43)}, {"kty": "OKP", "x": "abc", "d": "[REDACTED:private-key]"}),
        ({"arguments": json.dumps({"p": KEY})}, {"arguments": json.dumps({"p": DONE}, separators=(",", ":"))}),
        ({"arguments": '{"n":  1}'}, {"arguments": '{"n":  1}'}),  # as it was where nothing is in it
        ({"password": None, "token": 12345678}, {"password": None, "token": 12345678}),
        ({"tokens": 4521, "usage": {"input_tokens": 3}}, {"tokens": 4521, "usage": {"input_tokens": 3}}),
        ({"token": "YOUR_TOKEN"}, {"token": "YOUR_TOKEN"}),
        ({}, {}),
        ("", ""),
        (None, None),
    ],
)
def test_json_values(value: Any, done: Any) -> None:
    assert redacted(value) == done


def test_what_was_given_is_not_changed() -> None:
    value = {"a": [KEY, {"b": KEY}]}
    redacted(value)
    assert value == {"a": [KEY, {"b": KEY}]}


@pytest.mark.parametrize(
    "value",
    [
        {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 20},
        {"mimeType": "image/png", "data": "iVBORw0KGgo" * 20},
        {"image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 20}},
        {"b64_json": "iVBORw0KGgo" * 20},
    ],
)
def test_images_are_left_out(value: dict[str, Any]) -> None:
    redactor = Redactor()
    text = json.dumps(redactor.data(value))
    assert "iVBORw0KGgo" not in text and "[NOT SCANNED: " in text and "bytes]" in text
    assert redactor.counts == {NOT_SCANNED: 1}


def test_findings_are_counted_by_kind() -> None:
    redactor = Redactor()
    redactor.text(f"{KEY} and {KEY}")
    redactor.text(f"{KEY} and {KEY}")
    redactor.data({"DB_PASSWORD": PASSWORD})
    assert redactor.findings == (SecretCount("anthropic-key", 4), SecretCount("password", 1))


def test_redactors_apart_count_for_themselves() -> None:
    redactor = Redactor()
    redactor.text(KEY)
    other = redactor.apart()
    assert other.text(KEY) == DONE
    assert redactor.counts == other.counts == {"anthropic-key": 1}


@pytest.mark.parametrize(
    ("home", "text", "done"),
    [
        ("/srv/people/ana", "cd /srv/people/ana/shop", "cd ~/shop"),
        ("/srv/people/ana", "-srv-people-ana-shop", "~-shop"),
        ("/srv/people/ana", "/srv/people/anabel", "/srv/people/anabel"),
        ("/root", "/root/shop", "/root/shop"),
        ("/", "/a/b", "/a/b"),
    ],
)
def test_home_folder_of_this_machine(home: str, text: str, done: str) -> None:
    assert Redactor(Path(home)).text(text) == done


def test_raw_records_become_compact_json() -> None:
    assert Redactor().line('{"a": "é", "k": "' + KEY + '"}') == '{"a":"é","k":"' + DONE + '"}'


@pytest.mark.parametrize("raw", ['{"a": "' + KEY, KEY, f"# aider: {KEY}", '{"a": NaN, "k": "' + KEY + '"}', ""])
def test_raw_records_that_are_no_json_are_text(raw: str) -> None:
    assert Redactor().line(raw) == raw.replace(KEY, DONE)


def test_secrets_that_are_kept_are_counted() -> None:
    redactor = Redactor(keep=True)
    raw = '{"a":  "' + KEY + '"}'
    assert (redactor.text(KEY), redactor.data({"a": KEY}), redactor.line(raw)) == (KEY, {"a": KEY}, raw)
    assert redactor.counts == {"anthropic-key": 3}


class TestFailsClosed:
    def test_text_that_is_too_long(self) -> None:
        redactor = Redactor()
        text = f"{KEY} " + "a " * (scanner.LONGEST_TEXT // 2)
        assert redactor.text(text) == f"[NOT SCANNED: more than {scanner.LONGEST_TEXT:,} characters]"
        assert redactor.counts == {NOT_SCANNED: 1}

    def test_only_the_text_that_is_too_long_is_left_out(self) -> None:
        done = redacted({"a": "a " * (scanner.LONGEST_TEXT // 2 + 1), "b": f"use {KEY}"})
        assert done["a"].startswith("[NOT SCANNED: ") and done["b"] == f"use {DONE}"

    def test_text_that_takes_too_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scanner, "MOST_SECONDS", -1.0)
        assert Redactor().text(f"{KEY} " + "a " * 10_000) == "[NOT SCANNED: took more than -1 seconds]"

    def test_values_that_are_nested_too_deep(self) -> None:
        value: Any = KEY
        for _ in range(LIMITS.depth + 5):
            value = [value]
        text = json.dumps(redacted(value))
        assert KEY not in text and f"[NOT SCANNED: nested deeper than {LIMITS.depth}]" in text

    def test_values_that_are_nested_deeper_than_python_goes(self) -> None:
        value: Any = KEY
        for _ in range(100_000):
            value = {"a": value}
        done = redacted(value)
        for _ in range(LIMITS.depth + 1):
            done = done["a"]
        assert done == f"[NOT SCANNED: nested deeper than {LIMITS.depth}]"

    def test_raw_record_that_is_nested_too_deep(self) -> None:
        raw = "[" * 5_000 + f'"{KEY}"' + "]" * 5_000
        assert KEY not in Redactor().line(raw)

    def test_json_in_each_other_too_often(self) -> None:
        text = f"use {KEY}"
        for _ in range(9):
            text = json.dumps([text])
        assert KEY not in Redactor().text(text)

    @pytest.mark.parametrize("error", [ValueError("x"), RecursionError(), RuntimeError(KEY), MemoryError()])
    def test_finder_that_raises(self, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(text: str) -> Iterator[SecretSpan]:
            yield SecretSpan(0, 1, "token")
            raise error

        monkeypatch.setattr(scanner, "finders_for", lambda text: (broken,))
        left_out = f"[NOT SCANNED: {type(error).__name__}]"

        redactor = Redactor()
        assert redactor.text(f"use {KEY}") == left_out
        assert redactor.data({"the key": f"use {KEY}", "n": 1}) == {left_out: left_out, "n": 1}
        assert KEY not in json.dumps(redactor.data({KEY: [KEY]}))
        assert KEY not in redactor.line(json.dumps({KEY: [KEY]}))
        assert KEY not in redactor.line(f"no JSON {KEY}")
        assert set(redactor.counts) == {NOT_SCANNED}

    def test_value_that_is_no_json(self) -> None:
        class Odd(dict[str, str]):
            def items(self) -> Any:
                raise RuntimeError(KEY)

        assert redacted({"a": Odd(k=KEY)}) == "[NOT SCANNED: RuntimeError]"

    def test_text_that_never_settles(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scanner, "find", lambda text, more, finders: [SecretSpan(0, 1, "token")])
        assert Redactor().text(f"use {KEY}") == "[NOT SCANNED: secrets in each other]"


def planted_texts() -> st.SearchStrategy[str]:
    return st.builds(
        lambda planted, form: FORMS[form](planted.text), st.sampled_from(PLANTED), st.sampled_from([*FORMS])
    )


MIXED = TEXTS | planted_texts() | st.builds("{}{}{}".format, TEXTS, planted_texts(), TEXTS)
NAMES = FRAGMENTS | st.sampled_from(
    ["password", "API_KEY", "token", "name", "value", "data", "type", "kty", "d", "cookie"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | MIXED,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | MIXED, inner, max_size=4),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    """What is left of a value where texts do not matter."""
    if isinstance(value, dict):
        return [shape(each) for each in value.values()], "object"
    if isinstance(value, list):
        return [shape(each) for each in value]
    return "text" if isinstance(value, str) else (type(value), value)


@given(MIXED)
def test_text_twice_equals_once(text: str) -> None:
    once = Redactor().text(text)
    again = Redactor()
    assert again.text(once) == once
    assert not again.counts


@given(VALUES)
def test_values_keep_their_structure_and_twice_equals_once(value: Any) -> None:
    once = redacted(value)
    assert shape(once) == shape(value)
    assert redacted(once) == once


@given(VALUES)
def test_raw_records_stay_json_and_twice_equals_once(value: Any) -> None:
    once = Redactor().line(json.dumps(value))
    assert shape(json.loads(once)) == shape(value)
    assert Redactor().line(once) == once
    once.encode()


@given(TEXTS)
def test_any_raw_record_is_taken(raw: str) -> None:
    once = Redactor().line(raw)
    once.encode()
    assert Redactor().line(once) == once


@given(st.sampled_from(PLANTED), VALUES, st.sampled_from([*FORMS]), st.sampled_from(["note", "password", "value", "d"]))
def test_planted_secret_is_removed_from_any_value(planted: Planted, value: Any, form: str, name: str) -> None:
    given_value = {"a": value, name: [FORMS[form](planted.text)]}
    for done in (redacted(given_value)[name][0], json.loads(Redactor().line(json.dumps(given_value)))[name][0]):
        assert left_of(planted, done) == set()
