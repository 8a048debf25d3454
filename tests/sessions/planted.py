"""Secrets to plant in texts, and ordinary code that holds none.

Each secret is put together at run time from a prefix and random characters, so that no file holds one.
"""

from __future__ import annotations

import base64
import html
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

_PIECE = 12  # characters of a secret that tell nothing by themselves
ROOT = Path(__file__).parents[2]
_HEX, _ALNUM = "0123456789abcdef", string.ascii_letters + string.digits
_UPPER, _LOWER, _URL = string.ascii_uppercase + string.digits, string.ascii_lowercase + string.digits, _ALNUM + "-_"


@dataclass(frozen=True)
class Planted:
    """A secret with the text around it that it is known by."""

    name: str
    secret: str
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        return f"{self.before}{self.secret}{self.after}"

    def __str__(self) -> str:
        return self.name


def body(seed: str, length: int, characters: str = _ALNUM) -> str:
    """Random characters, the same for each seed, with a digit among them."""
    source = random.Random(seed)
    return "".join(source.choices(characters, k=length - 1)) + "7"


def _token(name: str, prefix: str, length: int, characters: str = _ALNUM, after: str = "") -> Planted:
    return Planted(name, prefix + body(name, length, characters) + after)


def _told(name: str, before: str, length: int, characters: str = _ALNUM, after: str = "") -> Planted:
    """A secret that only what stands around it tells."""
    return Planted(name, body(name, length, characters), before, after)


def _base64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _jwt() -> str:
    claims = _base64({"sub": "user_1234567890", "iat": 1767225600})
    return f"{_base64({'alg': 'HS256', 'typ': 'JWT'})}.{claims}.{body('jwt', 43, _URL)}"


def _private_key(kind: str, lines: int = 6) -> str:
    rows = "\n".join(body(f"{kind}{line}", 64, _ALNUM + "+/") for line in range(lines))
    return f"{'-' * 5}BEGIN {kind}{'-' * 5}\n{rows}\n{'-' * 5}END {kind}{'-' * 5}"


