"""YAML that people write, and strangers may: small, plain, without what grows when it is read.

PyYAML's safe loader builds no objects, but takes time that grows with the square of nesting and of digits, keeps the
last of two equal keys, and lets aliases make gigabytes of a few lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

LONGEST = 256 * 1024  # characters
DEEPEST = 40
MOST_VALUES = 50_000  # aliases counted as often as they are used
_LONGEST_NUMBER = 40  # characters


class _Loader(yaml.SafeLoader):
    def fetch_flow_collection_start(self, TokenClass: Any) -> None:
        self._refuse_depth(self.flow_level)
        super().fetch_flow_collection_start(TokenClass)

    def add_indent(self, column: int) -> bool:
        self._refuse_depth(len(self.indents))
        return super().add_indent(column)

    def _refuse_depth(self, depth: int) -> None:
        if depth > DEEPEST:
            raise yaml.YAMLError(f"more than {DEEPEST} lists and maps in each other")

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                continue
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"'{key.value[:60]}' is there twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _number(loader: _Loader, node: yaml.ScalarNode) -> Any:
    if len(str(node.value)) > _LONGEST_NUMBER:
        raise yaml.constructor.ConstructorError(None, None, "a number is too long", node.start_mark)
    is_float = node.tag.endswith(":float")
    return loader.construct_yaml_float(node) if is_float else loader.construct_yaml_int(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _number)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)


def _refuse(loader: _Loader, node: yaml.Node) -> Any:
    raise yaml.constructor.ConstructorError(None, None, f"a value of the kind {node.tag}", node.start_mark)


# Bytes would become text that nothing has looked at.
_Loader.add_constructor("tag:yaml.org,2002:binary", _refuse)


def load(text: str) -> Any:
    """The value of a document. Raises `yaml.YAMLError`, `ValueError` or `RecursionError`."""
    if len(text) > LONGEST:
        raise ValueError(f"more than {LONGEST:,} characters")
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _count(node, {}, set())
        return loader.construct_document(node)
    except (LookupError, AttributeError, TypeError):
        # PyYAML takes the word of a tag: `!!bool maybe`, `!!int ""`, `!!timestamp soon`.
        raise ValueError("a value is not what its tag says") from None
    finally:
        loader.dispose()


def line_of(text: str, location: Sequence[str | int]) -> int:
    """The line, from 1, of the key or list item at `location` of a document that `load` reads.

    Where a part of it is not there, the line of the part before.
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        line = node.start_mark.line if node else 0
        for part in location:
            found = _part_of(node, part)
            if found is None:
                break
            line, node = found
        return int(line) + 1
    finally:
        loader.dispose()


def _part_of(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    """The line and the value of one key or list item of `node`."""
    if isinstance(node, yaml.MappingNode):
        pairs = [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
        return next(((key.start_mark.line, value) for key, value in pairs if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line, node.value[part]
    return None


def _count(node: yaml.Node, known: dict[int, int], above: set[int]) -> int:
    """How many values a node becomes, each alias counted as what it stands for."""
    if id(node) in above:
        raise yaml.YAMLError("a value that contains itself")
    if id(node) not in known:
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            parts = list(node.value)
        elif isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        inner = above | {id(node)}
        known[id(node)] = 1 + sum(_count(part, known, inner) for part in parts)
        if known[id(node)] > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES:,} values, aliases written out")
    return known[id(node)]
