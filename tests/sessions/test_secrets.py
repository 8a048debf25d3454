"""What is found in texts: planted secrets in any form, and next to nothing in ordinary code."""

from __future__ import annotations

import json
from base64 import b64encode, encodebytes, urlsafe_b64encode
from collections import Counter
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.sessions.secrets import Redactor, scanner
from convex_evals.sessions.secrets.names import is_literal, kind_of_name
from convex_evals.sessions.secrets.patterns import RULES
from convex_evals.sessions.secrets.plugins import plugin_finders
from convex_evals.sessions.secrets.spans import EMAIL, HOME_FOLDER, SecretSpan, merged, replaced
from tests.sessions.planted import FORMS, MORE_PLANTED, PLANTED, Planted, body, left_of, ordinary

MEGABYTE = 1_000_000
LONG_KEY = "sk-ant-" + "api03-" + body("long", 95)
# Each of them again and again, without a line end.
HOSTILE = ("a", "-----BEGIN", "-----BEGIN PRIVATE KEY-----", "eyJ", "://", '"', "'", "\\", '\\"', "%", "@", "{", "=")
MORE_HOSTILE = (
    *("-----END PRIVATE KEY-----", "PuTTY-User-Key-File-3 Private-Lines: 1 ", "eyJhbGciOiJI.", "://a:", "://a:b", "a@"),
    *("@a.", "%40", "`", "\\n", "/home/", "C:\\Users\\", "Cookie: a=", "cookie", "Authorization: ", "Bearer "),
    *("password", "password=", "password: str ", "key-", "secret|", "prod:", "prod:a:b", "curl -u ", "mysql -", "sk-"),
    *(
        "sk-ant-",
        "github_pat_",
        "AKIA",
        "aws",
        "a.b.c.",
        "data:image/png;base64,",
        "[REDACTED:",
        '[{"a":',
        "\u2028",
        "é",
    ),
)


@pytest.mark.parametrize("form", FORMS)
def test_planted_secrets_are_removed(form: str) -> None:
    for planted in PLANTED:
        text = FORMS[form](planted.text)
        assert left_of(planted, text), f"{planted}: hidden by the form already"

        redactor = Redactor()
        done = redactor.text(text)

        assert left_of(planted, done) == set(), f"{planted}: {done}"
        assert redactor.counts.total() >= 1


@pytest.mark.parametrize("planted", MORE_PLANTED, ids=str)
def test_rarer_secret_is_removed(planted: Planted) -> None:
    assert left_of(planted, Redactor().text(FORMS["plain"](planted.text))) == set()


def test_every_rule_and_plugin_finds_a_planted_secret() -> None:
    texts = [planted.text for planted in (*PLANTED, *MORE_PLANTED)]

    idle = [rule.hints for rule in RULES if not any(list(rule.find(text)) for text in texts)]
    idle_plugins = [each.use.plugin for each in plugin_finders() if not any(list(each.find(text)) for text in texts)]

    assert (idle, idle_plugins) == ([], [])


def test_many_kinds_are_planted() -> None:
    assert len({planted.secret for planted in PLANTED}) == len(PLANTED) - 5  # six home folders of one person
    redactor = Redactor()
    for planted in PLANTED:
        redactor.text(planted.text)
    assert len(redactor.findings) >= 30


