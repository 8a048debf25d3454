"""A hook of the build: the package records which commit of which repository it is built from.

Packages that are built from an sdist have what the sdist recorded.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parents[1]))

from convex_evals.vcs.origin import RECORD, Origin, find_origin


class RecordOrigin(BuildHookInterface[Any]):
    """Adds `origin.json` to what is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Find out where this is from; in a checkout that is installed as it is, Git is asked each time instead."""
        place = f"convex_evals/{RECORD}"
        if version == "editable" or Path(self.root, place).exists():
            return
        self.folder = tempfile.TemporaryDirectory(prefix="origin-")
        record = Path(self.folder.name, RECORD)
        record.write_text(origin_of(Path(self.root), self.metadata.version).to_json(), encoding="utf-8")
        build_data["force_include"][str(record)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written."""
        if hasattr(self, "folder"):
            self.folder.cleanup()


def origin_of(root: Path, version: str) -> Origin:
    """Of the checkout whose top folder `root` is; nothing is known of any other folder."""

    def git(*command: str) -> str:
        done = subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, check=True)
        return done.stdout.rstrip("\n")

    try:
        return find_origin(version, git) if (root / ".git").exists() else Origin()
    except (OSError, subprocess.CalledProcessError):
        return Origin()
