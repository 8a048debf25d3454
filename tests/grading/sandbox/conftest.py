"""The toolchain that sandboxes are tried with."""

from __future__ import annotations

from pathlib import Path

import pytest

from convex_evals.grading.toolchain import Toolchain, locate_toolchain


@pytest.fixture
def tools(toolchain: Path) -> Toolchain:
    return locate_toolchain(toolchain)
