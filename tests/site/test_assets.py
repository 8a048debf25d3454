"""What is committed in `site/assets/` is what its sources give, and small; the sources are held to our rules."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.grading.toolchain import SOURCES, locate_toolchain
from scripts.build_pages import ASSETS, CLIENT, LICENSES
from scripts.npm_packages import install_packages
from tests import patience
from tests.conftest import ROOT, clean_environment

MOST_BYTES = {"pages.css": 20_000, "pages.js": 20_000, "charts.js": 300_000, "icon.svg": 1_000, LICENSES: 20_000}


def test_assets_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in ASSETS.iterdir()}
    assert sizes.keys() == MOST_BYTES.keys()
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES[name]} == {}


def test_scripts_make_no_code_and_no_markup_of_text() -> None:
    code = re.compile(r"\beval\(|new Function|\bFunction\(")
    for name in ("pages.js", "charts.js"):
        assert code.findall((ASSETS / name).read_text(encoding="utf-8")) == [], name
    # D3 has functions that set markup, which nothing calls.
    markup = re.compile(r"innerHTML|outerHTML =|insertAdjacentHTML|document\.write|\.html\(")
    for path in CLIENT.rglob("*.ts"):
        if "node_modules" not in path.parts:
            assert markup.findall(path.read_text(encoding="utf-8")) == [], path
    pages = (ASSETS / "pages.js").read_text(encoding="utf-8")
    assert "http" not in pages and '"style"' not in pages
    style = (ASSETS / "pages.css").read_text(encoding="utf-8")
    assert "@import" not in style and "url(" not in style


def test_what_is_bundled_keeps_its_license() -> None:
    text = (ASSETS / LICENSES).read_text(encoding="utf-8")
    assert "@observablehq/plot 0.6.17 (ISC)" in text and "\nd3-scale " in text and "Copyright" in text
    assert LICENSES in (ASSETS / "charts.js").read_text(encoding="utf-8")[:200]


def test_versions_are_exact() -> None:
    wanted = json.loads((CLIENT / "package.json").read_text())["dependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())


@pytest.mark.full
@pytest.mark.grading
def test_assets_are_what_their_sources_give(toolchain: Path) -> None:
    argv = [sys.executable, "scripts/build_pages.py", "--check"]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(600), check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.full
@pytest.mark.grading
def test_sources_have_types_and_our_style(toolchain: Path, tmp_path: Path) -> None:
    """In a copy, beside the rules of the Node side, as each needs its packages next to it."""
    installed = locate_toolchain(toolchain)
    packages = asyncio.run(install_packages(CLIENT, toolchain, installed.node))
    client, rules = tmp_path / "site" / "client", tmp_path / "node"
    shutil.copytree(CLIENT, client, ignore=shutil.ignore_patterns("node_modules"))
    (client / "node_modules").symlink_to(packages)
    rules.mkdir()
    for name in ("eslint.config.js", "package.json", "tsconfig.json"):
        shutil.copy(SOURCES / name, rules)
    (rules / "node_modules").symlink_to(installed.node_modules)
    env = clean_environment(PATH=f"{installed.node.bin_dir}:/usr/bin:/bin", NO_COLOR="1")
    for tool, *words in (
        ("typescript/bin/tsc", "--noEmit", "-p", "."),
        ("eslint/bin/eslint.js", "--max-warnings=0", "."),
        ("prettier/bin/prettier.cjs", "--check", ".", "!package-lock.json"),
    ):
        argv = [str(installed.node.executable), str(installed.node_modules / tool), *words]
        done = subprocess.run(
            argv, cwd=client, env=env, capture_output=True, text=True, timeout=patience.seconds(300), check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
