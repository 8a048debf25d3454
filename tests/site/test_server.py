"""`cli view` over real HTTP: who may read, who may write, and what a write changes."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from convex_evals.site.server import Viewer, open_socket
from tests import patience
from tests.conftest import ROOT
from tests.site.made import add_run
from tests.site.served import ask, serving

REPORT = "reports/zeta/gamma/default-21000000_2026-01-21"


@pytest.fixture(scope="module")
def viewer(suite: Path) -> Iterator[Viewer]:
    with serving(suite) as found:
        yield found


def test_pages_come_with_a_policy_and_are_sent_once(viewer: Viewer) -> None:
    status, headers, body = ask(viewer, "/")
    assert status == 200 and "Leaderboard" in body
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "same-origin" and headers["x-content-type-options"] == "nosniff"
    assert ask(viewer, "/", {"If-None-Match": headers["etag"]})[0] == 304
    assert ask(viewer, "/assets/pages.css")[1]["content-type"].startswith("text/css")


@pytest.mark.parametrize(
    "path",
    ["/nothing.html", "/assets/../server.py", "/assets/%2e%2e/server.py", "/assets/nothing.js", "/..%2f..%2fetc/passwd",
     "/runs/%00/x.html", "/%ff%fe", "/index.html/"],
)  # fmt: skip
def test_what_is_no_page_is_not_found(viewer: Viewer, path: str) -> None:
    assert ask(viewer, path)[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
def test_other_names_for_this_machine_are_refused(viewer: Viewer, host: str) -> None:
    status, _, body = ask(viewer, "/", {"Host": host.format(port=viewer.port)} if host else {"Host": " "})
    assert status in (400, 403) and "Leaderboard" not in body


def test_localhost_is_this_machine(viewer: Viewer) -> None:
    assert ask(viewer, "/", {"Host": f"LocalHost:{viewer.port}"})[0] == 200


def form_of(viewer: Viewer) -> dict[str, str]:
    """The fields of the first form of the report."""
    page = ask(viewer, f"/{viewer.token}/{REPORT}.html")[2]
    assert page.count("<form") > 2
    form = page.partition("<form")[2].partition("</form>")[0]
    fields = dict(re.findall(r'name="(place|digest)" value="([0-9a-f]+)"', form))
    text = unescape(form.partition("<textarea")[2].partition(">\n")[2].partition("</textarea>")[0])
    return {**fields, "text": text}


def test_forms_are_shown_below_the_token_alone(viewer: Viewer) -> None:
    assert "<form" not in ask(viewer, f"/{REPORT}.html")[2].partition("<main")[2]
    assert "<form" not in ask(viewer, f"/{'x' * len(viewer.token)}/{REPORT}.html")[2]
    assert "<form" in ask(viewer, f"/{viewer.token}/{REPORT}.html")[2]


def test_what_is_written_changes_the_bytes_of_its_place_alone(viewer: Viewer, suite: Path) -> None:
    path = suite / f"{REPORT}.md"
    before = path.read_bytes()
    form = {**form_of(viewer), "text": "Twice the same mistake.\r\n\r\nSee <b>above</b>."}
    status, headers, _ = ask(viewer, f"/{viewer.token}/{REPORT}.html", form=form)
    assert status == 303 and headers["location"].endswith(f"#place-{form['place']}")
    after = path.read_bytes()
    written = b"Twice the same mistake.\n\nSee <b>above</b>.\n"
    assert after.count(written) == 1 and len(after) - len(written) in (len(before), len(before) - 1)
    head, _, tail = after.partition(written)
    assert before.startswith(head) and before.endswith(tail)
    assert "Twice the same mistake." in ask(viewer, f"/{REPORT}.html")[2]
    assert "&lt;b&gt;above" in ask(viewer, f"/{REPORT}.html")[2]


def test_what_was_edited_elsewhere_is_shown_and_not_overwritten(viewer: Viewer, suite: Path) -> None:
    path = suite / f"{REPORT}.md"
    form = form_of(viewer)
    edited = path.read_text().replace("<!-- human: notes -->\n", "<!-- human: notes -->\nSomebody else's.\n")
    path.write_text(edited)
    status, _, page = ask(viewer, f"/{viewer.token}/{REPORT}.html", form={**form, "text": "Mine."})
    assert status == 409 and "Mine." in page and "Somebody else&#39;s." in page
    assert path.read_text() == edited


def test_saving_what_is_there_changes_nothing(viewer: Viewer, suite: Path) -> None:
    before = (suite / f"{REPORT}.md").read_bytes()
    assert ask(viewer, f"/{viewer.token}/{REPORT}.html", form=form_of(viewer))[0] == 303
    assert (suite / f"{REPORT}.md").read_bytes() == before


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Host": "evil.example"}, 403),
    ],
)
def test_other_pages_cannot_write(viewer: Viewer, suite: Path, headers: dict[str, str], status: int) -> None:
    before = (suite / f"{REPORT}.md").read_bytes()
    form = {**form_of(viewer), "text": "Not mine."}
    assert ask(viewer, f"/{viewer.token}/{REPORT}.html", headers, form)[0] == status
    assert (suite / f"{REPORT}.md").read_bytes() == before


def test_nothing_is_written_without_the_token(viewer: Viewer, suite: Path) -> None:
    before = (suite / f"{REPORT}.md").read_bytes()
    form = {**form_of(viewer), "text": "Not mine."}
    assert ask(viewer, f"/{REPORT}.html", form=form)[0] == 403
    assert ask(viewer, f"/{'x' * len(viewer.token)}/{REPORT}.html", form=form)[0] == 403
    assert (suite / f"{REPORT}.md").read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"text": "<!-- /human -->"}, 409),
        ({"text": "<!-- human: notes -->"}, 409),
        ({"text": "x" * 200_000}, 409),
        ({"text": "a\x1bb"}, 409),
        ({"text": "a\u202eb\x00"}, 409),
        ({"place": "0" * 16}, 409),
        ({"digest": "0" * 64, "text": "Mine."}, 409),
    ],
)
def test_what_cannot_be_written_is_shown_again(
    viewer: Viewer, suite: Path, changes: dict[str, str], status: int
) -> None:
    before = (suite / f"{REPORT}.md").read_bytes()
    answer = ask(viewer, f"/{viewer.token}/{REPORT}.html", form={**form_of(viewer), **changes})
    assert answer[0] == status and "Nothing was saved" in answer[2]
    assert (suite / f"{REPORT}.md").read_bytes() == before


def test_only_reports_are_written(viewer: Viewer) -> None:
    form = {**form_of(viewer), "text": "Mine."}
    for place in ("index.html", "reports/../guidelines/convex.html", "runs.html", "reports/nothing.html"):
        assert ask(viewer, f"/{viewer.token}/{place}", form=form)[0] == 404
    assert ask(viewer, f"/{viewer.token}/{REPORT}.html", form={"text": "Mine."})[0] == 400
    assert ask(viewer, f"/{viewer.token}/{REPORT}.html", form={"text": "x" * 3_000_000})[0] == 413


def test_two_selections_are_compared_and_bad_ones_explained(viewer: Viewer) -> None:
    query = urlencode({"a": "model=alpha,experiment=no_guidelines", "b": "model=alpha,experiment=default"})
    status, _, page = ask(viewer, f"/compare.html?{query}")
    assert status == 200 and "Better" in page and "001-queries" in page
    for a, b in (("modle=x", "model=alpha"), ("/etc", "x"), ("", "default-20"), ("<script>", "model=alpha")):
        status, _, page = ask(viewer, f"/compare.html?{urlencode({'a': a, 'b': b})}")
        assert status == 200 and 'class="banner error"' in page and "<script>" not in page


def test_a_new_run_is_shown_without_a_restart(viewer: Viewer, suite: Path) -> None:
    assert "2026-01-30" not in ask(viewer, "/runs.html")[2]
    add_run(suite / "runs", "acme/beta", "2026-01-30", ["ppp", "pff", "ppp"])
    deadline = time.monotonic() + patience.seconds(20)
    while "2026-01-30" not in ask(viewer, "/runs.html")[2]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_broken_run_is_one_line_on_its_page(viewer: Viewer, suite: Path) -> None:
    folder = next((suite / "runs/acme/alpha/2026-01-10").iterdir()) / "evals/000-fundamentals/000-answer"
    grade = next(folder.glob("grade.*"))
    text = grade.read_text()
    grade.write_text(text[: len(text) // 2])
    status, _, page = ask(viewer, "/runs/acme/alpha/2026-01-10/default-10000000/000-fundamentals/000-answer.html")
    grade.write_text(text)
    assert status == 500 and "Not shown" in page and "grade." in page and "bug" not in page


def test_a_bug_leaves_a_log_and_the_next_page_is_served(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convex_evals.site.server.find_page", lambda library, place: 1 // 0)
    status, _, page = ask(viewer, "/models/acme/beta.html")
    assert status == 500 and "This is a bug in convex-evals" in page and "ZeroDivisionError" in page
    monkeypatch.undo()
    assert ask(viewer, "/models/acme/beta.html")[0] == 200


def test_a_taken_port_takes_the_next_one() -> None:
    first = open_socket(0)
    port = first.getsockname()[1]
    second = open_socket(port)
    assert port < second.getsockname()[1] <= port + 20
    first.close()
    second.close()


def test_answers_are_not_held_back() -> None:
    """Of several writes, the second would wait 40 ms for a client that asks again on the same connection."""

    async def no_delay() -> int:
        listening = open_socket(0)
        set_: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            set_.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(accepted, sock=listening):
            _, writer = await asyncio.open_connection("127.0.0.1", listening.getsockname()[1])
            found = await set_
            writer.close()
            return found

    assert asyncio.run(no_delay())


def start_view(suite: Path, ignored: tuple[int, ...] = ()) -> tuple[subprocess.Popen[str], dict[str, str]]:
    """`cli view`, started where signals are ignored, and what it says once it serves."""
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "cli.py"), "view", "--port", "0", "--no-open", "--json"],
        cwd=suite, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in ignored],
    )  # fmt: skip
    assert process.stdout is not None
    [row] = json.loads("".join(process.stdout.readline() for _ in range(6)))
    return process, row


def test_the_command_serves_until_ctrl_c(suite: Path) -> None:
    process, row = start_view(suite)
    port = int(row["url"].rpartition(":")[2].strip("/"))
    assert row["writing_url"].startswith(row["url"]) and len(row["writing_url"]) > len(row["url"]) + 30
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience.seconds(20))
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=patience.seconds(20))
    assert process.returncode == 0 and err == "Stopped.\n"


@pytest.mark.parametrize(
    ("ending", "ignored"),
    [
        pytest.param(signal.SIGINT, (signal.SIGINT, signal.SIGQUIT), id="background-ctrl-c"),
        pytest.param(signal.SIGTERM, (signal.SIGINT, signal.SIGQUIT), id="background-terminated"),
        pytest.param(signal.SIGHUP, (), id="terminal-closed"),
    ],
)
def test_the_command_ends_in_the_background_as_well(
    suite: Path, ending: signal.Signals, ignored: tuple[int, ...]
) -> None:
    process, _ = start_view(suite, ignored)
    process.send_signal(ending)
    _, err = process.communicate(timeout=patience.seconds(20))
    assert (process.returncode, err) == (0, "Stopped.\n")


def test_the_command_outlives_its_terminal_with_nohup(suite: Path) -> None:
    process, row = start_view(suite, (signal.SIGHUP,))
    process.send_signal(signal.SIGHUP)
    with contextlib.closing(
        http.client.HTTPConnection("127.0.0.1", urlsplit(row["url"]).port, timeout=patience.seconds(20))
    ) as asking:
        asking.request("GET", "/")
        assert asking.getresponse().status == 200
    process.terminate()
    _, err = process.communicate(timeout=patience.seconds(20))
    assert (process.returncode, err) == (0, "Stopped.\n")
