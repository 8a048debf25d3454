"""`cli models discover`: from a list over HTTP or in a file to a patch that git applies."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.models.catalog import Catalog, load_catalog
from convex_evals.models.discover import new_offers, read_offers, with_entries
from convex_evals.records.human import parse_human
from convex_evals.records.models import ModelEntry, ModelsFile
from tests.conftest import Invoke
from tests.factories import make_eval, make_git_repo, write_files
from tests.loopback import serving

DAY = date(2026, 11, 20)


def row(name: str, **other: Any) -> dict[str, Any]:
    """As https://openrouter.ai/docs/api-reference/list-available-models has it."""
    return {
        "id": name,
        "name": f"Maker: {name.partition('/')[2].title()}",
        "created": int(datetime(2026, 11, 20, 9, tzinfo=UTC).timestamp()),
        "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
        "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
        "top_provider": {"context_length": 200_000, "max_completion_tokens": 64_000},
        **other,
    }


def listed(*rows: Any) -> str:
    return json.dumps({"data": rows})


def names(*rows: Any) -> list[str]:
    return [offer.entry.slug for offer in read_offers(listed(*rows).encode(), "list.json")]


def test_a_model() -> None:
    [offer] = read_offers(listed(row("anthropic/claude-9")).encode(), "list.json")
    assert offer.provider == "anthropic" and offer.first_seen == DAY
    assert offer.entry.model_dump(exclude_defaults=True) == {
        "slug": "openrouter/anthropic/claude-9",
        "name": "Claude-9",
        "price": {"input": 3.0, "output": 15.0, "cached": 0.3},
        "most_output_tokens": 64_000,
        "first_seen": DAY,
    }


@pytest.mark.parametrize(
    "other",
    [
        row("anthropic/claude-9:free"),
        row("openrouter/auto"),
        row("a/painter", architecture={"output_modalities": ["image", "text"]}),
        row("a/speaker", architecture={"output_modalities": ["audio"]}),
        row("a/x", created=None),
        row("a/x", created=1e30),
        row("a/x", created=10**30),
        row("a/x", architecture=None),
        row("a/x", pricing={"prompt": "-1", "completion": "-1"}),
        row("a/x", pricing={"prompt": "x", "completion": "1"}),
        row("../../x"),
        row("a/b/c"),
        row("a/x\ny"),
        "text",
        None,
        [],
    ],
)
def test_what_cannot_be_asked_is_left_out(other: Any) -> None:
    assert names(other, row("a/b")) == ["openrouter/a/b"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"data": 1}', "<html>", "[" * 100_000])
def test_what_is_no_list_is_one_line(text: str) -> None:
    with pytest.raises(UserError, match="not a list of models") as error:
        read_offers(text.encode(), "list.json")
    assert "\n" not in str(error.value)


def found(*slugs: str, since: date = DAY, providers: tuple[str, ...] = ()) -> list[str]:
    own = (ModelEntry(slug="anthropic/claude-opus-5-5"), ModelEntry(slug="gemini/gemini-3.8-flash"))
    offers = read_offers(listed(*map(row, slugs)).encode(), "list.json")
    return [offer.entry.slug for offer in new_offers(offers, Catalog(own, ()), since, providers)]


def test_only_new_ones() -> None:
    assert found("anthropic/claude-opus-5.5", "anthropic/claude-9") == ["openrouter/anthropic/claude-9"]
    assert found("google/gemini-3.8-flash", "google/gemini-9") == ["openrouter/google/gemini-9"]
    assert found("unheard/of") == []
    assert found("unheard/of", providers=("unheard",)) == ["openrouter/unheard/of"]
    assert found("anthropic/claude-9", since=date(2026, 11, 21)) == []


SETTINGS = st.sampled_from(
    [
        None,
        "",
        "models: []\n",
        "models:\n",
        "# ours\nmodels:\n  - {slug: a/b}\n",
        "models:\n- slug: a/b\n  tags: [x]",
        "models:\n    - slug: a/b\n",
    ]
)