@pytest.mark.parametrize(
    ("text", "done"),
    [
        # Lines that a longer run of base64 is broken into, also in JSON.
        (encodebytes(b"# made by hand, in May of this year\n" + LONG_KEY.encode()).decode(), "[REDACTED:{}]\n"),
        (json.dumps(encodebytes(b"# made by hand\n" + LONG_KEY.encode()).decode())[1:-1], "[REDACTED:{}]\\n"),
        (urlsafe_b64encode(b"\xc3\xa9 and \x00 " + LONG_KEY.encode()).decode(), "[REDACTED:{}]"),
        (b64encode(b64encode(b"# twice " + LONG_KEY.encode())).decode(), "[REDACTED:{}]"),
        (b64encode(b"cd /home/mariag/shop && ls -la").decode(), "[REDACTED:encoded-text]"),
        (f"https://shop.test/?next={quote(quote('/?q=' + LONG_KEY, safe=''), safe='')}&n=1", None),
        (f"see https://shop.test/?at={quote('/home/mariag/shop', safe='')}", "see https://shop.test/?at=~%2Fshop"),
    ],
)
def test_encoded_text_goes_with_its_secret(text: str, done: str | None) -> None:
    expected = "https://shop.test/?next=%252F%253Fq%253D[REDACTED:{}]&n=1" if done is None else done
    assert Redactor().text(text) == expected.format("anthropic-key")


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("see /home/mariag/shop/a.ts", "see ~/shop/a.ts"),
        ("see /Users/mariag", "see ~"),
        ("see C:\\Users\\Maria G\\shop", "see ~\\shop"),
        ("cd /home/mariag && ls", "cd ~ && ls"),
        ("write to maria@" + "shopmail.io, please", "write to [REDACTED:email], please"),
        ("DB_PASSWORD=" + "Tr0ub4dor&3" + " npm start", "DB_PASSWORD=[REDACTED:password] npm start"),
        ("postgres://shop:" + body("p", 12) + "@db:5432/x", "postgres://shop:[REDACTED:url-password]@db:5432/x"),
        ("key `sk-ant-" + body("a", 40) + "`.", "key `[REDACTED:anthropic-key]`."),
    ],
)
def test_only_the_secret_is_replaced(text: str, done: str) -> None:
    assert Redactor().text(text) == done


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-xxxxxxxxxxxxxxxxxxxx",
        "sk-ant-...",
        "ANTHROPIC_API_KEY=sk-ant-your-key-here",
        "OPENAI_API_KEY=YOUR_API_KEY",
        "OPENAI_API_KEY=your-api-key-here",
        "OPENAI_API_KEY=<your key>",
        "OPENAI_API_KEY=$OPENAI_API_KEY",
        'OPENAI_API_KEY="${OPENAI_API_KEY}"',
        "OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}",
        "const apiKey = process.env.OPENAI_API_KEY;",
        "const apiKey = process.env.OPENAI_API_KEY!;",
        'api_key = os.environ["OPENAI_API_KEY"]',
        "const token = await getToken({ template: 'convex' });",
        "password = args[0]",
        "password: v.string(),",
        "token: v.optional(v.string()),",
        "secret: string;",
        "Authorization: `Bearer ${token}`",
        "Authorization: Bearer <token>",
        "const maxTokens = 4096; tokens: 123456789",
        'primary key: "users_by_name_and_email"',
        "the password is required, and the token was expired",
        "postgres://user:password@localhost:5432/shop",
        "https://github.com/get-convex/convex-backend",
        "git@github.com:get-convex/convex-backend.git",
        "npm install convex@1.17.4 @types/node@22.1.0",
        "user@example.com",
        "/home/runner/work and /Users/you/shop and /home/user",
        'app.get("/users/:id")',
        "commit 8f4e8d5a0b1c2d3e4f5061728394a5b6c7d8e9f0",
        "sha512-" + "q" * 20 + "==",
        "const task-list-item-with-a-long-name = 1",
        "-----BEGIN PUBLIC KEY-----",
        "look for `-----BEGIN PRIVATE KEY-----` in the text",
        "paginationOpts: { cursor: null, nextPageToken: 'a1' }",
    ],
)
def test_placeholders_and_code_stay(text: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == text
    assert not redactor.counts


def test_false_alarms_in_ordinary_code_are_rare() -> None:
    alarms: Counter[str] = Counter()
    texts = 0
    for where, text in ordinary():
        texts += 1
        alarms.update(where for span in scanner.find(text) if span.kind not in (EMAIL, HOME_FOLDER))
    print(f"{len(alarms)} of {texts} texts: {dict(alarms)}")
    assert texts >= 200
    assert len(alarms) <= texts / 100


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("DB_PASSWORD", "password"),
        ("userPassword2", "password"),
        ("clientSecret", "client-secret"),
        ("--api-key", "api-key"),
        ("AWS_SECRET_ACCESS_KEY", "aws-secret-key"),
        ("MISTRAL_API_KEY", "mistral-key"),
        ("OpenAI key".lower(), "openai-key"),
        ("SEED_PHRASE", None),
        ("nextPageToken", None),
        ("NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY", None),
        ("primaryKey", None),
        ("maxTokens", None),
        ("key", None),
        ("", None),
    ],
)
def test_kind_of_name(name: str, kind: str | None) -> None:
    assert kind_of_name(name) == kind


