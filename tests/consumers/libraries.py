"""A Python of its own with the libraries that exports are for."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from convex_evals.grading.once import make_once
from scripts.npm_packages import quietly
from tests import patience
from tests.conftest import REAL_CACHE, clean_environment

CONSUMERS = Path(__file__).parent
_REQUIREMENTS = CONSUMERS / "requirements.txt"


def install_libraries() -> Path:
    """The Python that has them; installed into the cache at first use."""
    version = f"{_REQUIREMENTS.read_text()} {sys.version}"
    target = REAL_CACHE / "scripts" / f"consumers-python-{hashlib.sha256(version.encode()).hexdigest()[:12]}"

    async def install(folder: Path) -> None:
        await asyncio.to_thread(_install, folder)

    asyncio.run(make_once(target, install, quietly))
    return target / "bin" / "python"


def _install(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
    done = subprocess.run(
        [folder / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", _REQUIREMENTS],
        env=clean_environment(**pip),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def read(python: Path, name: str, file: Path) -> Any:
    """What the library that `name` is for makes of the file."""
    output = file.with_name("read.json")
    env = clean_environment(HOME=str(file.parent), HF_HUB_OFFLINE="1", DEEPEVAL_TELEMETRY_OPT_OUT="1")
    done = subprocess.run(
        [python, CONSUMERS / "read.py", name, file, output],
        cwd=file.parent,
        env=env,
        capture_output=True,
        text=True,
        timeout=patience.seconds(300),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(output.read_bytes())
