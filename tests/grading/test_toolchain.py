"""Installing the toolchain."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.grading.npm import count_packages
from convex_evals.grading.toolchain import ensure_toolchain


@pytest.mark.full
def test_what_could_not_be_installed_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """npm makes the folders of all packages before it has one of them."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and does not listen: nobody else does
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{closed.getsockname()[1]}/")
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
        told: list[tuple[str, int, int]] = []
        with pytest.raises(UserError, match="cannot install the toolchain: the npm registry cannot be reached"):
            asyncio.run(ensure_toolchain(tmp_path / "cache", lambda *line: told.append(line)))
    assert told and {done for _, done, _ in told} == {0}, told[-1]


def test_packages_count_once_they_are_unpacked(tmp_path: Path) -> None:
    for name in ("made", "@scope/made", ".bin"):
        (tmp_path / name).mkdir(parents=True)
    assert count_packages(tmp_path) == 0
    for name in ("there", "@scope/there", "@scope/too"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "package.json").write_text(json.dumps({}))
    assert count_packages(tmp_path) == 3
    assert count_packages(tmp_path / "nowhere") == 0
