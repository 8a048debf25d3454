"""Sessions in `cli view`, over real HTTP: what is listed, shown, saved, exported, and refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from convex_evals.records.session import Label, SessionStatus
from convex_evals.sessions.exporting import export
from convex_evals.sessions.exports import EXPORTS
from convex_evals.sessions.labels import read_label, write_label
from convex_evals.sessions.store import SessionStore
from convex_evals.site.pages.session import digests
from convex_evals.site.review import PART
from convex_evals.site.server import Viewer
from convex_evals.site.session_view import SessionView
from tests.conftest import Invoke
from tests.factories import edit_json, make_eval
from tests.sessions.chats import Chat, chat
from tests.site.reviewed import Ids, store_chats
from tests.site.served import ask, serving

GOLDEN = Label(evalReady=True, evalStatus=SessionStatus.GOLDEN, evalTags=("auth", "crons"), evalNotes="Short.")
LABELS = {
    "golden": GOLDEN,
    "correct": Label(evalReady=True, evalStatus=SessionStatus.CORRECT, evalTags=("crons",)),
    "open": Label(evalReady=True),
    "later": Label(evalReady=True),
    "hidden": Label(evalStatus=SessionStatus.GOLDEN),
}
FORM_HEADERS = {PART: "label"}


def tools_chat() -> Chat:
    """A conversation with everything that a page folds."""
    call = {"file_path": "convex/files.ts", "old_string": "store(bytes)", "new_string": "const a = 1;\nstore(blob)"}
    return {
        "id": "tools",
        "messages": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "Fix the **upload**."},
            {
                "role": "assistant",
                "content": "I edit it.",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "Edit", "arguments": json.dumps(call)}},
                    {"id": "b", "type": "function", "function": {"name": "Odd", "arguments": "not JSON <b>"}},
                ],
            },
            {"role": "tool", "tool_call_id": "a", "name": "Edit", "content": "edited"},
            {"role": "assistant", "content": "```ts\nconst done = true;\n```"},
        ],
    }


@pytest.fixture
def stored(tmp_path: Path) -> tuple[SessionStore, Ids]:
    make_eval(tmp_path)
    chats = [chat(f"What is {name}?", f"It is {name}.", id=name) for name in LABELS]
    return store_chats(tmp_path, [*chats, tools_chat()], LABELS)


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


def get(viewer: Viewer, place: str, status: int = 200) -> str:
    found, _, body = ask(viewer, f"/{viewer.token}/{place}")
    assert found == status, body
    return body


def titles(page: str) -> set[str]:
    return set(re.findall(r'<th scope="row"><a [^>]*>What is (\w+)\?</a>', page))


def save(
    viewer: Viewer, store: SessionStore, session_id: str, field: str, /, is_script: str = "yes", **fields: str
) -> tuple[int, str]:
    """Send a form as the page has it; status and body."""
    form = {"field": field, "was": digests(read_label(store, session_id))[field], **fields}
    place = f"/{viewer.token}/sessions/{session_id}/label"
    status, _, body = ask(viewer, place, FORM_HEADERS if is_script else None, form)
    return status, body


def test_only_sessions_that_are_evals_are_listed(viewer: Viewer) -> None:
    page = get(viewer, "sessions.html")
    assert titles(page) == {"golden", "correct", "open", "later"}
    assert "Evals (4)" in page and "Other sessions (2)" in page and "needs review (2)" in page
    assert titles(get(viewer, "sessions.html?ready=no")) == {"hidden"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("status=golden", {"golden"}),
        ("tag=crons", {"golden", "correct"}),
        ("tag=crons&status=correct", {"correct"}),
        ("q=IT+is+open", {"open"}),
        ("q=nothing+like+it", set()),
        ("tag=no+such+tag", set()),
        ("status=excellent&page=many&other=1", {"golden", "correct", "open", "later"}),
        ("page=999", {"golden", "correct", "open", "later"}),
    ],
)
def test_the_list_is_filtered_by_the_address(viewer: Viewer, query: str, expected: set[str]) -> None:
    assert titles(get(viewer, f"sessions.html?{query}")) == expected


def test_a_view_is_its_query() -> None:
    view = SessionView(False, SessionStatus.GOLDEN, "a b", "x&y", 3)
    assert view.query == "?ready=no&status=golden&tag=a+b&q=x%26y&page=3"
    assert SessionView.of(view.fields()) == view and SessionView.of({}).query == ""
    assert view.but(tag="").page == 1


def test_many_sessions_have_several_pages(tmp_path: Path) -> None:
    make_eval(tmp_path)
    chats = [chat(f"What is n{number}?", "It.", id=f"n{number}") for number in range(205)]
    store_chats(tmp_path, chats, {str(each["id"]): Label(evalReady=True) for each in chats})
    with serving(tmp_path) as viewer:
        pages = [titles(get(viewer, f"sessions.html?page={number}")) for number in (1, 2, 3)]
        assert [len(page) for page in pages] == [100, 100, 5]
        assert len(set.union(*pages)) == 205
        last = get(viewer, "sessions.html?page=4")
        assert titles(last) == pages[2] and "Page 3 of 3" in last and 'rel="next"' not in last
        form = {"all": "yes", "format": "openai"}
        assert ask(viewer, f"/{viewer.token}/sessions/export", form=form)[2].count("\n") == 205


def test_without_sessions_the_page_says_how_to_import_some(tmp_path: Path) -> None:
    make_eval(tmp_path)
    with serving(tmp_path) as viewer:
        assert "cli sessions import" in get(viewer, "sessions.html")
        assert not (tmp_path / "sessions").exists()


@pytest.mark.parametrize("place", ["sessions.html", "sessions/{id}.html", "sessions/{id}/label", "sessions/export"])
def test_nothing_of_sessions_is_told_without_the_token(viewer: Viewer, ids: Ids, place: str) -> None:
    path = "/" + place.format(id=ids["golden"])
    status, headers, body = ask(viewer, path)
    assert status == 403 and "has a token" in body and "golden" not in body
    assert ask(viewer, f"/{'x' * len(viewer.token)}{path}")[0] in (403, 404)
    assert ask(viewer, path, form={"all": "yes", "format": "openai"})[0] == 403
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("place", ["sessions/export", "sessions/mark", "sessions/{id}/label"])
def test_other_pages_can_neither_write_nor_export(viewer: Viewer, store: SessionStore, ids: Ids, place: str) -> None:
    form = {"all": "yes", "format": "openai", "mark": "no", "field": "evalReady", "value": "false"}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": ""},
        {"Host": "evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        path = f"/{viewer.token}/{place.format(id=ids['golden'])}"
        assert ask(viewer, path, headers, form)[0] == 403
    assert read_label(store, ids["golden"]) == GOLDEN


@pytest.mark.parametrize("name", ["0" * 20, "x", "../../etc/passwd", "%2e%2e%2fetc", "1" * 5000])
def test_what_is_no_session_is_not_found(viewer: Viewer, name: str) -> None:
    for place in (f"sessions/{name}.html", f"sessions/{name}/label"):
        assert ask(viewer, f"/{viewer.token}/{place}")[0] == 404
    assert ask(viewer, f"/{viewer.token}/sessions/{name}/label", form={"field": "evalReady"})[0] == 404


def test_a_session_is_shown_in_order_with_what_is_long_folded(viewer: Viewer, ids: Ids) -> None:
    page = get(viewer, f"sessions/{ids['tools']}.html")
    heads = [
        "<summary>system",
        "<h2>User",
        "<h2>Assistant",
        "calls Edit",
        "calls Odd",
        "Edit returned",
        "const</i> done",
    ]
    places = [page.index(head) for head in heads]
    assert places == sorted(places)
    assert "Fix the <strong>upload</strong>." in page
    assert "not JSON &lt;b&gt;" in page
    assert "<small>convex/files.ts</small>" in page
    # An argument of several lines has a block of its own, with the colours of the file's language.
    assert "<code>new_string</code>" in page and '<i class="k">const</i> a = <i class="n">1</i>' in page
    assert "<code>old_string</code>" not in page and "old_string" in page


def test_a_long_session_has_several_pages_and_is_cut_nowhere_else(tmp_path: Path) -> None:
    make_eval(tmp_path)
    texts = [f"text number {number}." for number in range(450)]
    _, ids = store_chats(tmp_path, [chat(*texts, id="long")], {})
    with serving(tmp_path) as viewer:
        pages = [get(viewer, f"sessions/{ids['long']}.html?from={start}") for start in (1, 201, 401)]
        found = [re.findall(r"text number (\d+)\.</p>", page) for page in pages]
        assert [int(number) for page in found for number in page] == list(range(450))
        assert "201–400" in pages[0] and "from=401" in pages[0]
        assert get(viewer, f"sessions/{ids['long']}.html?from=99999") == pages[0]


def test_pages_lead_to_the_next_session_that_needs_review(viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    listed = re.findall(r'<a href="sessions/([0-9a-f]{20})\.html">', get(viewer, "sessions.html"))
    assert set(listed) == {ids[name] for name in LABELS if name != "hidden"}
    seen, place = set(), ids["golden"]
    for _ in range(2):
        page = get(viewer, f"sessions/{place}.html")
        place = re.findall(r'data-key="n" href="([0-9a-f]{20})\.html"', page)[0]
        seen.add(place)
        assert save(viewer, store, place, "evalStatus", value="correct")[0] == 200
    assert seen == {ids["open"], ids["later"]}
    assert "No other session is left to review." in get(viewer, f"sessions/{place}.html")
    page = get(viewer, f"sessions/{ids['golden']}.html?tag=crons")
    assert f"{ids['correct']}.html?tag=crons" in page


@pytest.mark.parametrize(
    ("field", "fields", "name", "value"),
    [
        ("evalStatus", {"value": "incorrect"}, "evalStatus", SessionStatus.INCORRECT),
        ("evalReady", {"value": "false"}, "evalReady", False),
        ("evalTags", {"value": "new, more"}, "evalTags", ("auth", "crons", "more", "new")),
        ("evalTags", {"value": "", "untag": "auth"}, "evalTags", ("crons",)),
        ("evalNotes", {"value": "One.\r\nTwo.\r\n\r\n"}, "evalNotes", "One.\nTwo.\n"),
        ("evalNotes", {"value": ""}, "evalNotes", ""),
        ("expectedOutput", {"value": "```ts\r\nx\r\n```"}, "expectedOutput", "```ts\nx\n```"),
        ("expectedOutput", {"value": " \r\n"}, "expectedOutput", None),
        ("expectedOutput", {"value": "x", "take": "last"}, "expectedOutput", "It is golden."),
    ],
)
@pytest.mark.parametrize("is_script", ["yes", ""])
def test_a_field_is_saved_at_once(
    viewer: Viewer,
    store: SessionStore,
    ids: Ids,
    field: str,
    fields: dict[str, str],
    name: str,
    value: object,
    is_script: str,
) -> None:
    status, body = save(viewer, store, ids["golden"], field, is_script, **fields)
    assert status == (200 if is_script else 303)
    assert not is_script or body.lstrip().startswith('<aside class="card label"')
    after = read_label(store, ids["golden"])
    assert getattr(after, name) == value
    unchanged = {"reviewedAt"} if field == "evalStatus" else set()
    assert after.model_dump(exclude={name, *unchanged}) == GOLDEN.model_dump(exclude={name, *unchanged})
    assert (after.reviewedAt is not None) == (field == "evalStatus")


def test_what_was_changed_elsewhere_is_shown_and_not_overwritten(viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    was = digests(GOLDEN)["evalNotes"]
    write_label(store, ids["golden"], GOLDEN.model_copy(update={"evalNotes": "Theirs."}))
    before = store.label_path(ids["golden"]).read_bytes()
    status, body = save(viewer, store, ids["golden"], "evalNotes", was=was, value="Mine.")
    assert status == 409 and "changed in the meantime" in body and "Theirs." in body
    status, body = save(viewer, store, ids["golden"], "evalNotes", "", was=was, value="Mine.")
    assert status == 409 and "Mine." in body and "Theirs." in body
    assert store.label_path(ids["golden"]).read_bytes() == before


def test_a_change_of_another_field_is_no_conflict(viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    was = digests(GOLDEN)["evalNotes"]
    write_label(store, ids["golden"], GOLDEN.model_copy(update={"evalTags": ("theirs",)}))
    assert save(viewer, store, ids["golden"], "evalNotes", was=was, value="Mine.")[0] == 200
    after = read_label(store, ids["golden"])
    assert (after.evalNotes, after.evalTags) == ("Mine.", ("theirs",))
    assert save(viewer, store, ids["golden"], "evalNotes", was="old", value="Mine.")[0] == 200, "it says so already"


@pytest.mark.parametrize(
    ("field", "fields", "status", "problem"),
    [
        ("evalTags", {"value": "*"}, 409, "is not a tag"),
        ("evalTags", {"value": "x" * 100}, 409, "is not a tag"),
        ("evalNotes", {"value": "x" * 400_000}, 409, "longer than"),
        ("evalStatus", {"value": "perfect"}, 400, "not a form"),
        ("reviewedAt", {"value": "1"}, 400, "not a form"),
        ("evalReady", {"value": "maybe"}, 400, "not a form"),
    ],
)
def test_what_cannot_be_saved_is_said(
    viewer: Viewer, store: SessionStore, ids: Ids, field: str, fields: dict[str, str], status: int, problem: str
) -> None:
    before = store.label_path(ids["golden"]).read_bytes()
    found, body = save(viewer, store, ids["golden"], field, **fields)
    assert (found, problem in body) == (status, True)
    assert store.label_path(ids["golden"]).read_bytes() == before


def test_a_session_without_an_answer_has_no_last_reply(tmp_path: Path) -> None:
    make_eval(tmp_path)
    store, ids = store_chats(tmp_path, [chat("Anybody there?", id="alone")], {})
    with serving(tmp_path) as viewer:
        status, body = save(viewer, store, ids["alone"], "expectedOutput", value="", take="last")
        assert status == 409 and "nothing was answered" in body
        assert not store.label_path(ids["alone"]).exists()


def test_scripts_get_the_label_alone_and_only_if_it_is_another(viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    place = f"/{viewer.token}/sessions/{ids['golden']}/label"
    status, headers, body = ask(viewer, place)
    assert status == 200 and "<html" not in body and "Short." in body
    assert ask(viewer, place, {"If-None-Match": headers["etag"]})[0] == 304
    write_label(store, ids["golden"], GOLDEN.model_copy(update={"evalNotes": "Longer."}))
    assert "Longer." in ask(viewer, place, {"If-None-Match": headers["etag"]})[2]


@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "hf"])
def test_what_is_ticked_is_downloaded(viewer: Viewer, store: SessionStore, ids: Ids, name: str) -> None:
    chosen = [ids["correct"], ids["golden"]]
    form: dict[str, str | list[str]] = {"format": name, "id": [*chosen, ids["hidden"], "0" * 20]}
    status, headers, found = ask(viewer, f"/{viewer.token}/sessions/export", form=form)
    assert status == 200
    assert headers["content-disposition"] == f'attachment; filename="sessions.{EXPORTS[name].suffix}"'
    assert headers["cache-control"] == "no-store"
    listed = re.findall(r'name="id" value="([0-9a-f]{20})"', get(viewer, "sessions.html"))
    assert found.encode() == b"".join(export(store, [each for each in listed if each in chosen], name))


def test_all_of_a_view_is_downloaded(viewer: Viewer, ids: Ids) -> None:
    form = {"all": "yes", "format": "openai", "tag": "crons", "status": "golden"}
    status, headers, body = ask(viewer, f"/{viewer.token}/sessions/export", form=form)
    assert status == 200 and 'filename="sessions-golden.jsonl"' in headers["content-disposition"]
    assert [json.loads(line)["messages"][0]["content"] for line in body.splitlines()] == ["What is golden?"]


def test_an_export_of_nothing_is_refused(viewer: Viewer, ids: Ids) -> None:
    for form in ({"format": "openai"}, {"format": "openai", "id": ids["hidden"]}):
        status, headers, body = ask(viewer, f"/{viewer.token}/sessions/export", form=form)
        assert status == 400 and "No session is selected" in body and "content-disposition" not in headers
    assert ask(viewer, f"/{viewer.token}/sessions/export", form={"all": "yes", "format": "exe"})[0] == 400


def test_sessions_become_evals_and_stop_being_them(viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    place = f"/{viewer.token}/sessions/mark"
    status, headers, _ = ask(viewer, place, form={"mark": "yes", "ready": "no", "id": ids["hidden"]})
    assert (status, headers["location"]) == (303, "../sessions.html?ready=no")
    assert read_label(store, ids["hidden"]) == LABELS["hidden"].model_copy(update={"evalReady": True})
    ask(viewer, place, form={"mark": "no", "all": "yes", "tag": "crons"})
    assert titles(get(viewer, "sessions.html")) == {"open", "later", "hidden"}
    assert ask(viewer, place, form={"all": "yes"})[0] == 400


def test_a_broken_label_is_said_and_not_overwritten(viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    path = store.label_path(ids["golden"])
    path.write_text("evalStatus: excellent\n")
    page = get(viewer, f"sessions/{ids['golden']}.html")
    assert f"{path.name}:1" in page and "It is golden." in page and 'name="field"' not in page
    place = f"/{viewer.token}/sessions/{ids['golden']}/label"
    status, _, body = ask(viewer, place, FORM_HEADERS, {"field": "evalStatus", "value": "golden", "was": "x"})
    assert status == 409 and f"{path.name}:1" in body
    assert path.read_text() == "evalStatus: excellent\n"
    listed = get(viewer, "sessions.html")
    assert titles(listed) == {"correct", "open", "later"} and f"Not shown: {path}" in unescape(listed)
    assert ask(viewer, f"/{viewer.token}/sessions/export", form={"all": "yes", "format": "openai"})[0] == 400


def test_a_broken_session_is_one_line_on_its_page(viewer: Viewer, store: SessionStore, ids: Ids) -> None:
    edit_json(store.folder(ids["golden"]) / "session.json", schema=99)
    assert "session.json" in get(viewer, f"sessions/{ids['golden']}.html", 500)
    (store.folder(ids["correct"]) / "messages.jsonl").write_text("{}\n")
    assert "messages.jsonl:1" in get(viewer, f"sessions/{ids['correct']}.html", 500)


def test_no_site_has_sessions(store: SessionStore, invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("site", tmp_path / "out", cwd=store.root).status == 0
    pages = list((tmp_path / "out").rglob("*.html"))
    assert pages and not [page for page in pages if "sessions" in page.read_text(encoding="utf-8")]
