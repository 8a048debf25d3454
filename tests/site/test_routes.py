"""Every page of a small repository: it is made, its links lead somewhere, and nothing in it is raw."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from convex_evals.config import open_workspace
from convex_evals.runs.mint import mint_runs
from convex_evals.site import urls
from convex_evals.site.assets import CONTENT_TYPES
from convex_evals.site.html import Rendition, render
from convex_evals.site.library import Library
from convex_evals.site.routes import ROUTES, find_page
from convex_evals.store.benchmarks import BenchmarkFolder
from tests.conftest import ROOT
from tests.factories import make_eval
from tests.site.made import EVALS, make_library

GOLDEN = ROOT / "tests/golden/pages"
LATEST = "runs/zeta/gamma/2026-01-21/default-21000000"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_library(tmp_path_factory.mktemp("suite"))


def places(library: Library) -> list[str]:
    found = [place for route in ROUTES for place in route.every(library)]
    return found + [urls.trials(e.plan, each) for e in library.entries for each in e.done]


def test_what_is_kept_while_something_else_changes(library: Library) -> None:
    made: list[str] = []

    def make(word: str) -> str:
        made.append(word)
        return word

    assert library.keep_while(("x",), [1], lambda: make("first")) == "first"
    library._kept.clear()  # as where a run came
    assert library.keep_while(("x",), [1], lambda: make("again")) == "first"
    assert library.keep_while(("x",), [2], lambda: make("second")) == "second"
    assert made == ["first", "second"]


def test_records_of_complete_runs_are_read_once(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = next(e for e in library.entries if e.summary and not e.summary.missing)
    name, eval_id = entry.summary.evals[entry.done[0]].grade, entry.done[0]  # type: ignore[union-attr]
    first = entry.run.grade_file(eval_id, name), entry.run.generation(eval_id)
    monkeypatch.setattr("convex_evals.store.run.read_record", None)
    assert first[0] is entry.run.grade_file(eval_id, name) and first[1] is entry.run.generation(eval_id)
    assert entry.run.summary() is entry.summary


def html(library: Library, place: str) -> str:
    page = find_page(library, place)
    assert page is not None, place
    return render(page, Rendition())


class Parsed(HTMLParser):
    """Elements with their attributes; what is open that should not be."""

    VOID = frozenset({"meta", "link", "input", "br", "option", "img", "rect", "line", "circle", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.odd: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in self.VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.odd.append(f"</{tag}> at {self.getpos()}")

    def ids(self) -> list[str]:
        return [str(a["id"]) for _, a in self.elements if a.get("id")]

    def links(self) -> Iterator[str]:
        for tag, attributes in self.elements:
            for name in ("href", "src", "action"):
                if attributes.get(name) and tag != "base":
                    yield str(attributes[name])


def test_every_page_is_well_formed_and_every_link_leads_somewhere(library: Library) -> None:
    pages = {place: Parsed(html(library, place)) for place in places(library)}
    assert len(pages) > 30
    assets = {f"{urls.ASSETS}/{name}" for name in CONTENT_TYPES}
    for place, page in pages.items():
        assert page.odd == [] and page.open == [], place
        assert len(page.ids()) == len(set(page.ids())), place
        assert [tag for tag, _ in page.elements].count("h1") == 1, place
        for link in page.links():
            parts = urlsplit(urljoin(f"http://here/{place}", link))
            target = unquote(parts.path.removeprefix("/"))
            assert parts.netloc == "here", f"{place}: {link}"
            assert target in pages or target in assets, f"{place}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].ids(), f"{place}: {link}"


def test_no_page_has_a_script_or_a_style_of_its_own(library: Library) -> None:
    for place in places(library):
        for tag, attributes in Parsed(html(library, place)).elements:
            assert tag != "style" and "style" not in attributes, place
            assert not [name for name in attributes if name.startswith("on")], place
            if tag == "script":
                assert attributes.get("src") or attributes.get("type") == "application/json", place


def test_nothing_is_at_other_places(library: Library) -> None:
    for place in (
        "models/acme/nobody.html",
        "evals/000-fundamentals/nothing.html",
        "runs/acme/alpha/2026-01-20/default-nothing/index.html",
        f"{LATEST}/000-fundamentals/nothing.html",
        "reports/acme/alpha/nothing.html",
        "reports/../runs/x.html",
        "guidelines/default/00000000-11111111.html",
        "guidelines/nothing/00000000-11111111.html",
        "compare/x.html",
        "matrix/nothing.html",
        "leaderboards/nothing.html",
        "benchmarks/nothing.html",
        "index.html/",
        "../index.html",
        "",
    ):
        assert find_page(library, place) is None, place


def text_of(library: Library, place: str) -> str:
    """What people read of it, on one line."""
    text = re.sub(r"<script.*?</script>|<[^>]*>", " ", html(library, place).partition("<main")[2], flags=re.DOTALL)
    return " ".join(text.split())


def test_a_minted_benchmark_has_a_page_for_each_of_its_experiments(tmp_path: Path) -> None:
    from tests.cli.test_benchmark import EVALS, run_of

    for eval_id in EVALS:
        make_eval(tmp_path, eval_id)
    told = run_of(tmp_path, "p p f", run_id="told", model="acme/one", guidelines_sha256="a" * 64)
    bare = run_of(tmp_path, "p f f", run_id="bare", model="acme/one", experiment="no_guidelines")
    BenchmarkFolder(tmp_path).write(mint_runs("v0", [], [bare]))
    BenchmarkFolder(tmp_path).write(mint_runs("v1", [], [told, bare]))
    library = Library(open_workspace(None, None, tmp_path), live=False)
    assert {place for place in places(library) if "benchmarks/" in place} == {
        *("benchmarks/v1.html", "benchmarks/v1/no_guidelines.html", "benchmarks/v0.html")
    }
    for place, rate, others in (
        ("benchmarks/v1.html", "acme/one 67%", {"v1/no_guidelines.html", "v0.html"}),
        ("benchmarks/v1/no_guidelines.html", "acme/one 33%", {"../v1.html", "../v0.html"}),
        ("benchmarks/v0.html", "acme/one 33%", {"v1.html"}),
    ):
        assert rate in text_of(library, place), place
        links = set(Parsed(html(library, place)).links())
        assert {link for link in links if urljoin(place, link).startswith("benchmarks/")} >= others, (place, links)
    assert "Guidelines gain" in text_of(library, "benchmarks/v1.html")
    assert find_page(library, "benchmarks/v1/default.html") is find_page(library, "benchmarks/v1/nothing.html") is None


def test_the_leaderboard_says_who_is_best_and_how_sure_that_is(library: Library) -> None:
    text = text_of(library, urls.INDEX)
    assert "acme/beta leads with 100% (95 % interval 43-100%), but not clearly: 2 others may be as good" in text
    assert "1-3* acme/beta 100%" in text and "1-3* acme/alpha" in text and "1-3* zeta/gamma" in text
    assert "provisional, with fewer than 100 scored trials" in text
    assert "Guidelines gain" in text


def test_a_run_says_what_failed_where_and_what_has_no_verdict(library: Library) -> None:
    text = text_of(library, f"{LATEST}/index.html")
    assert "expected 41 to be 42" in text and "tests 6 trials" in text
    assert "000-fundamentals/001-crons #3 : timeout" in text


def test_a_run_that_is_not_complete_says_how_to_resume_it(library: Library) -> None:
    text = text_of(library, "runs/zeta/gamma/2026-01-22/default-22000000/index.html")
    assert "Not complete: 1 of 3 evals done" in text and "cli run" in text


def test_a_trial_shows_the_message_the_difference_and_the_files(library: Library) -> None:
    page = html(library, f"{LATEST}/{EVALS[0]}.html")
    assert "expected 41 to be 42" in page
    assert '<span class="del">-export const answer = query({ args: {}, handler: async () =&gt; 42 });\n</span>' in page
    assert '<i class="c">// &lt;b&gt;</i>' in page
    assert "I would say 41." in page and "// <b>" not in page


def test_guidelines_show_each_changed_rule_beside_what_it_did(library: Library) -> None:
    versions = text_of(library, urls.GUIDELINES)
    assert "Say more about crons" in versions and "what changed, and what it did" in versions
    place = next(place for place in places(library) if place.startswith("guidelines/default/"))
    text = text_of(library, place)
    assert "Use an index , never a filter ." in text
    assert "001-queries/000-filter : 0/3 before, 1/3 after" in text
    assert "acme/alpha" in text and "too few to tell" in text


@pytest.mark.parametrize("name", ["index.html", f"{LATEST}/{EVALS[0]}.html"])
def test_pages_are_as_they_were_reviewed(library: Library, name: str, pytestconfig: pytest.Config) -> None:
    golden = GOLDEN / ("leaderboard.html" if name == urls.INDEX else "trials.html")
    text = html(library, name)
    if pytestconfig.getoption("update_golden"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_only_runs_that_a_deployment_has_are_shown_on_request(library: Library, tmp_path: Path) -> None:
    assert Library(library.workspace, live=False, published=True).entries == []
