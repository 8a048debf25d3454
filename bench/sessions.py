"""What coding sessions cost: importing a long history, finding some among thousands, exporting all.

    python bench/sessions.py [--megabytes N] [--sessions N] [--json]

Memory is that of the command's process, for a quarter of the data and for all of it: the ratio says whether it grows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from unittest import mock

from convex_evals.records.hashes import sha256_text
from convex_evals.records.session import Label, Session, SessionStatus
from convex_evals.sessions.conversation import session_id
from convex_evals.sessions.index import SessionFilter, open_index
from convex_evals.sessions.labels import write_label
from convex_evals.sessions.message import Message
from convex_evals.sessions.store import SessionStore, to_lines
from convex_evals.site.html import Rendition, render
from convex_evals.site.pages.sessions import sessions_page
from convex_evals.site.session_view import SessionView
from scripts.command import start

ROOT = Path(__file__).parents[1]
_FILE_MIB = 4  # of a conversation: a long day's
_MOST_SECONDS = 0.5  # to list and filter
_MOST_GROWTH = 1.5
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def source_texts() -> Iterator[str]:
    """What tools brought: the files of this repository, again and again."""
    files = sorted((ROOT / "convex_evals").rglob("*.py"))
    return cycle([path.read_text(encoding="utf-8") for path in files])


def write_history(folder: Path, megabytes: float) -> None:
    """Claude Code's transcripts, a request with ten calls of tools again and again."""
    texts = source_texts()
    for number in range(max(1, round(megabytes / _FILE_MIB))):
        file = folder / "-home-ana-shop" / f"{number:08x}-0000-4000-8000-000000000000.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        size = min(megabytes, _FILE_MIB) * 1024 * 1024
        with file.open("w", encoding="utf-8") as stream:
            for record in _records(file.stem, texts):
                size -= stream.write(json.dumps(record) + "\n")
                if size <= 0:
                    break


def _records(session: str, texts: Iterator[str]) -> Iterator[dict[str, object]]:
    before = None
    for number in range(sys.maxsize):
        kind, content = _said(number, texts)
        uuid = f"{session}-{number}"
        message = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": uuid, "model": "claude-sonnet-4-5", "usage": {"input_tokens": 9000, "output_tokens": 90}}
        head = {"type": kind, "uuid": uuid, "parentUuid": before, "sessionId": session, "cwd": "/home/ana/shop"}
        yield {**head, "timestamp": (_BEGIN + timedelta(seconds=number)).isoformat(), "message": message}
        before = uuid


def _said(number: int, texts: Iterator[str]) -> tuple[str, object]:
    turn = number % 21
    if turn == 0:
        return "user", "Please read the next files and say what could be simpler."
    if turn % 2:
        return "assistant", [
            {"type": "text", "text": "I read the next one."},
            {"type": "tool_use", "id": f"call-{number}", "name": "Read", "input": {"file_path": "/home/ana/shop/a.py"}},
        ]
    return "user", [{"type": "tool_result", "tool_use_id": f"call-{number - 1}", "content": next(texts)}]


def write_sessions(store: SessionStore, count: int) -> None:
    """Half of them with a label, which are as different as people's are."""
    statuses = list(SessionStatus)
    for number in range(count):
        name = session_id("codex", str(number))
        texts = [f"Please fix number {number} " + "of many " * 100, "Done. " + "text " * 500] * 5
        messages = [Message(("user", "assistant")[at % 2], text) for at, text in enumerate(texts)]
        lines, raw = to_lines(message.to_data() for message in messages), "{}\n"
        session = Session(
            id=name,
            tool="codex",
            native_id=str(number),
            title=f"Fix {number}",
            ended_at=f"2026-{1 + number % 9:02}-01T00:00:00.000Z",
            models=("gpt-5-codex",),
            messages=len(messages),
            exchanges=5,
            messages_sha256=sha256_text(lines),
            raw_sha256=sha256_text(raw),
            source_sha256=sha256_text(raw),
            records={"message": 10},
        )
        store.write(session, lines, raw, {})
        if number % 2:
            tags = ("auth", "debugging") if number % 4 == 1 else ()
            write_label(
                store,
                name,
                Label(evalReady=True, evalStatus=statuses[number % 4], evalTags=tags, evalNotes="A note.\nOf two.\n"),
            )


