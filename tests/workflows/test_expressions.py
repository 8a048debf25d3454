"""The language of `${{ }}`. Expected values are from its documentation, and from what runners print."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workflows.expressions import Scope, asks_for_status, condition, evaluate, interpolate
from tests.workflows.values import ExpressionError, is_equal, is_true, to_text

GITHUB = {
    "event": {"pull_request": {"labels": [{"name": "Bug"}, {"name": "ready"}], "number": 7}},
    "ref": "refs/heads/main",
}
NEEDS = {"plan": {"result": "success", "outputs": {"runs": "a b", "empty": ""}}, "shard-1": {"result": "failure"}}
SCOPE = Scope(
    {"github": GITHUB, "needs": NEEDS, "env": {"A": "x"}, "inputs": {"fresh": False, "count": 3}},
    {"success": lambda: True, "failure": lambda: False, "always": lambda: True},
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("github.ref == 'refs/heads/main'", True),
        ("github.ref == 'REFS/heads/MAIN'", True),
        ("GitHub.Event.PULL_REQUEST.number", 7),
        ("github['event']['pull_request'].number + ''", ExpressionError),
        ("github.event.pull_request.labels[0].name", "Bug"),
        ("github.event.pull_request.labels[9].name", None),
        ("github.event.pull_request.labels.*.name", ["Bug", "ready"]),
        ("contains(github.event.pull_request.labels.*.name, 'bug')", True),
        ("needs.*.result", ["success", "failure"]),
        ("needs.*.outputs.runs", ["a b"]),
        ("contains(needs.*.result, 'failure')", True),
        ("needs.shard-1.result", "failure"),
        ("needs.plan.outputs.none.further", None),
        ("inputs.fresh && '--fresh' || ''", ""),
        ("!inputs.fresh && '--no' || '--yes'", "--no"),
        ("needs.plan.outputs.empty || 'default'", "default"),
        ("true || false && false", True),
        ("(true || false) && false", False),
        ("1 == 1.0 && 0x10 == 16 && 1e3 == 1000", True),
        ("'1' == 1", True),
        ("'' == 0 && null == 0 && null == '' && false == 0 && true == 1", True),
        ("'x' == 1 || 'x' == 0", False),
        ("github == github", True),
        ("fromJSON('[1]') == fromJSON('[1]')", False),
        ("inputs.count >= 3 && inputs.count < 4 && !(inputs.count > 3) && inputs.count <= 3", True),
        ("'a' < 'B'", True),
        ("'it''s'", "it's"),
        ("'}}' == '}}'", True),
        ("-1.5 < 0", True),
        ("format('{0}-{1} {{x}} {0}', 'a', 2)", "a-2 {x} a"),
        ("format('{2}', 'a')", ExpressionError),
        ("startsWith(github.ref, 'REFS/') && endsWith(github.ref, 'main')", True),
        ("contains('Hello', 'ELL') && !contains('Hello', 'x')", True),
        ("contains(fromJSON('[\"a\", 1]'), '1')", True),
        ("join(fromJSON('[1, \"b\", true, null]'), '|')", "1|b|true|"),
        ("toJSON(fromJSON('{\"a\":[1]}'))", '{\n  "a": [\n    1\n  ]\n}'),
        ("fromJSON('nope')", ExpressionError),
        ("secrets.KEY", ExpressionError),
        ("unknown()", ExpressionError),
        ("github.", ExpressionError),
        ("(true", ExpressionError),
        ("'open", ExpressionError),
        ("true true", ExpressionError),
        ("", ExpressionError),
        ('"double"', ExpressionError),
    ],
)
def test_expressions(text: str, expected: Any) -> None:
    if expected is ExpressionError:
        with pytest.raises(ExpressionError):
            evaluate(text, SCOPE)
    else:
        assert evaluate(text, SCOPE) == expected


def test_the_first_operand_that_decides_is_enough() -> None:
    assert evaluate("false && secrets.KEY", SCOPE) is False
    assert evaluate("'x' || fromJSON('nope')", SCOPE) == "x"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        ("${{ inputs.count }}", 3),
        (" ${{ inputs.fresh }} ", False),
        ("n=${{ inputs.count }} ${{ inputs.fresh }}${{ null }}", "n=3 false"),
        ("${{ '}}' }}${{ 'a' }}", "}}a"),
        ({"list": ["${{ env.A }}", 1, None]}, {"list": ["x", 1, None]}),
        ("${{ github.event }}!", "Object!"),
    ],
)
def test_texts_with_expressions(value: Any, expected: Any) -> None:
    assert interpolate(value, SCOPE) == expected


@pytest.mark.parametrize(
    ("text", "success", "expected"),
    [
        (None, True, True),
        (None, False, False),
        ("inputs.count == 3", True, True),
        ("inputs.count == 3", False, False),
        ("${{ inputs.count == 3 }}", False, False),
        ("always() && inputs.count == 3", False, True),
        ("${{ !success() }}", False, True),
        ("'always()' == 'always()'", False, False),
        (True, True, True),
        (False, True, False),
    ],
)
def test_conditions_ask_for_success_unless_they_ask_for_something_else(
    text: Any, success: bool, expected: bool
) -> None:
    assert condition(text, Scope(SCOPE.contexts, {**SCOPE.functions, "success": lambda: success})) is expected


def test_a_condition_with_text_around_it_is_always_true_and_refused() -> None:
    with pytest.raises(ExpressionError, match="always true"):
        condition("${{ false }} && ${{ false }}", SCOPE)


@pytest.mark.parametrize("text", ["success ()", "!CANCELLED()", "x.y == 1 || failure()"])
def test_status_functions_are_found(text: str) -> None:
    assert asks_for_status(text)


SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


@given(VALUES)
def test_json_comes_back(value: Any) -> None:
    scope = Scope({"env": {"V": json.dumps(value), "X": value}})
    assert evaluate("fromJSON(env.V)", scope) == value
    assert evaluate("fromJSON(toJSON(env.X))", scope) == value


@given(st.text())
def test_a_quoted_text_is_itself(text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    assert evaluate(quoted, SCOPE) == text
    assert interpolate("${{ " + quoted + " }}", SCOPE) == text
    assert interpolate("<${{ " + quoted + " }}>", SCOPE) == f"<{text}>"


@given(SCALARS, SCALARS)
def test_equality_and_operators_agree(left: Any, right: Any) -> None:
    scope = Scope({"env": {"l": left, "r": right}})
    assert is_equal(left, right) == is_equal(right, left)
    assert evaluate("env.l == env.r", scope) == is_equal(left, right) != evaluate("env.l != env.r", scope)
    assert evaluate("env.l && env.r", scope) == (right if is_true(left) else left)
    assert evaluate("env.l || env.r", scope) == (left if is_true(left) else right)
    assert evaluate("!env.l", scope) == (not is_true(left))


@given(
    st.recursive(
        st.sampled_from(["true", "false"]), lambda inner: st.tuples(inner, st.sampled_from(["&&", "||"]), inner)
    )
)
def test_and_binds_tighter_than_or(tree: Any) -> None:
    def write(node: Any) -> str:
        return node if isinstance(node, str) else f"{write(node[0])} {node[1]} {write(node[2])}"

    python = write(tree).replace("&&", "and").replace("||", "or").title().replace("And", "and").replace("Or", "or")
    assert evaluate(write(tree), SCOPE) is eval(python)


def test_numbers_are_written_without_a_point_where_they_need_none() -> None:
    written: dict[str, Any] = {
        "1": 1.0,
        "1.5": 1.5,
        "1000000": 10**6,
        "true": True,
        "": None,
        "Array": [],
        "Object": {},
    }
    assert {to_text(value): value for value in written.values()} == written
