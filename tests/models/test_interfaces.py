from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from convex_evals.models import interfaces
from convex_evals.models.check import check_model
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.interfaces import INTERFACES
from convex_evals.models.provider import Call
from convex_evals.records.models import ModelEntry
from convex_evals.records.reply import Reply


def test_every_interface_of_models_yaml_is_there() -> None:
    assert INTERFACES.keys() == set(get_args(ModelEntry.model_fields["api"].annotation))


def test_an_interface_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def from_file(entry: ModelEntry, call: Call, on_text: Callable[[str], None]) -> Reply:
        path = tmp_path / entry.litellm_name
        if not path.exists():
            raise ProviderFault(Fault.UNKNOWN_MODEL, "no such file")
        on_text(path.read_text())
        return Reply.recorded(path.read_text())

    monkeypatch.setattr(interfaces, "INTERFACES", {"chat": from_file})
    (tmp_path / "reply.md").write_text("ready")
    there, missing = (
        asyncio.run(check_model(ModelEntry(slug="files/model", litellm=name))) for name in ("reply.md", "none.md")
    )
    assert there.fault is None and missing.fault == "unknown_model"
