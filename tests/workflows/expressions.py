"""GitHub's expressions, `${{ }}`: parsed and evaluated as the documentation of their language says.

A value is what JSON has. A context or function that is not available where the expression stands is an error, as it is
on GitHub; a property that is not there is null.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.workflows.values import (
    COMPARISONS,
    FUNCTIONS,
    ExpressionError,
    Function,
    compare,
    is_equal,
    is_true,
    take_all,
    take_property,
    to_number,
    to_text,
)

STATUS_FUNCTIONS = frozenset({"always", "success", "failure", "cancelled"})
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>[+-]?(?:0x[0-9a-fA-F]+|0o[0-7]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?))(?![\w.])
    |(?P<string>'(?:[^']|'')*')
    |(?P<name>[a-zA-Z_][\w-]*)
    |(?P<operator>\|\||&&|==|!=|<=|>=|[<>!().,\[\]*])
    )""",
    re.VERBOSE,
)
_EMBEDDED = re.compile(r"\$\{\{((?:'[^']*'|(?!\}\})[^'])*)\}\}")
_LITERALS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True)
class Scope:
    """What an expression can name."""

    contexts: Mapping[str, Any]
    functions: Mapping[str, Function] = field(default_factory=dict)


Node = Callable[[Scope], Any]


def evaluate(text: str, scope: Scope) -> Any:
    """The value of an expression, without `${{ }}` around it."""
    return _Parser(text).parse()(scope)


def interpolate(value: Any, scope: Scope) -> Any:
    """A value of a workflow file with its expressions evaluated; one that is a whole string keeps its type."""
    if isinstance(value, dict):
        return {key: interpolate(item, scope) for key, item in value.items()}
    if isinstance(value, list):
        return [interpolate(item, scope) for item in value]
    if not isinstance(value, str):
        return value
    whole = _whole(value)
    if whole is not None:
        return evaluate(whole, scope)
    return _EMBEDDED.sub(lambda found: to_text(evaluate(found[1], scope)), value)


def _whole(text: str) -> str | None:
    """The expression that the text is, if there is nothing else in it."""
    found = _EMBEDDED.match(text.strip())
    return found[1] if found and found.end() == len(text.strip()) else None


def condition(text: Any, scope: Scope, default: str = "success()") -> bool:
    """Whether an `if:` holds. One that asks for no status holds only after success."""
    words = default if text is None else to_text(text).strip()
    whole = _whole(words)
    if whole is None and "${{" in words:
        raise ExpressionError(f"always true, being a text: {words}")
    words = words if whole is None else whole
    if not asks_for_status(words):
        words = f"success() && ({words})"
    return is_true(evaluate(words, scope))


def asks_for_status(text: str) -> bool:
    kinds = [(kind, word.lower()) for kind, word in _tokens(text)]
    calls = itertools.pairwise(kinds)
    return any(k == "name" and w in STATUS_FUNCTIONS and following == ("operator", "(") for (k, w), following in calls)


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if not match or not match.lastgroup:
            raise ExpressionError(f"unexpected {text[at:].strip()[:20]!r} in {text!r}")
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


class _Parser:
    """By descent: each method takes what binds at least as tightly as its operator."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.at = text, _tokens(text), 0

    def parse(self) -> Node:
        node = self._either()
        if self.at < len(self.tokens):
            raise ExpressionError(f"unexpected {self.tokens[self.at][1]!r} in {self.text!r}")
        return node

    def _peek(self) -> str | None:
        kind, word = self.tokens[self.at] if self.at < len(self.tokens) else (None, "")
        return word if kind == "operator" else None

    def _take(self, *operators: str) -> str | None:
        word = self._peek()
        if word not in operators:
            return None
        self.at += 1
        return word

    def _expect(self, operator: str) -> None:
        if not self._take(operator):
            raise ExpressionError(f"{operator!r} is missing in {self.text!r}")

    def _either(self) -> Node:
        parts = [self._all()]
        while self._take("||"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else lambda scope: _first(parts, scope, until=True)

    def _all(self) -> Node:
        parts = [self._equality()]
        while self._take("&&"):
            parts.append(self._equality())
        return parts[0] if len(parts) == 1 else lambda scope: _first(parts, scope, until=False)

    def _equality(self) -> Node:
        node = self._comparison()
        while operator := self._take("==", "!="):
            node = _equality(node, self._comparison(), operator == "==")
        return node

    def _comparison(self) -> Node:
        node = self._unary()
        while operator := self._take(*COMPARISONS):
            node = _comparison(operator, node, self._unary())
        return node

    def _unary(self) -> Node:
        if self._take("!"):
            operand = self._unary()
            return lambda scope: not is_true(operand(scope))
        return self._postfix()

    def _postfix(self) -> Node:
        node = self._primary()
        while operator := self._take(".", "["):
            if self._take("*"):
                node = _star(node)
            elif operator == ".":
                node = _access(node, _constant(self._name()))
            else:
                node = _access(node, self._either())
            if operator == "[":
                self._expect("]")
        return node

    def _name(self) -> str:
        kind, word = self.tokens[self.at] if self.at < len(self.tokens) else (None, "the end")
        if kind != "name":
            raise ExpressionError(f"a name is missing before {word!r} in {self.text!r}")
        self.at += 1
        return word

    def _primary(self) -> Node:
        if self._take("("):
            node = self._either()
            self._expect(")")
            return node
        kind, word = self.tokens[self.at] if self.at < len(self.tokens) else (None, "the end")
        self.at += 1
        if kind == "string":
            return _constant(word[1:-1].replace("''", "'"))
        if kind == "number":
            return _constant(to_number(word))
        if kind != "name":
            raise ExpressionError(f"unexpected {word!r} in {self.text!r}")
        if self._take("("):
            return _call(word, self._arguments())
        return _constant(_LITERALS[word]) if word in _LITERALS else _context(word)

    def _arguments(self) -> list[Node]:
        found: list[Node] = []
        if self._take(")"):
            return found
        found.append(self._either())
        while self._take(","):
            found.append(self._either())
        self._expect(")")
        return found


def _constant(value: Any) -> Node:
    return lambda scope: value


def _first(parts: Sequence[Node], scope: Scope, *, until: bool) -> Any:
    """The value of the first part that decides, else of the last."""
    value = None
    for part in parts:
        value = part(scope)
        if is_true(value) == until:
            break
    return value


def _equality(left: Node, right: Node, wanted: bool) -> Node:
    return lambda scope: is_equal(left(scope), right(scope)) == wanted


def _comparison(operator: str, left: Node, right: Node) -> Node:
    return lambda scope: compare(operator, left(scope), right(scope))


def _access(node: Node, key: Node) -> Node:
    return lambda scope: take_property(node(scope), key(scope))


def _star(node: Node) -> Node:
    return lambda scope: take_all(node(scope))


def _context(name: str) -> Node:
    def look_up(scope: Scope) -> Any:
        if name.lower() not in scope.contexts:
            raise ExpressionError(f"no context {name!r} here, only {', '.join(sorted(scope.contexts))}")
        return scope.contexts[name.lower()]

    return look_up


def _call(name: str, arguments: Sequence[Node]) -> Node:
    def call(scope: Scope) -> Any:
        known = {**FUNCTIONS, **{key.lower(): function for key, function in scope.functions.items()}}
        if name.lower() not in known:
            raise ExpressionError(f"no function {name!r} here")
        return known[name.lower()](*(argument(scope) for argument in arguments))

    return call
