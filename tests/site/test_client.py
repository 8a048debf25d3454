"""What pages.css, pages.js and charts.js do, in a browser, with pages that need no server side."""

from __future__ import annotations

import importlib.resources
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.site import client_pages
from tests.site.client_pages import HOSTILE, MODELS, row, table
from tests.site.client_pages import page as whole_page
from tests.site.conftest import ASSETS, NewPage, Site

PAGES: dict[str, Callable[[], str]] = {
    "leaderboard": client_pages.leaderboard,
    "matrix": client_pages.matrix,
    "trial": client_pages.trial,
    "charts": client_pages.charts,
}
BY_RATE = [m[0] for m in sorted(MODELS, key=lambda m: (m[3] is None, -(m[3] or 0)))]


@pytest.fixture
def opened(site: Site, page: Page) -> Callable[..., Page]:
    """Opens a document of this content, served on loopback."""

    def open_(document: str, query: str = "") -> Page:
        site.pages["/index.html"] = document
        page.goto(f"{site.url}/index.html{query}")
        return page

    return open_


def names(page: Page) -> list[str]:
    return page.locator("tbody tr:not([hidden]) th").all_inner_texts()


def head(page: Page, name: str) -> Any:
    return page.get_by_role("columnheader", name=name)


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.textContent || document.activeElement.name"))


def test_columns_are_sorted_both_ways_with_what_is_empty_last(opened: Callable[..., Page]) -> None:
    page = opened(whole_page("Leaderboard", table()))
    head(page, "Pass rate").get_by_role("button").click()
    assert names(page) == [*reversed(BY_RATE[:-1]), "never-run"], "it was sorted downwards, says the page"
    expect(head(page, "Pass rate")).to_have_attribute("aria-sort", "ascending")
    assert page.url.endswith("?sort=rate%2Casc")
    head(page, "Pass rate").get_by_role("button").press("Enter")
    assert names(page) == BY_RATE and "sort" not in page.url
    head(page, "Cost").get_by_role("button").press("Space")
    assert names(page)[0] == "gpt-6" and names(page)[-1] == "never-run"
    expect(head(page, "Pass rate")).not_to_have_attribute("aria-sort", re.compile(".*"))
    head(page, "Provider").get_by_role("button").click()
    assert names(page)[:2] == ["gpt-6", "gpt-6-mini"] or names(page)[:2] == ["claude-opus-5", "claude-haiku-5"]
    expect(head(page, "Provider")).to_have_attribute("aria-sort", "ascending")


@pytest.mark.full
def test_a_filtered_and_sorted_table_is_a_link(opened: Callable[..., Page]) -> None:
    page = opened(whole_page("Leaderboard", table()), "?other=1")
    expect(page.locator("output")).to_have_text("12 of 12")
    page.get_by_role("searchbox").fill("GPT 6")
    assert names(page) == ["gpt-6", "gpt-6-mini"]
    page.get_by_role("searchbox").fill("")
    page.get_by_label("Tag").select_option("open")
    page.get_by_label("Provider").select_option("meta")
    head(page, "Cost").get_by_role("button").click()
    expect(page.locator("output")).to_have_text("2 of 12")
    expected = ["llama-5-70b-instruct", "never-run"]
    assert names(page) == expected
    assert page.url.partition("?")[2] == "other=1&tags=open&provider=meta&sort=cost%2Cdesc"
    page.reload()
    assert names(page) == expected
    expect(head(page, "Cost")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("output")).to_have_text("12 of 12")
    assert page.url.partition("?")[2] == "other=1&sort=cost%2Cdesc"


@pytest.mark.full
def test_two_tables_keep_their_state_apart(opened: Callable[..., Page]) -> None:
    page = opened(whole_page("Leaderboard", table("a") + table("b")), "?a.provider=xai&b.sort=1,desc&b.provider=none")
    shown = [page.locator(f"#{name} tbody tr:not([hidden]) th").all_inner_texts() for name in "ab"]
    assert shown[0] == ["grok-5"] and len(shown[1]) == 12
    assert shown[1][:2] == ["a-model-with-a-very-long-name-that-nobody-can-remember-20260931", "grok-5"]