@pytest.mark.parametrize(
    ("value", "kind", "quoted", "literal"),
    [
        (body("value", 32), "token", True, True),
        (body("value", 32), "token", False, True),
        ("/" + body("slash", 43), "secret", True, True),  # base64 may begin so
        (body("name", 32) + ".md", "token", False, True),
        ("hunter22", "password", True, True),
        ("correct horse battery staple", "passphrase", True, True),
        ("/run/secrets/db_password", "password", True, False),
        ("./certs/server.pem", "secret", True, False),
        ("config.apiKey", "api-key", False, False),
        ("getToken(1)", "token", False, False),
        ("changeme", "password", True, False),
        ("https://shop.example/token1234", "token", True, False),
        ("[REDACTED:token]", "token", True, False),
        ("v1", "token", True, False),
    ],
)
def test_literal_values(value: str, kind: str, quoted: bool, literal: bool) -> None:
    assert is_literal(value, kind, quoted=quoted) is literal


@pytest.mark.parametrize(
    ("piece", "size"),
    [*((piece, MEGABYTE) for piece in HOSTILE), *((piece, MEGABYTE // 8) for piece in MORE_HOSTILE)],
)
def test_long_lines_end(piece: str, size: int) -> None:
    text = piece * (size // len(piece))
    assert all(0 <= span.start < span.end <= len(text) for span in scanner.find(text))


SPANS = st.builds(
    lambda start, length, kind, rank: SecretSpan(start, start + length, kind, rank),
    st.integers(0, 40),
    st.integers(1, 10),
    st.sampled_from(["token", EMAIL, HOME_FOLDER]),
    st.integers(0, 6),
)


@given(st.lists(SPANS))
def test_merged_spans_are_apart_and_cover_the_same(spans: list[SecretSpan]) -> None:
    joined = merged(spans)
    assert all(first.end <= second.start for first, second in pairwise(joined))
    covered = {at for span in spans for at in range(span.start, span.end)}
    assert {at for span in joined for at in range(span.start, span.end)} == covered

    text = "".join(chr(0x4E00 + at) for at in range(60))
    assert not {text[at] for at in covered} & set(replaced(text, joined))


FRAGMENTS = st.sampled_from(
    [
        *("password=", "password: ", "token", "key", "secret", "Authorization: Bearer ", "Cookie: ", "Cookie: a="),
        *("sk-", "eyJ", "prod:", "AKIA", "curl -u ", "://", "a:b@", "/home/", "C:\\", "~", "http://", "process.env."),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "data:;base64,",
            "[REDACTED:",
            "[REDACTED:token]",
        ),
        *(
            "[NOT SCANNED: x]",
            "%",
            "%3D",
            "%7C",
            "\\n",
            "\\",
            '"',
            "'",
            "`",
            "{",
            "}",
            "[",
            "]",
            "<",
            "&",
            "&quot;",
            "|",
        ),
        *(
            "=",
            ":",
            ",",
            ";",
            "@",
            "-",
            "a",
            "1",
            "é",
            "your",
            "xxx",
            "...",
            " ",
            "\n",
            "\t",
            "\r\n",
            "\u2028",
            "\ud800",
        ),
    ]
)
TEXTS = st.lists(FRAGMENTS | st.text(max_size=8), max_size=25).map("".join)


@given(TEXTS)
def test_any_text_is_scanned(text: str) -> None:
    spans = scanner.find(text)
    assert spans == merged(spans)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)


@given(
    st.sampled_from(PLANTED), TEXTS, TEXTS, st.sampled_from("\n\t "), st.sampled_from("\n "), st.sampled_from([*FORMS])
)
def test_planted_secret_is_removed_from_any_text(
    planted: Planted, before: str, after: str, gap: str, end: str, form: str
) -> None:
    text = FORMS[form](f"{before}{gap}{planted.text}{end}{after}".encode("utf-8", "replace").decode())
    assert left_of(planted, Redactor().text(text)) == set()
