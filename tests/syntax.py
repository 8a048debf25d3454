"""Python sources as syntax trees."""

from __future__ import annotations

import ast


def parsed(source: str) -> ast.Module:
    """The tree of `source`, whatever other threads parse at the same time.

    Before Python 3.12, trees that two threads make at once share one counter, and one of the two fails
    (github.com/python/cpython/issues/106905): a library that still loads in the background is such a thread.
    """
    for _ in range(9):
        try:
            return ast.parse(source)
        except SystemError:
            continue
    return ast.parse(source)