_MODELS = (
    _token("anthropic", "sk-ant-" + "api03-", 93, _URL, "AA"),
    _token("anthropic-oauth", "sk-ant-" + "oat01-", 93, _URL),
    _token("openai", "sk-", 48),
    _token("openai-project", "sk-" + "proj-", 120, _URL),
    _token("openai-service", "sk-" + "svcacct-", 60, _URL),
    _token("openrouter", "sk-" + "or-v1-", 64, _HEX),
    _token("google", "AI" + "za" + "Sy", 33, _URL),
    _token("google-oauth", "ya" + "29.a0", 120, _URL),
    _token("groq", "gs" + "k_", 52),
    _token("xai", "xa" + "i-", 80),
    _token("perplexity", "pp" + "lx-", 48),
    _token("hugging-face", "h" + "f_", 34),
    _token("replicate", "r" + "8_", 37),
    _token("together", "tgp" + "_v1_", 43, _URL),
    _token("fireworks", "f" + "w_", 24),
    _token("cerebras", "cs" + "k-", 48, _LOWER),
    _token("nvidia", "nv" + "api-", 64, _URL),
    _token("langsmith", "ls" + "v2_pt_", 32, _HEX),
    _told("mistral", "MISTRAL_API_KEY=", 32),
    _told("deepseek", 'DEEPSEEK_API_KEY = "', 35, after='"'),
)
_CONVEX = (
    _token("convex-prod", "prod" + ":happy-otter-123|", 60, _URL),
    Planted("convex-prod-new", "prod" + ":happy-otter-123|" + _base64({"v2": body("convex", 32, _HEX)})),
    _token("convex-dev", "dev" + ":quick-lynx-42|", 60, _URL),
    _token("convex-preview", "preview" + ":team-name:project-name|", 60, _URL),
    _token("convex-project", "project" + ":team-name:project-name|", 60, _URL),
    _told("convex-self-hosted", "CONVEX_SELF_HOSTED_ADMIN_KEY='convex-self-hosted|", 74, _HEX, "'"),
    _token("convex-sync", "os" + "k_", 40),
)
_CODE = (
    _token("github-classic", "gh" + "p_", 36),
    _token("github-fine", "github" + "_pat_" + "11ABCDEFG0", 71, _ALNUM + "_"),
    _token("github-app", "gh" + "s_", 36),
    _token("gitlab", "gl" + "pat-", 20, _URL),
    _token("npm", "np" + "m_", 36),
    _token("pypi", "pyp" + "i-AgEIcHlwaS5vcmc", 140, _URL),
    _token("docker", "dckr" + "_pat_", 27, _URL),
    _token("linear", "lin" + "_api_", 40),
    _token("atlassian", "ATA" + "TT3xFfGF0", 170, _URL),
)
_CLOUDS = (
    _token("aws-id", "AK" + "IA", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    _told("aws-secret", "aws_secret_access_key = ", 40, _ALNUM + "+/"),
    _told("aws-secret-json", '"SecretAccessKey": "', 40, _ALNUM + "+/", '"'),
    _told("azure-storage", "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=", 86, _ALNUM + "+/", "=="),
    _token("digitalocean", "do" + "p_v1_", 64, _HEX),
    _token("vercel", "vc" + "p_", 56),
    _token("supabase", "sb" + "_secret_", 31, _URL),
    _token("databricks", "da" + "pi", 32, _HEX),
    _token("vault", "hv" + "s.", 90, _URL),
    _told("cloudflare", "CLOUDFLARE_API_TOKEN=", 40, _URL),
)
_SERVICES = (
    _token("stripe-live", "sk" + "_live_", 24),
    _token("stripe-restricted", "rk" + "_live_", 24),
    _token("stripe-test", "sk" + "_test_", 24),
    _token("stripe-webhook", "wh" + "sec_", 32),
    _token("slack-bot", "xo" + "xb-1234567890123-1234567890123-", 24),
    _token("slack-app", "xap" + "p-1-A01BCDEFGHI-1234567890123-", 64, _HEX),
    _told("slack-webhook", "https://hooks.slack" + ".com/services/T0AB12CD3/B0AB12CD3/", 24),
    _told("discord-webhook", "https://discord" + ".com/api/webhooks/123456789012345678/", 68, _URL),
    Planted("sendgrid", "S" + "G." + body("sendgrid", 22, _URL) + "." + body("sendgrid2", 43, _URL)),
    Planted("resend", "r" + "e_" + body("resend", 8) + "_" + body("resend2", 24)),
    _token("twilio", "S" + "K", 32, _HEX),
    _token("telegram", "1234567890" + ":AA", 33, _URL),
    _token("mailgun", "ke" + "y-", 32, _HEX),
    _token("sentry", "sntr" + "yu_", 64, _HEX),
    _token("shopify", "shp" + "at_", 32, _HEX),
)
_KEYS = tuple(
    Planted(kind.lower().replace(" ", "-"), _private_key(kind))
    for kind in ("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY")
)
_TOLD = (
    Planted("jwt", _jwt()),
    _told("url-password", "postgres://shop:", 18, after="@db.shop.internal:5432/orders"),
    _told("url-password-redis", "redis://:", 24, after="@cache.shop.internal:6379"),
    _told("url-token", "https://x-access-token:", 30, after="@github.com/shop/orders.git"),
    Planted("env-password", "Tr0ub4dor" + "&3", "DB_PASSWORD="),
    Planted("env-quoted", "hunter2" + "hunter2", 'export SMTP_PASSWORD="', '"'),
    _told("set-variable", "npx convex env set AUTH_SECRET ", 32),
    _told("aws-configure", "aws configure set aws_secret_access_key ", 40, _ALNUM + "+/"),
    _told("netrc", "machine api.shop.internal login bot password ", 24),
    _told("fallback", "process.env.API_KEY ?? '", 32, after="'"),
    _told("prose", "Here is my OpenAI key: ", 40),
    _told("query", "https://shop.internal/hook?api_key=", 32, after="&n=1"),
    _told("signature", "https://shop.s3.amazonaws.com/a?X-Amz-Signature=", 64, _HEX),
    _told("signature-google", "https://storage.googleapis.com/a?X-Goog-Signature=", 256, _HEX),
    _told("signature-azure", "https://shop.blob.core.windows.net/a?sv=2024-01-01&sig=", 43, after="%3D"),
    _told("json-web-key", '{"kty":"OKP","crv":"Ed25519","x":"abc","d":"', 43, _URL, '"}'),
    _told("curl-user", "curl -u bot:", 20, after=" https://shop.internal"),
    _told("mysql", "mysql -h db -u root -p", 20),
    _told("env-secret", "BETTER_AUTH_SECRET=", 44, _ALNUM + "+/"),
    _told("yaml-token", "access_token: ", 40),
    _told("code-secret", "const clientSecret = '", 32, after="';"),
    _told("flag", "deploy --api-key ", 32),
    _told("bearer", "Authorization: Bearer ", 40),
    _told("basic", "Authorization: Basic ", 32),
    _told("api-key-header", "X-Api-Key: ", 32),
    _told("cookie", "Cookie: theme=dark; session_id=", 40),
    _told("set-cookie", "Set-Cookie: __Secure-authjs.session-token=", 48, after="; Path=/; HttpOnly"),
)
_PERSONAL = (
    Planted("email", "maria.gonzalez" + "@shopmail.io", "write to "),
    Planted("email-plus", "jo+lists" + "@mail.shop.co.uk", "Author: Jo <", ">"),
    Planted("home-linux", "mariag", "see /home/", "/shop/convex/schema.ts"),
    Planted("home-mac", "mariag", "see /Users/", "/shop/convex/schema.ts"),
    Planted("home-windows", "mariag", "see C:\\Users\\", "\\shop\\convex\\schema.ts"),
    Planted("home-windows-slashes", "mariag", "see C:/Users/", "/shop/convex/schema.ts"),
    Planted("home-wsl", "mariag", "see /mnt/c/Users/", "/shop"),
    Planted("home-claude", "mariag", "see ~/.claude/projects/-Users-", "-shop"),
)
PLANTED = (*_MODELS, *_CONVEX, *_CODE, *_CLOUDS, *_SERVICES, *_KEYS, *_TOLD, *_PERSONAL)

_PREFIXES: tuple[tuple[str, int, str], ...] = (
    ("sk-" + "admin-", 60, _URL),
    ("sk-" + "None-", 60, _URL),
    ("sk-" + "lf-", 36, _HEX),
    ("1/" + "/0", 60, _URL),
    ("GOC" + "SPX-", 28, _URL),
    ("api" + "_org_", 34, _ALNUM),
    ("tv" + "ly-dev-", 32, _ALNUM),
    ("f" + "c-", 32, _HEX),
    ("s" + "k_", 48, _HEX),
    ("loc" + "al:local-shop|", 60, _URL),
    ("gh" + "o_", 36, _ALNUM),
    ("gh" + "u_", 36, _ALNUM),
    ("gh" + "r_", 76, _ALNUM),
    ("gl" + "dt-", 20, _URL),
    ("gl" + "rt-", 20, _URL),
    ("gl" + "ptt-", 40, _HEX),
    ("gl" + "soat-", 20, _URL),
    ("dckr" + "_oat_", 32, _URL),
    ("ruby" + "gems_", 48, _HEX),
    ("lin" + "_oauth_", 64, _HEX),
    ("nt" + "n_", 46, _ALNUM),
    ("sec" + "ret_", 43, _ALNUM),
    ("pa" + "tAbCdEf1234567" + "8.", 64, _HEX),
    ("fi" + "gd_", 40, _URL),
    ("PM" + "AK-" + "0123456789abcdef01234567-", 34, _HEX),
    ("op" + "s_eyJ", 240, _URL),
    ("IQoJ" + "b3JpZ2lu", 300, _ALNUM + "+/"),
    ("FwoG" + "ZXIvYXdz", 300, _ALNUM + "+/"),
    ("FQoG" + "ZXIvYXdz", 300, _ALNUM + "+/"),
    ("AB" + "SK", 128, _ALNUM + "+/"),
    ("do" + "o_v1_", 64, _HEX),
    ("do" + "r_v1_", 64, _HEX),
    *((f"vc{kind}_", 56, _ALNUM) for kind in "iark"),
    ("vercel" + "_blob_rw_", 46, _ALNUM),
    ("nf" + "p_", 36, _ALNUM),
    ("HR" + "KU-", 60, _URL),
    ("sb" + "p_", 40, _HEX),
    ("v1" + ".0-" + "0123456789abcdef01234567-", 146, _HEX),
    *((f"f{kind}_", 120, _ALNUM + "+/") for kind in ("o1", "m1r", "m1a", "m2")),
    ("pscale" + "_tkn_", 43, _URL),
    *((f"dp.{kind}.", 43, _ALNUM) for kind in ("pt", "st", "sa")),
    ("hv" + "b.", 140, _URL),
    ("ts" + "key-auth-k123456CNTRL-", 32, _ALNUM),
    ("pu" + "l-", 40, _HEX),
    ("Ab1Cd2Ef3Gh4Ij" + ".atlas" + "v1.", 67, _URL),
    ("a1B8" + "Q~", 34, _ALNUM),
    ("AGE-SECRET" + "-KEY-1", 58, _UPPER),
    ("rk" + "_test_", 24, _ALNUM),
    *((f"xox{kind}-", 50, _ALNUM) for kind in "aeoprscd"),
    ("xox" + "e.xoxp-1-", 140, _ALNUM),
    ("https://hooks.slack" + ".com/workflows/T0AB12CD3/A0AB12CD3/", 24, _ALNUM),
    ("https://discordapp" + ".com/api/webhooks/123456789012345678/", 68, _URL),
    ("sntr" + "ys_eyJ", 90, _ALNUM),
    *((f"NR{kind}-", 32, _UPPER) for kind in ("AK", "II", "JS")),
    *((f"shp{kind}_", 32, _HEX) for kind in ("ca", "pa", "ss")),
    ("gl" + "sa_", 41, _ALNUM),
    ("gl" + "c_eyJ", 120, _ALNUM),
    ("ph" + "x_", 43, _ALNUM),
    ("sq0" + "atp-", 22, _URL),
    ("sq0" + "csp-", 43, _URL),
    ("AK" + "C", 70, _ALNUM),
    ("MTIzNDU2Nzg5MDEyMzQ1Njc4" + ".Gabc12.", 38, _URL),
)
# One more for each form of a secret that is not among those above.
MORE_PLANTED = (
    *(_token(prefix, prefix, length, characters) for prefix, length, characters in _PREFIXES),
    _told("netrc-lines", "machine api.shop.internal\n  login bot\n  password ", 24),
    _told("pgpass", "# password file\ndb.shop.internal:5432:orders:shop:", 20, after="\n"),
    _told("long-token", "SERVICE_ACCOUNT_TOKEN=", 6_000),
    _told("long-quoted", 'const apiKey = "', 20_000, _ALNUM + "+/", '";'),
    _told("teams-webhook", "https://shop.webhook.office" + ".com/webhookb2/", 80, _HEX + "-"),
    Planted("mailchimp", body("mailchimp", 32, _HEX) + "-us" + "12"),
    _told("cloudant", "cloudant_password = '", 64, _HEX, "'"),
    _told("ibm-iam", 'ibm_cloud_iam_key = "', 44, _URL, '"'),
    _told("ibm-cos", 'cos_hmac_secret_access_key = "', 48, _HEX, '"'),
    _told("softlayer", 'softlayer_api_key = "', 64, _LOWER, '"'),
    _told("aws-quoted", 'aws key: "', 40, _ALNUM + "+/", '"'),
    _told("aws-credentials-csv", "AK" + "IA" + body("aws-csv", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") + ",", 40),
    _told(
        "putty", f"PuTTY-User-Key-File-{3}: ssh-ed25519\nPrivate-Lines: 1\n", 64, after="\nPrivate-MAC: 0123456789ab"
    ),
    _told("mysql", "mysql -u shop -p", 20, after=" orders"),
    _told("curl", "curl -u shop:", 20, after=" https://shop.internal"),
    _told("redis", "redis-cli -h cache -a ", 20),
    _told("docker", "docker login -u shop -p ", 20),
    _told("element", "<password>", 20, after="</password>"),
    _told("setenv", "npx convex env set STRIPE_SECRET_KEY ", 32),
    _told("key-colon-name", "Put this key: DB_PASSWORD=", 12),
    _told("value-then-name", "X-Api-Key: ", 32, after=" password="),
    _told("typed", 'let token: &str = "', 32, after='";'),
    _told("prose", "the password is ", 14, after=", keep it"),
)

Form = Callable[[str], str]


def _in_lines(text: str) -> str:
    return f"a\n{text}\nb"


# Texts that hold another text, each as conversations do.
FORMS: dict[str, Form] = {
    "plain": lambda text: f"Here it is:\n{text}\nand that was it.",
    "alone": lambda text: text,
    "json": lambda text: json.dumps({"note": text, "n": 1}),
    "json-ascii-off": lambda text: json.dumps({"note": f"é {text}"}, ensure_ascii=False, indent=2),
    "arguments": lambda text: json.dumps({"name": "write", "arguments": json.dumps({"content": f"a\n{text}\nb"})}),
    "three-deep": lambda text: json.dumps([json.dumps([json.dumps([f"x\n{text}\n"])])]),
    "json-in-prose": lambda text: f"The tool said {json.dumps(json.dumps([1, _in_lines(text)]))} and ended.",
    "shell": lambda text: f"cd shop && echo '{text}' > .env.local && cat .env.local",
    "fence": lambda text: f"Put this into `.env`:\n\n```sh\n{text}\n```\n",
    "code-span": lambda text: f"- the value is `{text}`, keep it",
    "table": lambda text: f"| what | value |\n|---|---|\n| a | {text} |\n",
    "title": lambda text: f"Fix deploy: {text}",
    "diff": lambda text: f"@@ -1,2 +1,2 @@\n-old\n+{text}\n",
    "numbered": lambda text: f"     1\timport x\n     2\t{text}\n     3\t",
    "coloured": lambda text: f"\x1b[32m{text}\x1b[0m",
    "windows-lines": lambda text: f"a\r\n{text}\r\nb",
    "file-name": lambda text: f"notes {text}.md",
    "address": lambda text: f"https://shop.example/log?note={quote(text, safe='')}&n=1",
    "html": lambda text: f"<pre>{html.escape(text)}</pre>",
    "base64": lambda text: f"data:\n  note: {base64.b64encode(f'note: {text}'.encode()).decode()}\n",
}


def left_of(planted: Planted, text: str) -> set[str]:
    """Pieces of a planted secret that can still be read in `text`, escaped and encoded ones included."""
    secret = planted.secret
    pieces = {secret[at : at + _PIECE] for at in range(max(1, len(secret) - _PIECE + 1))}
    # Others may be words, of the edges of a private key for one.
    pieces = {piece for piece in pieces if any(map(str.isdigit, piece))} or {secret}
    return {piece for view in _views(text) for piece in pieces if piece in view}


def _views(text: str) -> Iterator[str]:
    """`text`, and what those see who decode it."""
    unescaped = re.sub(r"\\+(?=[\\\"])", "", re.sub(r"\\+n", "\n", text))
    yield from (text, unescaped, unquote(text), html.unescape(text))
    for run in re.findall(r"[A-Za-z0-9+/]{16,}", text):
        whole = run[: len(run) - (len(run) % 4 == 1)]
        yield base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("utf-8", "replace")


def ordinary() -> Iterator[tuple[str, str]]:
    """Code of this repository that holds no secrets: where it is, and its text. Always in the same order."""
    typescript = sorted(ROOT.glob("evals/**/*.ts"))
    for file in typescript[:: max(1, len(typescript) // 150)]:
        if "node_modules" not in file.parts:
            yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
    for file in sorted(ROOT.glob("docs/*.md")):
        for number, fence in enumerate(re.findall(r"^```.*?^```", file.read_text(encoding="utf-8"), re.M | re.S)):
            yield f"{file.relative_to(ROOT)}#{number}", fence
    for file in sorted(ROOT.glob("convex_evals/**/*.py")):
        yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
