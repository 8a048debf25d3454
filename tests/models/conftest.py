"""A provider that misbehaves, and a solver that asks it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.models import servers
from convex_evals.models.budget import Budget
from convex_evals.models.litellm_loader import load_litellm
from convex_evals.suite.suite import load_suite
from tests.factories import make_eval
from tests.models.bench import KEY, Bench
from tests.provider import Provider, serve


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider()) as provider:
        yield provider


@pytest.fixture
def bench(stub: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("STUB_KEY", KEY)
    load_litellm()
    make_eval(tmp_path)
    return Bench(stub, load_suite(tmp_path).evals[0], tmp_path / "replies", Budget(None))


@pytest.fixture
def anthropic_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a model of Anthropic's be asked at the stub, where `refuse_stranger` would stop it."""
    monkeypatch.setattr(servers, "_COMPATIBLE", frozenset({"openai", "anthropic"}))
