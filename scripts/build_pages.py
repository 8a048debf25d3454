"""Builds what HTML pages load, `convex_evals/site/assets/`, from its sources in `convex_evals/site/client/`.

    python scripts/build_pages.py            write the assets
    python scripts/build_pages.py --check    say whether the committed files are what the sources give

The built files are committed, so that installing the package takes neither npm nor the network.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from convex_evals.config import cache_dir
from convex_evals.errors import ExitCode, UserError
from convex_evals.grading.toolchain import Toolchain, ensure_toolchain

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scripts.command import start  # noqa: E402
from scripts.npm_packages import install_packages, quietly  # noqa: E402

SITE = ROOT / "convex_evals" / "site"
CLIENT, ASSETS = SITE / "client", SITE / "assets"
ENTRIES = {"pages.css": "pages.css", "pages.js": "main.ts", "charts.js": "charts/main.ts"}
LICENSES = "LICENSES.txt"
_BANNER = f"/*! Contains Observable Plot and D3: see {LICENSES}. */"
_BUILD_SECONDS = 60


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where something differs")
    check = parser.parse_args().check
    built = build()
    stale = sorted(name for name, content in built.items() if _committed(name) != content)
    stale += sorted(path.name for path in ASSETS.glob("*") if path.name not in built)
    if check:
        for name in stale:
            print(f"{name}: not what its sources give; run python scripts/build_pages.py", file=sys.stderr)
        return ExitCode.USER_ERROR if stale else ExitCode.OK
    ASSETS.mkdir(parents=True, exist_ok=True)
    for name in stale:
        if name in built:
            (ASSETS / name).write_bytes(built[name])
        else:
            (ASSETS / name).unlink()
    for name, content in sorted(built.items()):
        print(f"{name}: {len(content):,} bytes{'' if name in stale else ', as before'}")
    return ExitCode.OK


def _committed(name: str) -> bytes | None:
    path = ASSETS / name
    return path.read_bytes() if path.is_file() else None


def build() -> dict[str, bytes]:
    """The assets, by name, with what is bundled into them under its licenses."""
    cache = cache_dir()
    toolchain = asyncio.run(ensure_toolchain(cache, quietly))
    packages = asyncio.run(install_packages(CLIENT, cache, toolchain.node))
    with tempfile.TemporaryDirectory() as folder:
        bundled: set[Path] = set()
        for name, source in ENTRIES.items():
            bundled |= _bundle(toolchain, packages, CLIENT / source, Path(folder) / name)
        built = {name: (Path(folder) / name).read_bytes() for name in ENTRIES}
    built["icon.svg"] = (CLIENT / "icon.svg").read_bytes()
    built[LICENSES] = _licenses(bundled).encode()
    return built


def _bundle(toolchain: Toolchain, packages: Path, source: Path, target: Path) -> set[Path]:
    """Write `target`; the folders of the packages that are in it."""
    meta = target.with_suffix(".meta.json")
    options = ["--bundle", "--minify", "--charset=utf8", "--legal-comments=none", "--log-level=warning"]
    if source.suffix == ".ts":
        options += ["--format=iife", "--target=es2022"]
    if source.parent != CLIENT:
        options.append(f"--banner:js={_BANNER}")
    esbuild = toolchain.node_modules / "esbuild" / "bin" / "esbuild"
    argv: list[str | Path] = [
        toolchain.node.executable,
        esbuild,
        source,
        *options,
        f"--outfile={target}",
        f"--metafile={meta}",
    ]
    env = {**toolchain.node.environment(target.parent), "NODE_PATH": str(packages)}
    done = subprocess.run(
        argv, cwd=CLIENT, env=env, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False
    )
    if done.returncode != 0:
        raise UserError(f"esbuild cannot build {target.name}: {done.stderr.strip()}")
    output = next(iter(json.loads(meta.read_text())["outputs"].values()))
    used = [(CLIENT / path).resolve() for path, part in output["inputs"].items() if part["bytesInOutput"]]
    return {_package_of(path, packages) for path in used if packages.resolve() in path.parents}


def _package_of(path: Path, packages: Path) -> Path:
    name = path.relative_to(packages.resolve()).parts
    return packages.joinpath(*name[: 2 if name[0].startswith("@") else 1])


def _licenses(packages: set[Path]) -> str:
    parts = ["charts.js contains these packages, under the licenses below.\n"]
    for package in sorted(packages):
        about = json.loads((package / "package.json").read_text(encoding="utf-8"))
        (license_file,) = [path for path in package.iterdir() if path.name.lower().startswith("licen")]
        text = license_file.read_text(encoding="utf-8").replace("\r\n", "\n").strip()
        parts.append(f"{about['name']} {about['version']} ({about['license']})\n\n{text}\n")
    return ("\n" + "-" * 80 + "\n\n").join(parts)


if __name__ == "__main__":
    start(main)
