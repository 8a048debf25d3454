"""Secrets that are told by their form: tokens with a prefix of their issuer's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from convex_evals.sessions.secrets.spans import SecretSpan

_HEX, _ALNUM, _WORD = "[0-9A-Fa-f]", "[A-Za-z0-9]", r"[\w-]"
_BASE64 = "[A-Za-z0-9+/=_-]"
_MASK = frozenset("x*.-_0#")


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """A form of secrets."""

    kind: str
    hints: tuple[str, ...]  # one of these stands in each secret of this form
    pattern: re.Pattern[str]
    group: int = 0  # of the pattern: the secret itself
    accept: Callable[[str], bool] | None = None

    def find(self, text: str) -> Iterator[SecretSpan]:
        """Each place of such a secret. Takes time that is linear in the text."""
        if not any(hint in text for hint in self.hints):
            return
        for match in self.pattern.finditer(text):
            secret = match[self.group]
            if not is_mask(secret, self.hints) and (self.accept is None or self.accept(secret)):
                yield SecretSpan(*match.span(self.group), self.kind)


def is_mask(secret: str, prefixes: tuple[str, ...] = ()) -> bool:
    """Whether this only shows the form of a secret: `sk-ant-xxxx`, `ghp_your_token_here`."""
    body = next((secret[len(prefix) :] for prefix in prefixes if secret.startswith(prefix)), secret).lower()
    return _MASK.issuperset(body) or ("your" in body and not any(map(str.isdigit, body)))


def rule(kind: str, prefix: str, body: str, accept: Callable[[str], bool] | None = None) -> SecretPattern:
    """For tokens whose prefix stands nowhere else."""
    return SecretPattern(kind, (prefix,), re.compile(re.escape(prefix) + body, re.ASCII), accept=accept)


def word_rule(kind: str, prefix: str, body: str, accept: Callable[[str], bool] | None = None) -> SecretPattern:
    """For tokens whose prefix may be the end of a word: `task-`.

    An escaped line end or an encoded character before it is no part of a word. The prefix comes first in the pattern,
    because a search for literal text is fast.
    """
    literal = re.escape(prefix)
    before = "|".join(
        (
            f"(?<![A-Za-z0-9]{literal})",
            rf"(?<=\\[nrtbf]{literal})",
            f"(?<=%{_HEX}{_HEX}{literal})",
            rf"(?<=\\u{_HEX}{{4}}{literal})",
            rf"(?<=\x1b\[\dm{literal})",
            rf"(?<=\x1b\[\d\dm{literal})",
        )
    )
    return SecretPattern(kind, (prefix,), re.compile(f"{literal}(?:{before}){body}", re.ASCII), accept=accept)


def has_digit(secret: str) -> bool:
    return any(map(str.isdigit, secret))


def _has_random_part(secret: str) -> bool:
    """Whether one part is no word: `sk-` begins names of styles, too."""
    parts = re.split("[-_]", secret)
    return any(len(part) >= 32 or (len(part) >= 16 and has_digit(part)) for part in parts)


def _has_random_end(secret: str) -> bool:
    return has_digit(secret.rpartition("|")[2])


def _plain(kind: str, body: str, *prefixes: str) -> list[SecretPattern]:
    return [rule(kind, prefix, body) for prefix in prefixes]


def _words(kind: str, body: str, *prefixes: str) -> list[SecretPattern]:
    return [word_rule(kind, prefix, body) for prefix in prefixes]


_MODELS = [
    *_plain("anthropic-key", _WORD + "{16,}", "sk-ant-"),
    *_plain("openai-key", _WORD + "{16,}", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"),
    *_plain("openrouter-key", _WORD + "{16,}", "sk-or-v1-"),
    *_plain("langfuse-key", _WORD + "{16,}", "sk-lf-"),
    word_rule("openai-key", "sk-", _WORD + "{20,}", _has_random_part),
    *_plain("google-key", _WORD + "{20,}", "AIza"),
    *_plain("google-oauth-token", r"[\w.-]{20,}", "ya29."),
    *_words("google-oauth-token", _WORD + "{30,}", "1//0"),
    *_plain("google-oauth-secret", _WORD + "{16,}", "GOCSPX-"),
    *_words("groq-key", _ALNUM + "{20,}", "gsk_"),
    *_words("xai-key", _ALNUM + "{20,}", "xai-"),
    *_words("perplexity-key", _ALNUM + "{20,}", "pplx-"),
    *_words("hugging-face-token", _ALNUM + "{20,}", "hf_", "api_org_"),
    *_words("replicate-token", _ALNUM + "{20,}", "r8_"),
    *_words("together-key", _WORD + "{20,}", "tgp_v1_"),
    word_rule("fireworks-key", "fw_", _ALNUM + "{16,}", has_digit),
    *_words("cerebras-key", _ALNUM + "{20,}", "csk-"),
    *_plain("nvidia-key", _WORD + "{30,}", "nvapi-"),
    *_words("langsmith-key", r"(?:pt|sk)_\w{20,}", "lsv2_"),
    *_words("tavily-key", _WORD + "{20,}", "tvly-"),
    *_words("firecrawl-key", _HEX + "{32,}", "fc-"),
    *_words("elevenlabs-key", _HEX + "{48,}", "sk_"),
]
_CONVEX_NAME = r"[\w.-]{1,80}(?::[\w.-]{1,80}){0,2}(?:\\{0,8}\||%7[Cc])"
_CONVEX = [
    *(
        word_rule("convex-deploy-key", f"{kind}:", _CONVEX_NAME + r"[\w+/=.-]{16,}", _has_random_end)
        for kind in ("prod", "dev", "preview", "project", "local")
    ),
    # Of a deployment that people host themselves: longer than the hashes that stand in tables.
    SecretPattern("convex-deploy-key", ("|",), re.compile(r"\|(?<=[\w-]\|)([0-9a-f]{72,})", re.ASCII), group=1),
    *_plain("convex-deploy-key", _BASE64 + "{20,}", "eyJ2MiI6"),  # without its deployment
    *_words("convex-api-key", _WORD + "{16,}", "osk_"),
]
_CODE = [
    *_plain("github-token", r"\w{22,}", "github_pat_"),
    *_words("github-token", r"\w{20,}(?:\.[\w-]{10,}){0,2}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *_plain("gitlab-token", r"[\w-]{20,}(?:\.[0-9a-z.]{7,})?", "glpat-", "gldt-", "glrt-", "glptt-", "glsoat-"),
    *_words("npm-token", _ALNUM + "{20,}", "npm_"),
    *_plain("pypi-token", _WORD + "{50,}", "pypi-Ag"),
    *_words("docker-token", _WORD + "{20,}", "dckr_pat_", "dckr_oat_"),
    *_words("rubygems-key", _HEX + "{40,}", "rubygems_"),
    *_words("linear-key", _ALNUM + "{30,}", "lin_api_", "lin_oauth_"),
    *_words("notion-token", _ALNUM + "{40,}", "ntn_", "secret_"),
    *_words("airtable-token", rf"{_ALNUM}{{14}}\.{_HEX}{{60,}}", "pat"),
    *_words("artifactory-key", _ALNUM + "{60,}", "AKC"),
    *_words("figma-token", _WORD + "{30,}", "figd_"),
    *_words("postman-key", rf"{_HEX}{{24}}-{_HEX}{{30,}}", "PMAK-"),
    *_plain("atlassian-token", r"[\w=-]{50,}", "ATATT3"),
    *_words("onepassword-token", _BASE64 + "{100,}", "ops_eyJ"),
]
_CLOUDS = [
    *_plain("aws-session-token", _BASE64 + "{50,}", "IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"),
    *_words("aws-bedrock-key", _BASE64 + "{90,}", "ABSK"),
    SecretPattern(
        "aws-secret-key",
        ("AKIA", "ASIA"),
        re.compile(r"A[KS]IA[0-9A-Z]{16}(?:[\s,;:\"'|]|\\{1,4}[nrt\"]){1,12}+([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
        group=1,
    ),
    *_plain("digitalocean-token", _HEX + "{40,}", "dop_v1_", "doo_v1_", "dor_v1_"),
    *_words("vercel-token", _ALNUM + "{20,}", "vcp_", "vci_", "vca_", "vcr_", "vck_"),
    *_plain("vercel-token", r"\w{20,}", "vercel_blob_rw_"),
    *_words("netlify-token", _ALNUM + "{20,}", "nfp_"),
    *_words("heroku-key", _WORD + "{30,}", "HRKU-"),
    *_words("supabase-token", _WORD + "{20,}", "sbp_", "sb_secret_"),
    *_words("databricks-token", _HEX + r"{32}(?:-\d)?", "dapi"),
    *_words("cloudflare-key", f"{_HEX}{{24}}-{_HEX}{{100,}}", "v1.0-"),
    *_words("fly-token", r"[A-Za-z0-9+/=_,-]{40,}", "fo1_", "fm1r_", "fm1a_", "fm2_"),
    *_plain("planetscale-token", r"(?:tkn|pw|oauth)_[\w=.-]{20,}", "pscale_"),
    *_words("doppler-token", _ALNUM + "{30,}", "dp.pt.", "dp.st.", "dp.sa."),
    *_words("vault-token", _WORD + "{20,}", "hvs.", "hvb."),
    *_words("tailscale-key", _WORD + "{16,}", "tskey-"),
    *_words("pulumi-token", _HEX + "{40,}", "pul-"),
    SecretPattern("terraform-token", (".atlasv1.",), re.compile(r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,}", re.ASCII)),
    SecretPattern("azure-client-secret", ("Q~",), re.compile(r"[\w~.]{3}\dQ~[\w~.-]{31,34}", re.ASCII)),
    *_plain("age-key", "[0-9A-Z]{40,}", "AGE-SECRET-KEY-1"),
]
_SERVICES = [
    *_words("stripe-key", _ALNUM + "{10,}", "sk_live_", "rk_live_", "sk_test_", "rk_test_"),
    *_words("webhook-secret", _BASE64 + "{16,}", "whsec_"),
    *_plain("slack-token", _WORD + "{10,}", "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-"),
    *_plain("slack-token", _WORD + "{10,}", "xapp-", "xoxe.", "xoxd-"),
    *_plain("slack-webhook", r"[\w/]{20,}", *(f"hooks.slack.com/{each}/" for each in ("services", "workflows"))),
    *_plain("discord-webhook", rf"/api/webhooks/\d{{5,}}/{_WORD}{{20,}}", "discord.com", "discordapp.com"),
    *_plain("teams-webhook", r"/webhookb2/[\w@/-]{40,}", ".webhook.office.com"),
    *_plain("sendgrid-key", rf"{_WORD}{{16,32}}\.{_WORD}{{16,64}}", "SG."),
    *_words("mailgun-key", _HEX + "{32,}", "key-"),
    *_words("resend-key", rf"{_ALNUM}{{8}}_{_ALNUM}{{20,}}", "re_"),
    *_words("sentry-token", _BASE64 + "{32,}", "sntrys_", "sntryu_"),
    *_words("new-relic-key", "[0-9A-Za-z-]{20,}", "NRAK-", "NRII-", "NRJS-"),
    *_words("shopify-token", _HEX + "{32,}", "shpat_", "shpca_", "shppa_", "shpss_"),
    *_words("grafana-token", r"[\w+/=]{32,}", "glsa_", "glc_"),
    SecretPattern("url-signature", ("sig=",), re.compile(r"[?&;]sig=([\w%+/=-]{40,})", re.ASCII), group=1),
    *(
        SecretPattern("url-signature", (name,), re.compile(f"{name}(?:=|%3D)({_HEX}{{40,}})"), group=1)
        for name in ("X-Amz-Signature", "X-Goog-Signature")
    ),
    # The private part of a JSON web key.
    SecretPattern(
        "private-key",
        ('"d', ";d&"),
        re.compile(r'[";]d(?:\\{0,16}+"|&quot;)[ ]?:[ ]?(?:\\{0,16}+"|&quot;)([\w-]{40,})', re.ASCII),
        group=1,
        accept=has_digit,
    ),
    *_words("posthog-key", _ALNUM + "{30,}", "phx_"),
    *_plain("square-secret", _WORD + "{22,}", "sq0atp-", "sq0csp-"),
]
RULES: tuple[SecretPattern, ...] = (*_MODELS, *_CONVEX, *_CODE, *_CLOUDS, *_SERVICES)


# Never fails once it has begun, so that no part of the text is read twice.
_DOTTED = re.compile(r"eyJ[\w=-]*+(?:\.[\w=-]*+)*+", re.ASCII)


def find_jwt(text: str) -> Iterator[SecretSpan]:
    """JSON web tokens, cut ones included: a header and a part of what it is about."""
    if "eyJ" not in text:
        return
    for match in _DOTTED.finditer(text):
        parts = match[0].split(".")
        if len(parts) > 1 and len(parts[0]) >= 10 and len(parts[1]) >= 8:
            yield SecretSpan(match.start(), match.end() - (len(match[0]) - len(match[0].rstrip("."))), "jwt")
