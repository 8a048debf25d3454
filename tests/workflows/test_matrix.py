"""Matrices; the case is the documentation's."""

from __future__ import annotations

from tests.workflows.matrix import combinations


def test_include_adds_to_what_it_agrees_with_and_never_overwrites_an_axis() -> None:
    matrix = {
        "fruit": ["apple", "pear"],
        "animal": ["cat", "dog"],
        "include": [
            {"color": "green"},
            {"color": "pink", "animal": "cat"},
            {"fruit": "apple", "shape": "circle"},
            {"fruit": "banana"},
            {"fruit": "banana", "animal": "cat"},
        ],
    }
    assert combinations(matrix) == [
        {"fruit": "apple", "animal": "cat", "color": "pink", "shape": "circle"},
        {"fruit": "apple", "animal": "dog", "color": "green", "shape": "circle"},
        {"fruit": "pear", "animal": "cat", "color": "pink"},
        {"fruit": "pear", "animal": "dog", "color": "green"},
        {"fruit": "banana"},
        {"fruit": "banana", "animal": "cat"},
    ]


def test_exclude_takes_away_what_agrees_with_it() -> None:
    matrix = {"a": [1, 2], "b": ["x", "y"], "exclude": [{"a": 1, "b": "x"}, {"a": 2}]}
    assert combinations(matrix) == [{"a": 1, "b": "y"}]


def test_a_matrix_of_include_alone() -> None:
    assert combinations({"include": [{"n": 1}, {"n": 2}]}) == [{"n": 1}, {"n": 2}]
