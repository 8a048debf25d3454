"""A suite with runs, for tests of what records of others do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.hostile import plant


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite with two runs, the newer one with a failure, and a journal of a third."""
    root = tmp_path / "suite"
    plant(root)
    return root