def test_keys_move_through_rows_and_links(opened: Callable[..., Page], site: Site) -> None:
    site.pages["/next.html"] = whole_page("Next", "")
    page = opened(whole_page("Leaderboard", f'{table()}<a data-key="n" href="next.html">The next one</a>'))
    for key in "jjk":
        page.keyboard.press(key)
    assert focused(page) == "claude-opus-5"
    page.keyboard.press("/")
    page.keyboard.type("nj")
    assert (focused(page), page.get_by_role("searchbox").input_value()) == ("q", "nj"), "typed, not obeyed"
    page.keyboard.press("Escape")
    assert (focused(page), page.get_by_role("searchbox").input_value()) == ("q", "")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+j")
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys of this page")
    expect(dialog).to_contain_text("The next one")
    page.keyboard.press("n")
    for _ in range(4):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')")
    dialog.get_by_role("checkbox").uncheck()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    page.keyboard.press("n")
    page.reload()
    page.keyboard.press("n")
    assert page.url.endswith("/index.html"), "single keys are off"
    page.get_by_role("button", name="Keys of this page").click()
    page.get_by_role("checkbox").check()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.wait_for_url("**/next.html")


@pytest.mark.full
def test_numbers_go_to_trials_and_packed_text_stays_text(opened: Callable[..., Page]) -> None:
    page = opened(client_pages.trial())
    page.keyboard.press("2")
    assert page.evaluate("document.activeElement.id") == "trial-2"
    page.get_by_role("button", name="Show the reply").first.click()
    shown = page.locator(".packed pre")
    expect(shown).to_have_text(HOSTILE * 3)
    assert shown.locator("*").count() == 0
    page.get_by_role("button", name="Show the reply").first.click()
    expect(shown).to_be_hidden()
    page.evaluate("document.querySelectorAll('.packed')[1].dataset.deflate = 'AAAA'")
    page.get_by_role("button", name="Show the reply").last.click()
    expect(page.locator(".packed pre").last).to_contain_text("cannot be unpacked")


def live_page(rows: str, note: str = "", live: int | None = 40) -> str:
    form = f'<section id="notes"><textarea name="note" aria-label="Note">{note}</textarea></section>'
    more = f'<details id="more"><summary>More</summary>{note}</details>{"<script>alert(1)</script>" if note else ""}'
    space = "<p>space</p>" * 60
    return whole_page(
        "Runs", f"<section>{table('runs', rows)}</section><div>{space}</div>{form}<div>{more}</div>", live=live
    )


@pytest.mark.full
def test_what_changes_is_exchanged_and_the_place_is_kept(opened: Callable[..., Page], site: Site) -> None:
    rows = "".join(row(*model[:7]) for model in MODELS)
    page = opened(live_page(rows))
    page.get_by_label("Tag").select_option("open")
    head(page, "Cost").get_by_role("button").click()
    page.get_by_role("group").get_by_text("More").click()
    top = "document.activeElement.getBoundingClientRect().top"
    page.evaluate("scrollTo(0, 200); document.querySelector('textarea').dataset.same = 'yes'")
    page.get_by_role("link", name="deepseek-v5").evaluate("at => at.focus({ preventScroll: true })")
    before = page.evaluate(top)
    assert 0 < before < 700
    site.pages["/index.html"] = live_page(
        rows.replace("$0.0400", "$9.0000") + row("new", "zai", "open", 0.5, 0.4, 0.6, 3)
    )
    expect(page.locator("output")).to_have_text("5 of 13")
    assert names(page) == [MODELS[9][0], "new", "deepseek-v5", "llama-5-70b-instruct", "never-run"]
    assert focused(page) == "deepseek-v5" and page.evaluate(top) == pytest.approx(before, abs=1)
    assert page.evaluate("document.getElementById('more').open")
    assert page.evaluate("document.querySelector('textarea').dataset.same") == "yes", "what is the same is left alone"
    with page.expect_response(lambda answer: answer.status == 304):
        pass
    page.get_by_role("textbox", name="Note").fill("unsaved")
    site.pages["/index.html"] = live_page(rows, "theirs")
    asked = len(site.answers)
    while len(site.answers) < asked + 3:
        page.wait_for_timeout(20)
    assert page.get_by_role("textbox", name="Note").input_value() == "unsaved"
    page.get_by_role("textbox", name="Note").fill("")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("theirs")
    site.pages["/index.html"] = live_page(rows, "the end", live=None)
    expect(page.get_by_role("textbox", name="Note")).to_have_value("the end")
    asked = len(site.answers)
    page.wait_for_timeout(200)
    assert len(site.answers) == asked, "nothing more is asked for"


@pytest.mark.full
def test_a_server_that_has_stopped_is_told(opened: Callable[..., Page], site: Site, problems: list[str]) -> None:
    page = opened(live_page(""))
    site.status = 500
    banner = page.locator(".banner[role=status]")
    expect(banner).to_contain_text("answers with 500")
    site.status = 200
    expect(banner).to_have_count(0)
    site.stop()
    expect(banner).to_contain_text("cli view has stopped")
    page.close()
    assert all("Failed to load resource" in one for one in problems)
    problems.clear()


