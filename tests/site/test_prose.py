"""Markdown and source of others: text in, text out, whatever it says."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.site.highlight import diff_lines, highlight
from convex_evals.site.html import data, mark
from convex_evals.site.prose import to_html
from convex_evals.site.urls import href

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "[x](//evil.example/x)",
    "[x](http:evil.example)",
    "[x](\\\\evil.example)",
    '[x](https://e.example "t" onclick=alert(1))',
    "![x](https://evil.example/pixel.png)",
    "![x][y]\n\n[y]: https://evil.example/pixel.png",
    "<https://evil.example/><javascript:alert(1)>",
    "<details ontoggle=alert(1) open>",
    "<a href=javascript:alert(1)>x</a>",
    '<a id="failure-1" href="javascript:alert(1)">x</a>',
    "<style>*{display:none}</style>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<!--><script>alert(1)</script>-->",
    "<!-- --!><script>alert(1)</script>",
    "```\"><script>alert(1)</script>\ncode\n```",
    "```html\n</code></pre><script>alert(1)</script>\n```",
    "| a |\n|:-:|\n| <script>alert(1)</script> |",
    "</div></main><script>alert(1)</script>",
    "x\u202egnp.exe \u2066\u200b",
]  # fmt: skip
# fmt: off
TAGS = frozenset([
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "a", "ul", "ol", "li", "pre", "code", "em", "strong", "blockquote",
    "table", "thead", "tbody", "tr", "th", "td", "hr", "br", "s", "i", "span", "details", "summary", "sub",
])
# fmt: on
ATTRIBUTES = frozenset({"class", "href", "rel", "tabindex", "open", "id", "start"})


class Checked(HTMLParser):
    """Fails on whatever is not among what Markdown becomes here."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES, (tag, name)
            if name == "href":
                assert re.match(r"https?://|#", value or ""), value
            if name == "id":
                assert re.fullmatch(r"failure-\d+", value or "")

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError("a declaration")

    def handle_pi(self, data: str) -> None:
        raise AssertionError("a processing instruction")


def check(html: str) -> None:
    checked = Checked()
    checked.feed(html)
    checked.close()


@pytest.mark.parametrize("of_report", [False, True])
@pytest.mark.parametrize("markdown", ATTACKS)
def test_attacks_become_text(markdown: str, of_report: bool) -> None:
    for text in (markdown, f"a {markdown} b", f"- {markdown}\n\n> {markdown}", f"# {markdown}", f"`{markdown}`"):
        found = str(to_html(text, of_report=of_report))
        check(found)
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b]", found)


TEXT = st.lists(st.sampled_from([*ATTACKS, *"<>[]()!`*_|\\&;#-=\n \"'~:/", "javascript:", "-->", "<!--", "\n\n"])).map(
    "".join
)


@given(TEXT, st.booleans())
def test_whatever_is_put_together_of_attacks_stays_text(text: str, of_report: bool) -> None:
    check(str(to_html(text, of_report=of_report)))


@given(st.text(), st.sampled_from(["a.ts", "a.tsx", "a.json", "a.md", "a.html", "a.unknown", "a"]))
def test_a_file_is_shown_as_it_is(text: str, path: str) -> None:
    for found in (str(highlight(path, text)), str(diff_lines(text))):
        check(found)
        assert "<" not in re.sub(r'</?i(?: class="\w")?>|</?span(?: class="\w+")?>', "", found)


def test_a_file_reads_as_it_was_written() -> None:
    text = 'const a = "<b>&amp;"; // ü\n\n\tif (a) { return `${1 + 2}`; }\n'
    shown = re.sub("<[^>]*>", "", str(highlight("a.ts", text)))
    assert shown.replace("&lt;", "<").replace("&gt;", ">").replace("&#34;", '"').replace("&amp;", "&") == text


@pytest.mark.parametrize("text", ["x" * 5_000_000, "`" * 1_000_000, "(" * 200_000, "a\n" * 300_000, "/*" * 100_000])
def test_long_texts_are_cut(text: str) -> None:
    assert len(str(highlight("a.ts", text))) < 700_000


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)))
def test_data_for_scripts_ends_no_element(value: object) -> None:
    import json

    found = str(data(value))
    assert "<" not in found and "&" not in found and json.loads(found) == value


def test_a_mark_is_escaped() -> None:
    assert mark("failed", "<b>\u202e") == '<span class="mark failed">✗ &lt;b&gt;\\x202e</span>'


PLACE = st.lists(st.text("ab ~%+=.()@", min_size=1).filter(lambda t: t not in (".", "..")), min_size=1, max_size=4).map(
    "/".join
)


@given(PLACE, PLACE)
def test_a_link_leads_from_one_page_to_the_other(there: str, here: str) -> None:
    from urllib.parse import unquote, urljoin, urlsplit

    found = urlsplit(urljoin(f"http://x/{href(here)}", href(there, of=here)))
    assert unquote(found.path) == f"/{there}" and not found.query and not found.fragment


@pytest.mark.parametrize("piece", ["<!--", "[a](\n", "<a ", "`${", "/*", "<T", "'\\\\", "(", "{[", "&&", "a.b", "\n/"])
@pytest.mark.parametrize("path", ["a.ts", "a.tsx", "a.json", "a.md", "a.html"])
def test_no_text_takes_the_square_of_its_length(piece: str, path: str) -> None:
    """What is too long for that is shown without colours; a whole reply of such files is still a page."""
    from time import process_time

    begun = process_time()
    highlight.__wrapped__(path, piece * (39_000 // len(piece)))
    assert process_time() - begun < 5


def test_comments_are_left_out_of_reports_in_linear_time() -> None:
    assert "<!--" in str(to_html("<div>" + "<!--" * 99_000, of_report=True)).replace("&lt;!--", "<!--")
    assert str(to_html("a\n\n<!-- x -->\nb", of_report=True)).count("x") == 0
