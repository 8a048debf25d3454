"""Sessions in a real browser: reviewed by keyboard, edited on both sides, exported; a hostile one is inert."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from convex_evals.records.session import Label, SessionStatus
from convex_evals.sessions.labels import read_label, write_label
from convex_evals.sessions.store import SessionStore
from convex_evals.site.server import Viewer
from tests import patience
from tests.factories import make_eval
from tests.sessions.chats import Chat, chat
from tests.site.conftest import NewPage
from tests.site.reviewed import Ids, store_chats
from tests.site.served import serving
from tests.site.test_client import violations
from tests.site.test_pages import BIDI, SCREENS, XSS, check_inert

NAMES = ("first", "second", "third")


@pytest.fixture
def stored(tmp_path: Path) -> tuple[SessionStore, Ids]:
    make_eval(tmp_path)
    chats = [chat(f"What is {name}?", f"It is {name}.", id=name) for name in NAMES]
    labels = {name: Label(evalReady=True, evalTags=("crons",) if name == "first" else ()) for name in NAMES}
    return store_chats(tmp_path, [*chats, hostile_chat()], labels)


@pytest.fixture
def store(stored: tuple[SessionStore, Ids]) -> SessionStore:
    return stored[0]


@pytest.fixture
def ids(stored: tuple[SessionStore, Ids]) -> Ids:
    return stored[1]


@pytest.fixture
def viewer(store: SessionStore) -> Iterator[Viewer]:
    with serving(store.root) as found:
        yield found


def hostile_chat() -> Chat:
    text = f"{XSS}\n{BIDI}\n\x1b[31mred\x1b[0m [a](javascript:alert(4)) ![b](https://evil.example/p.png)"
    call = {"name": XSS, "arguments": json.dumps({"file_path": XSS, "content": f"{text}\n{text}", XSS: [text]})}
    return {
        "id": "hostile",
        "title": f"{XSS} {BIDI}",
        "messages": [
            {"role": "system", "content": text},
            {"role": "user", "content": f"{text}\n\n```<script>\n{text}\n```\n\n<details open ontoggle=alert(8)>"},
            {"role": "assistant", "content": text, "tool_calls": [{"id": XSS, "type": "function", "function": call}]},
            {"role": "tool", "tool_call_id": XSS, "name": XSS, "content": f"{text}{'y' * 80_000}"},
            {"role": "assistant", "content": "x" * 80_000},
            {"role": XSS, "content": text},
        ],
    }


def open_page(page: Page, viewer: Viewer, place: str) -> None:
    page.goto(f"{viewer.writing_address}{place}")
    page.locator("html.js").wait_for()  # keys work once the script has run


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait for something that the page does outside of itself."""
    end = time.monotonic() + patience.seconds(20)
    while not holds():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


