"""All pages in a real browser: from the leaderboard to one test's message and back, by mouse, by keyboard, by phone,
without JavaScript; and a hostile run, of which nothing runs.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from convex_evals.site import urls
from convex_evals.site.library import Library
from convex_evals.site.routes import ROUTES
from tests import patience
from tests.conftest import ROOT, Invoke
from tests.factories import make_eval_plan, make_failure, make_run, write_files
from tests.site.conftest import NewPage
from tests.site.made import EVALS, make_workspace
from tests.site.test_client import violations

RUN = "runs/zeta/gamma/2026-01-21/default-21000000"
SCREENS = [(360, 740), (1280, 900), (2560, 1300)]


class Served:
    """`cli view` on a repository."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, str(ROOT / "cli.py"), "view", "--port", "0", "--no-open", "--json"]
        self._process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        [row] = json.loads("".join(self._process.stdout.readline() for _ in range(6)))
        self.url, self.writing_url = str(row["url"]), str(row["writing_url"])

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.communicate(timeout=patience.seconds(20))


@pytest.fixture(scope="module")
def served(suite: Path) -> Iterator[Served]:
    found = Served(suite)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def kinds(suite: Path) -> list[str]:
    """A page of each kind."""
    from convex_evals.config import open_workspace

    library = Library(open_workspace(None, None, suite))
    found = [next(iter(route.every(library)), None) for route in ROUTES]
    return [place for place in found if place] + [f"{RUN}/index.html", f"{RUN}/{EVALS[0]}.html"]


def test_from_the_leaderboard_to_a_tests_message_and_back(page: Page, served: Served) -> None:
    page.goto(served.url)
    expect(page.locator(".lead")).to_contain_text("acme/beta leads with 100%")
    page.get_by_role("link", name="zeta/gamma").first.click()
    expect(page.locator("h1")).to_have_text("zeta/gamma")
    page.locator("#runs").get_by_role("link", name="default-21000000").click()
    page.get_by_label("Outcome").select_option("failed")
    page.get_by_role("link", name=EVALS[0]).click()
    page.locator("html.js").wait_for()  # keys work once the script has run
    expect(page.locator("#trial-1")).to_contain_text("expected 41 to be 42")
    page.keyboard.press("u")
    page.wait_for_url("**/index.html*")
    page.go_back()
    expect(page.locator("h1")).to_contain_text(EVALS[0])
    page.get_by_role("link", name="All models on this eval").click()
    expect(page.locator("h1")).to_have_text(EVALS[0])
    expect(page.locator("#signatures")).to_contain_text("assertion")


@pytest.mark.full
def test_by_keyboard_alone(page: Page, served: Served) -> None:
    page.goto(f"{served.url}runs.html")
    page.keyboard.press("/")
    page.keyboard.type("gamma 2026-01-21")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("default-21")
    page.keyboard.press("Tab")
    page.locator("body").press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{RUN}/index.html")
    page.locator("html.js").wait_for()  # keys work once the script has run
    for key, name in (
        ("j", None),
        ("Enter", EVALS[0]),
        ("n", EVALS[1]),
        ("n", EVALS[2]),
        ("p", EVALS[1]),
        ("e", EVALS[1]),
    ):
        page.keyboard.press(key)
        if name:
            expect(page.locator("html.js h1")).to_contain_text(name)
    page.wait_for_url("**/evals/**")
    page.go_back()
    expect(page.locator("html.js h1")).to_contain_text("zeta/gamma")
    page.keyboard.press("[")
    expect(page.locator("h1")).to_contain_text("acme/alpha")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.full
def test_deep_links_keep_filters(page: Page, served: Served) -> None:
    page.goto(f"{served.url}{RUN}/index.html?outcome=failed&sort=passed%2Casc")
    expect(page.locator("#evals tbody tr:visible")).to_have_count(2)
    page.goto(f"{served.url}{RUN}/{EVALS[0]}.html#trial-3")
    expect(page.locator("#trial-3")).to_be_in_viewport()