@given(SETTINGS, st.lists(st.sampled_from(["a/c", "d/e", "f/g-1.5"]), unique=True, min_size=1))
def test_entries_stand_behind_those_that_are_there(text: str | None, slugs: list[str]) -> None:
    offers = read_offers(listed(*map(row, slugs)).encode(), "list.json")
    before = parse_human(text, Path("models.yaml"), ModelsFile).models if text and "slug" in text else ()
    after = parse_human(with_entries(text, offers), Path("models.yaml"), ModelsFile).models
    assert after == (*before, *(offer.entry for offer in offers))


@contextmanager
def served(body: bytes, status: int = 200, location: str | None = None) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            if location:
                self.send_header("location", location)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}/api/v1/models"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    make_eval(tmp_path, "000-fundamentals/000-eval")
    return write_files(tmp_path, {"models.yaml": "models:\n  - {slug: anthropic/claude-8}\n"})


LIST = listed(row("anthropic/claude-9"), row("anthropic/claude-8"), row("unheard/of"))
PATCH = """--- a/models.yaml
+++ b/models.yaml
@@ -1,2 +1,7 @@
 models:
   - {slug: anthropic/claude-8}
+  - slug: openrouter/anthropic/claude-9
+    name: Claude-9
+    most_output_tokens: 64000
+    first_seen: 2026-11-20
+    price: {input: 3.0, output: 15.0, cached: 0.3}
"""


def test_a_patch_that_git_applies(invoke: Invoke, home: Path) -> None:
    make_git_repo(home)
    with served(LIST.encode()) as url:
        result = invoke("models", "discover", "--from", url, "--since", "2026-11-01", cwd=home)
    assert (result.status, result.out, result.err) == (0, PATCH, "")
    subprocess.run(["git", "apply"], cwd=home, input=result.out, text=True, check=True)
    assert [entry.slug for entry in load_catalog(home).own] == ["anthropic/claude-8", "openrouter/anthropic/claude-9"]
    again = invoke("models", "discover", "--from", write(home, LIST), "--since", "2026-11-01", cwd=home)
    assert (again.status, again.out, again.err) == (0, "No new model since 2026-11-01.\n", "")


def test_from_a_file_and_written(invoke: Invoke, home: Path) -> None:
    path = write(home, LIST)
    result = invoke("models", "discover", "--from", path, "--since", "2026-11-01", "--json", cwd=home)
    assert [each["first_seen"] for each in json.loads(result.out)] == ["2026-11-20"]
    result = invoke("models", "discover", "--from", path, "--since", "2026-11-01", "--write", cwd=home)
    assert result.out == "Added 1 model to models.yaml; review it with `git diff`.\n"
    assert load_catalog(home).own[1].price is not None


def write(home: Path, text: str) -> Path:
    return write_files(home, {"list.json": text}) / "list.json"


@pytest.mark.parametrize(
    ("status", "location", "words"),
    [(500, None, "answered with status 500"), (302, "http://127.0.0.1:1/", "HTTP 302")],
)
def test_faults_are_one_line(invoke: Invoke, home: Path, status: int, location: str | None, words: str) -> None:
    with served(b"{}", status, location) as url:
        result = invoke("models", "discover", "--from", url, cwd=home)
    assert result.status == 1 and words in result.err and result.err.count("\n") == 1


def test_nobody_answers(invoke: Invoke, home: Path) -> None:
    result = invoke("models", "discover", "--from", "http://127.0.0.1:9/", cwd=home)
    assert result.status == 1 and "check the address and the network" in result.err and result.err.count("\n") == 1
    result = invoke("models", "discover", "--from", "nowhere.json", cwd=home)
    assert result.status == 1 and "nowhere.json" in result.err and result.err.count("\n") == 1