def test_sessions_are_reviewed_by_keyboard(page: Page, viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    open_page(page, viewer, "sessions.html")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sessions/**")
    reviewed = []
    for _ in NAMES:
        page.locator("html.js").wait_for()
        session_id = page.url.rpartition("/")[2][:20]
        page.keyboard.press("1")
        expect(page.locator("#status-golden")).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#label .state")).to_have_text("Saved")
        assert read_label(store, session_id).evalStatus is SessionStatus.GOLDEN
        reviewed.append(session_id)
        if len(reviewed) < len(NAMES):
            page.keyboard.press("n")
            page.wait_for_url(lambda address, done=session_id: done not in address)  # type: ignore[misc]
    assert set(reviewed) == {ids[name] for name in NAMES}
    page.keyboard.press("3")
    page.keyboard.press("t")
    page.keyboard.type("auth")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="auth")).to_be_visible()
    expect(page.locator("#tag")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.keyboard.type("Two lines.\nThe second. ")
    expect(page.locator("#label .state")).to_have_text("Saved")
    page.keyboard.type("More")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    expect(page.locator("#ready")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#notes")).to_have_value("Two lines.\nThe second. More")
    label = read_label(store, reviewed[-1])
    assert label.evalStatus is SessionStatus.INCORRECT and label.evalReady is False
    assert "auth" in label.evalTags and label.evalNotes == "Two lines.\nThe second. More\n"


@pytest.mark.full
def test_what_is_typed_is_saved_when_the_page_is_left(
    page: Page, viewer: Viewer, store: SessionStore, ids: Ids
) -> None:
    open_page(page, viewer, f"sessions/{ids['first']}.html")
    page.locator("#notes").fill("Just typed.")
    page.goto(f"{viewer.writing_address}sessions.html")
    until(page, lambda: read_label(store, ids["first"]).evalNotes == "Just typed.")


@pytest.mark.full
def test_a_change_on_disk_is_shown_and_a_text_that_is_typed_is_kept(
    page: Page, viewer: Viewer, store: SessionStore, ids: Ids
) -> None:
    open_page(page, viewer, f"sessions/{ids['first']}.html")
    notes, expected = page.locator("#notes"), page.locator("#expected")
    write_label(store, ids["first"], Label(evalReady=True, evalStatus=SessionStatus.CORRECT, expectedOutput="Theirs."))
    expect(page.locator("#status-correct")).to_have_attribute("aria-pressed", "true")
    expect(expected).to_have_value("Theirs.")
    expect(page.locator("#label .state")).to_have_text("Changed on disk")

    # Both write notes, and the reader of the page has not stopped typing.
    notes.press_sequentially("Mi")
    write_label(store, ids["first"], Label(evalReady=True, evalNotes="Theirs."))
    for letter in "ne, and more of it":
        notes.press_sequentially(letter, delay=250)
        if page.locator(".contested").count():
            break
    expect(page.locator(".contested")).to_contain_text("Theirs.")
    assert notes.input_value().startswith("Mi")
    assert read_label(store, ids["first"]).evalNotes == "Theirs."
    page.get_by_role("button", name="Keep mine").click()
    expect(page.locator(".contested")).to_have_count(0)
    until(page, lambda: read_label(store, ids["first"]).evalNotes.startswith("Mi"))


@pytest.mark.full
def test_a_refused_text_is_decided_by_its_reader(
    page: Page, viewer: Viewer, store: SessionStore, ids: Ids, problems: list[str]
) -> None:
    open_page(page, viewer, f"sessions/{ids['first']}.html")
    page.route("**/label", lambda route: route.continue_() if route.request.method == "POST" else route.abort())
    page.locator("#notes").fill("Mine.")
    write_label(store, ids["first"], Label(evalReady=True, evalNotes="Theirs."))
    page.locator("#notes").blur()
    expect(page.locator(".contested")).to_contain_text("Theirs.")
    expect(page.locator("#notes")).to_have_value("Mine.")
    page.get_by_role("button", name="Take what is on disk").click()
    expect(page.locator("#notes")).to_have_value("Theirs.")
    assert read_label(store, ids["first"]).evalNotes == "Theirs."
    assert all("409" in problem or "ERR_FAILED" in problem for problem in problems)
    problems.clear()


@pytest.mark.full
def test_a_refused_status_is_told_until_something_else_happens(
    page: Page, viewer: Viewer, store: SessionStore, ids: Ids, problems: list[str]
) -> None:
    open_page(page, viewer, f"sessions/{ids['first']}.html")
    page.route("**/label", lambda route: route.continue_() if route.request.method == "POST" else route.abort())
    write_label(store, ids["first"], Label(evalReady=True, evalStatus=SessionStatus.CORRECT))
    page.keyboard.press("1")
    expect(page.locator("#label .banner")).to_contain_text("changed in the meantime")
    expect(page.locator("#status-correct")).to_have_attribute("aria-pressed", "true")
    page.unroute("**/label")
    with page.expect_response(lambda answer: answer.request.method == "GET" and answer.url.endswith("/label")):
        pass
    expect(page.locator("#label .banner")).to_contain_text("changed in the meantime")
    page.keyboard.press("1")
    expect(page.locator("#status-golden")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#label .banner")).to_have_count(0)
    assert read_label(store, ids["first"]).evalStatus is SessionStatus.GOLDEN
    assert all("409" in problem or "ERR_FAILED" in problem for problem in problems)
    problems.clear()


@pytest.mark.full
def test_the_last_reply_is_taken_as_expected(page: Page, viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    open_page(page, viewer, f"sessions/{ids['second']}.html")
    page.locator("#expected").fill("Something else")
    page.get_by_role("button", name="Take the last reply").click()
    expect(page.locator("#expected")).to_have_value("It is second.")
    until(page, lambda: read_label(store, ids["second"]).expectedOutput == "It is second.")


@pytest.mark.full
def test_a_server_that_has_stopped_loses_nothing(
    page: Page, viewer: Viewer, store: SessionStore, ids: Ids, problems: list[str]
) -> None:
    open_page(page, viewer, f"sessions/{ids['first']}.html")
    page.route("**/label", lambda route: route.abort())
    page.locator("#notes").fill("Too late.")
    page.locator("#notes").blur()
    expect(page.locator(".banner.live")).to_contain_text("not saved")
    expect(page.locator("#notes")).to_have_value("Too late.")
    page.unroute("**/label")
    page.locator("#notes").press("End")
    page.locator("#notes").type(" Not yet.")
    until(page, lambda: read_label(store, ids["first"]).evalNotes == "Too late. Not yet.")
    expect(page.locator(".banner.live")).to_have_count(0)
    assert all("ERR_" in problem for problem in problems)
    problems.clear()


@pytest.mark.full
def test_some_or_all_are_exported(page: Page, viewer: Viewer) -> None:
    open_page(page, viewer, "sessions.html")
    export = page.get_by_role("button", name="Export")
    expect(export).to_be_disabled()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("[data-count]")).to_have_text("1 selected")
    page.get_by_label("Format").select_option("openai")
    with page.expect_download() as begun:
        export.click()
    assert begun.value.suggested_filename == "sessions.jsonl"
    assert begun.value.path().read_text().count("\n") == 1
    page.get_by_label("Select all 3").check()
    expect(page.locator("[data-count]")).to_have_text("3 selected")
    with page.expect_download() as begun:
        export.click()
    assert begun.value.path().read_text().count("\n") == 3
    page.locator("input[name=id]").first.uncheck()
    expect(page.locator("[data-count]")).to_have_text("2 selected")
    expect(page.get_by_label("Select all 3")).not_to_be_checked()


@pytest.mark.full
def test_filters_are_chosen_and_kept_on_the_way_through(page: Page, viewer: Viewer, ids: Ids) -> None:
    open_page(page, viewer, "sessions.html")
    page.get_by_label("Tag").select_option("crons")
    page.wait_for_url("**/sessions.html?*tag=crons")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody a").click()
    page.wait_for_url(f"**/{ids['first']}.html?tag=crons")
    page.locator("html.js").wait_for()
    page.keyboard.press("u")
    page.wait_for_url("**/sessions.html?tag=crons")


@pytest.mark.full
def test_all_of_it_works_without_javascript(new_page: NewPage, viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(f"{viewer.writing_address}sessions/{ids['first']}.html")
    page.get_by_role("button", name="golden").click()
    page.get_by_label("Notes").fill("Without scripts.\nTwo lines.")
    page.get_by_role("button", name="Save notes").click()
    page.get_by_label("Tag", exact=True).fill("auth")
    page.get_by_label("Tag", exact=True).press("Enter")
    page.get_by_role("button", name="crons").click()
    page.get_by_role("button", name="Take the last reply").click()
    expect(page.get_by_label("Expected output")).to_have_value("It is first.")
    label = read_label(store, ids["first"])
    assert (label.evalStatus, label.evalTags) == (SessionStatus.GOLDEN, ("auth",))
    assert label.evalNotes == "Without scripts.\nTwo lines.\n"
    page.goto(f"{viewer.writing_address}sessions.html")
    page.get_by_label("Select all").check()
    with page.expect_download() as begun:
        page.get_by_role("button", name="Export").click()
    assert len(json.loads(begun.value.path().read_text())) == 3


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_every_screen_and_stand_in_nobodys_way(
    new_page: NewPage, viewer: Viewer, ids: Ids, scheme: str
) -> None:
    places = ["sessions.html", "sessions.html?ready=no", *(f"sessions/{each}.html" for each in ids.values())]
    for width, height in SCREENS:
        page = new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        for place in places:
            open_page(page, viewer, place)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (place, width)
            if width == SCREENS[0][0]:
                assert violations(page) == [], place


@pytest.mark.full
def test_a_hostile_session_is_inert(page: Page, viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    label = Label(evalNotes=f"{XSS}\n{BIDI}", expectedOutput=XSS)
    write_label(store, ids["hostile"], label)
    for place in ("sessions.html?ready=no", f"sessions/{ids['hostile']}.html"):
        open_page(page, viewer, place)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        page.wait_for_timeout(200)
        # A field shows what is in the file: what is spelled out would be saved so.
        page.evaluate("document.querySelectorAll('textarea').forEach(one => one.remove())")
        check_inert(page, place)
    assert read_label(store, ids["hostile"]) == label