@pytest.mark.full
def test_every_kind_of_page_at_every_size_and_without_javascript(
    new_page: NewPage, served: Served, kinds: list[str]
) -> None:
    for width, height in SCREENS:
        page = new_page(viewport={"width": width, "height": height})
        for place in kinds:
            page.goto(f"{served.url}{place}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (place, width)
    page = new_page(java_script_enabled=False)
    for place in kinds:
        page.goto(f"{served.url}{place}")
        expect(page.locator("h1").first).to_be_visible()
        for form in page.locator("form.filters").all():
            expect(form).to_be_hidden()
    page.goto(served.url)
    page.get_by_role("link", name="zeta/gamma").first.click()
    page.locator("#runs").get_by_role("link", name="default-21000000").click()
    page.get_by_role("link", name=EVALS[0]).click()
    expect(page.locator("#trial-1")).to_contain_text("expected 41 to be 42")


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_violation(new_page: NewPage, served: Served, kinds: list[str], scheme: str) -> None:
    page = new_page(color_scheme=scheme, bypass_csp=True)
    found = []
    for place in kinds:
        page.goto(f"{served.writing_url}{place}")
        found += [f"{place}: {violation}" for violation in violations(page)]
    assert found == []


@pytest.mark.full
def test_the_site_works_from_a_folder(page: Page, suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "a b#c" / "site"
    out.parent.mkdir()
    assert invoke("site", out, cwd=suite).status == 0
    page.goto((out / "index.html").as_uri())
    page.get_by_role("link", name="zeta/gamma").first.click()
    page.locator("#runs").get_by_role("link", name="default-21000000").click()
    page.get_by_role("link", name=EVALS[1], exact=True).click()
    page.get_by_role("button", name="Show the reply").first.click()
    expect(page.locator("#trial-1 pre").last).to_contain_text("I would say 41.")
    page.get_by_role("link", name="Leaderboard").click()
    expect(page.locator("figure.chart svg").first).to_be_visible()


@pytest.mark.full
def test_a_run_under_way_is_followed(page: Page, suite: Path, served: Served) -> None:
    place = "runs/zeta/gamma/2026-01-22/default-22000000"
    page.goto(f"{served.url}{place}/index.html")
    expect(page.get_by_role("status").first).to_contain_text("1 of 3 evals done")
    done, source = (suite / place / "evals" / name for name in (EVALS[1], EVALS[0]))
    for path in source.iterdir():
        text = path.read_text(encoding="utf-8").replace(EVALS[0], EVALS[1])
        write_files(done, {path.name: text})
    expect(page.get_by_role("status").first).to_contain_text("2 of 3 evals done", timeout=15_000)


@pytest.mark.full
def test_a_report_is_written_and_a_conflict_shown(page: Page, suite: Path, served: Served, problems: list[str]) -> None:
    place = "reports/zeta/gamma/default-21000000_2026-01-21"
    page.goto(f"{served.writing_url}{place}.html")
    section = page.locator("section.place").first
    section.locator("summary").click()
    section.locator("textarea").fill("Both are the model's.")
    section.get_by_role("button", name="Save").click()
    expect(page.locator("section.place").first).to_contain_text("Both are the model's.")
    path = suite / f"{place}.md"
    assert path.read_text().count("\nBoth are the model's.\n<!-- /human -->") == 1
    page.locator("section.place summary").first.click()
    path.write_text(path.read_text().replace("Both are", "All are"))
    page.locator("section.place textarea").first.fill("None is.")
    page.locator("section.place").first.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Nothing was saved")
    assert [problem for problem in problems if "409" in problem] == problems
    problems.clear()
    expect(page.locator("main")).to_contain_text("None is.")
    expect(page.locator("main")).to_contain_text("All are the model's.")
    assert "None is." not in path.read_text()


XSS = "<img src=x onerror=alert(1)><script>alert(2)</script></textarea></script><svg/onload=alert(3)>\"'`${7*7}{{7*7}}"
BIDI = "\u202e\u2066gnp.exe\u200b"


def hostile(runs: Path) -> None:
    reply = (
        f"{XSS} {BIDI} [a](javascript:alert(4)) ![b](https://evil.example/p.png) <https://evil.example>\n\n# Files\n\n"
        f"## package.json\n\n```json\n{{}}\n```\n\n## convex/<img/src=x/onerror=alert(5)>.ts\n\n```ts\n{XSS}\n```\n\n"
        f"## convex/main.ts\n\n```ts\n// {XSS}\nconst a = '</code></pre><script>alert(6)</script>';\n"
        f"{'x' * 5_000_000}\n```\n"
    )
    message = f"{XSS}\n{BIDI}\n\x1b[31mred\x1b[0m ::error::x\n{'y' * 300_000}"
    failures = {
        EVALS[0]: make_failure({"tests": "failed"}, {f"{XSS} {BIDI}": message}),
        EVALS[1]: make_failure({"tsc": f"convex/main.ts:1:1 TS2345: {message}"}),
        EVALS[2]: make_failure({"deploy": message}),
    }
    make_run(
        runs,
        dict.fromkeys(EVALS, "fff"),
        replies=dict.fromkeys(EVALS, reply),
        failures=failures,
        model="evil/<img src=x onerror=alert(7)>'\"&",
        date="2026-01-25",
        run_id="default-25000000",
        trials=3,
        suite_commit="b" * 40,
        guidelines=f"guidelines/{XSS[:60]}",
        guidelines_sha256="9" * 64,
        evals=dict.fromkeys(EVALS, make_eval_plan()),
    )


@pytest.mark.full
def test_a_hostile_run_is_inert(new_page: NewPage, tmp_path: Path, invoke: Invoke, kinds: list[str]) -> None:
    """The fixtures fail a test on any script of a page that complains, dialog, error, or request that leaves."""
    make_workspace(tmp_path / "suite")
    hostile(tmp_path / "suite/runs")
    assert invoke("report", "default-25", cwd=tmp_path / "suite").status == 0
    served = Served(tmp_path / "suite")
    try:
        from convex_evals.config import open_workspace

        library = Library(open_workspace(None, None, tmp_path / "suite"))
        places = [place for route in ROUTES for place in route.every(library)]
        entry = next(e for e in library.entries if e.plan.model.startswith("evil/"))
        places += [urls.trials(entry.plan, eval_id) for eval_id in EVALS]
        page = new_page()
        for place in places:
            page.goto(f"{served.writing_url}{urls.href(place)}")
            check_inert(page, place)
        assert invoke("site", tmp_path / "out", cwd=tmp_path / "suite").status == 0
        page.goto((tmp_path / "out").as_uri() + f"/{urls.href(urls.trials(entry.plan, EVALS[0]))}")
        check_inert(page, "static")
    finally:
        served.stop()


def check_inert(page: Page, place: str) -> None:
    main = page.locator("main")
    assert main.locator("img, script:not([type='application/json']), iframe, object, embed, style").count() == 0, place
    assert page.evaluate(
        "[...document.querySelectorAll('*')].every(e => ![...e.attributes].some(a => /^on/.test(a.name)))"
    )
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b]", main.inner_text()), place
    addresses = page.evaluate("[...document.links].map(a => a.protocol)")
    assert set(addresses) <= {"http:", "https:", "file:"}, place
    assert len(page.content()) < 4_000_000, place
