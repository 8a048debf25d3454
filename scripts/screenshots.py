"""Screenshots of the main pages, for the documentation.

    python scripts/screenshots.py [OUT]

Makes up runs of models that do not exist over our own evals, serves them with `cli view`, and takes pictures with
Chromium, into docs/images/ or OUT. Needs what the tests of pages need: `pip install -e '.[dev]'` and Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench.pages import Served, make_suite, write_run
from scripts.command import start
from tests.site.conftest import SWITCHES, chromium

ROOT = Path(__file__).parents[1]
MODELS = (
    *("acme/large-4", "acme/small-4", "borealis/aurora", "borealis/aurora-mini", "cirrus/stratus-2"),
    *("delta/reason-1", "delta/reason-1-mini", "echo/open-70b"),
)
RUNS = 48
WIDTH, HEIGHT = 1280, 800


def main() -> int:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evals = make_suite(folder, 40)
        runs = [write_run(folder, evals, n, 3, MODELS) for n in range(RUNS)]
        served = Served(folder)
        try:
            take(served.url, out, runs[-1].folder.relative_to(folder).as_posix())
        finally:
            served.stop()
    return 0


def take(url: str, out: Path, run: str) -> None:
    places = {
        "leaderboard": "index.html",
        "matrix": "matrix/default.html",
        "trials": f"{run}/002-queries/000-index_range.html",
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(SWITCHES))
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        for name, place in places.items():
            page.goto(f"{url}{place}")
            page.locator("html.js").wait_for()
            page.screenshot(path=out / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    start(main)