def test_hostile_names_are_drawn_as_text(opened: Callable[..., Page]) -> None:
    page = opened(client_pages.charts(hostile=True))
    expect(page.locator("figure.chart svg.plot")).to_have_count(3)
    assert page.locator("figure style, figure img, figure .drawing script").count() == 0
    expect(page.locator(".legend li").first).to_contain_text("<img src=x")
    assert page.locator("figure a[href]").count() == 11, "of points that lead somewhere within the site"
    assert page.locator("figure a[href^=javascript], figure [onerror]").count() == 0
    page.locator("figure a[href]").first.focus()
    expect(page.locator("figure [aria-label=tip] text, figure [data-mark=tip] text").first).to_be_visible()
    assert page.get_by_role("group", name="Pass rate and cost").get_by_role("link").count() == 11
    assert page.get_by_role("img", name="Differences by category").count() == 1


@pytest.mark.full
def test_charts_follow_width_and_theme(opened: Callable[..., Page], page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    opened(client_pages.charts())
    assert page.locator("svg.plot").first.get_attribute("width") != "302"
    colour = "getComputedStyle(document.querySelector('.plot text')).fill"
    before = page.evaluate(colour)
    page.set_viewport_size({"width": 360, "height": 800})
    expect(page.locator("svg.plot").last).to_have_attribute("width", re.compile(r"^3\d\d$"))
    for theme in ("light", "dark"):
        page.get_by_role("button", name=re.compile("the theme is")).click()
        assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate(colour) != before
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name=re.compile("the theme is dark")).click()
    assert page.evaluate("[document.documentElement.dataset.theme ?? null, localStorage.length]") == [None, 0]


@pytest.mark.full
def test_pages_work_from_a_folder(page: Page, tmp_path: Path) -> None:
    shutil.copytree(ASSETS, tmp_path / "site" / "assets")
    (tmp_path / "site" / "index.html").write_text(client_pages.leaderboard(), encoding="utf-8")
    page.goto(f"file://{tmp_path}/site/index.html?provider=google")
    assert names(page) == ["gemini-4-pro", "gemini-4-flash"]
    expect(page.locator("svg.plot a[href='gpt-6.html']")).to_have_count(1)
    page.get_by_label("Provider").select_option("xai")
    assert page.url.endswith("?provider=xai")
    page.get_by_role("button", name=re.compile("the theme is")).click()


@pytest.mark.full
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_stands_in_anybodys_way(name: str, theme: Any, site: Site, new_page: NewPage) -> None:
    """As far as axe can tell, in both themes, wide and narrow; and nothing but tables scrolls sideways."""
    site.pages["/index.html"] = PAGES[name]()
    page = new_page(color_scheme=theme, viewport={"width": 360, "height": 740})
    page.goto(f"{site.url}/index.html")
    for width in (360, 768, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        assert page.evaluate("document.querySelector('main').clientWidth <= 1408")
    if name == "trial":
        page.get_by_role("button", name="Show the reply").first.click()
    page.set_viewport_size({"width": 1280, "height": 900})
    assert violations(page) == []
    page.get_by_role("button", name="Keys of this page").click()
    assert violations(page) == []


# Colours that are mixed are beyond axe; a canvas has them as they are painted.
CONTRASTS = """() => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((x) => x / 255)
      .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const text = (at) => contrast(getComputedStyle(at).color, getComputedStyle(at).backgroundColor);
  const cells = [...document.querySelectorAll(".heat:not(.hx)")].map(text);
  const probe = document.body.appendChild(document.createElement("p"));
  const of = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const drawn = ["edge", "focus", "accent", "good", "bad", ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `series-${n}`)];
  return [Math.min(...cells), Math.min(...drawn.map((name) => contrast(of(`--${name}`), of("--card"))))];
}"""


@pytest.mark.full
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_mixed_and_drawn_colours_can_be_told(theme: Any, site: Site, new_page: NewPage) -> None:
    site.pages["/index.html"] = client_pages.matrix()
    page = new_page(color_scheme=theme)
    page.goto(f"{site.url}/index.html")
    of_text, of_shapes = page.evaluate(CONTRASTS)
    assert of_text >= 4.5 and of_shapes >= 3


def violations(page: Page) -> list[str]:
    page.evaluate((importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate("(values) => axe.run({ runOnly: { type: 'tag', values } })", tags)
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


@pytest.mark.full
def test_print_shows_what_is_folded_and_cut_off(opened: Callable[..., Page]) -> None:
    page = opened(client_pages.trial())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.get_by_text("Folded.")).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages")).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.querySelector('.code')).overflow") == "visible"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.get_by_text("Folded.")).to_be_hidden()