def command(arguments: Sequence[str | Path], cwd: Path) -> tuple[float, float]:
    """Seconds and MiB of one `cli`. Raises `CalledProcessError`."""
    argv = [sys.executable, "-c", _MEASURED, sys.executable, ROOT / "cli.py", *arguments]
    begin = time.monotonic()
    done = subprocess.run(argv, cwd=cwd, env={**os.environ, "HOME": str(cwd)}, capture_output=True, check=True)
    return time.monotonic() - begin, int(done.stderr.split()[-1]) / 1024


# The memory of children is that of the largest so far: each command is the only child of a process of its own.
_MEASURED = (
    "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(code)"
)


def measure_import(megabytes: float, folder: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for share in (4, 1):
        place = folder / f"of-{share}"
        write_history(place / "history", megabytes / share)
        words: list[str | Path] = ["sessions", "import", "--from", "claude-code", place / "history", "--json"]
        seconds, found[f"mib_of_{share}"] = command(words, place)
    again, _ = command(words, place)
    rate = megabytes / seconds
    return {
        "megabytes": megabytes,
        "seconds": seconds,
        "megabytes_per_second": rate,
        "unchanged_seconds": again,
        "mib": found["mib_of_1"],
        "memory_growth": found["mib_of_1"] / found["mib_of_4"],
    }


def measure_finding(count: int, store: SessionStore) -> dict[str, float]:
    with mock.patch("os.fsync"):  # thousands of them, which are not what is measured
        write_sessions(store, count)
    found: dict[str, float] = {"sessions": count}

    def timed(name: str, wanted: SessionFilter) -> None:
        begin = time.monotonic()
        with open_index(store) as index:
            index.find_counted(wanted, 50)
        found[name] = time.monotonic() - begin

    timed("first_seconds", SessionFilter())
    timed("list_seconds", SessionFilter())
    timed("filter_seconds", SessionFilter(status=SessionStatus.GOLDEN, tags=("auth",), ready=True))
    timed("search_seconds", SessionFilter(search="number 4711 "))

    def timed_page(name: str, view: SessionView) -> None:
        begin = time.monotonic()
        render(sessions_page(store, view), Rendition(live=True, writes=True))
        found[name] = time.monotonic() - begin

    timed_page("first_page_seconds", SessionView())
    timed_page("page_seconds", SessionView(ready=False, page=40))
    timed_page("filtered_page_seconds", SessionView(status=SessionStatus.INCORRECT, tag="auth"))
    found["command_seconds"], _ = command(["sessions", "list", "--status", "golden"], store.root)
    return found


def measure_export(count: int, store: SessionStore, few: SessionStore) -> dict[str, float]:
    with mock.patch("os.fsync"):
        write_sessions(few, count // 4)
    words = ["sessions", "export", "--format", "openai", "--all", "-o", "all.jsonl"]
    command(words, few.root)  # which makes the index
    _, small = command(words, few.root)
    seconds, large = command(words, store.root)
    size = (store.root / "all.jsonl").stat().st_size / 1e6
    return {"megabytes": size, "seconds": seconds, "mib": large, "memory_growth": large / small}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=100, help="of history that is imported")
    parser.add_argument("--sessions", type=int, default=10_000, help="among which some are found")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stores = [SessionStore(folder / part) for part in ("all", "few")]
        for store in stores:
            (store.root / "sessions").mkdir(parents=True)
        found = {
            "import": measure_import(options.megabytes, folder),
            "find": measure_finding(options.sessions, stores[0]),
            "export": measure_export(options.sessions, *stores),
        }
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        for part, figures in found.items():
            print(f"{part:<8}", "  ".join(f"{key} {value:,.2f}" for key, value in figures.items()))
    bound = ("list_seconds", "filter_seconds", "search_seconds", "page_seconds", "filtered_page_seconds")
    slow = max(found["find"][key] for key in bound) > _MOST_SECONDS
    grows = max(found[part]["memory_growth"] for part in ("import", "export")) > _MOST_GROWTH
    return int(slow or grows)


if __name__ == "__main__":
    start(main)
