"""Secrets that the plugins of detect-secrets know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from convex_evals.sessions.secrets.spans import SecretSpan

_PACKAGE = "detect_secrets.plugins"
_TAIL = re.compile(r"[A-Za-z0-9_-]*+")
_RANK = 1


@dataclass(frozen=True, slots=True)
class _Use:
    """How patterns of a plugin are applied: near a hint only, because some take quadratic time in a long line."""

    kind: str
    plugin: str  # module and class
    words: str  # in lower case: one of them stands in each hint
    hints: str  # a pattern
    before: int = 0  # of a hint: where a secret that it belongs to may begin
    after: int = 120
    group: int = 0
    only: int | None = None  # of the plugin's patterns; all of them otherwise

    def finder(self) -> PluginFinder:
        module, _, name = self.plugin.partition(".")
        patterns = getattr(import_module(f"{_PACKAGE}.{module}"), name).denylist
        chosen = patterns if self.only is None else (patterns[self.only],)
        return PluginFinder(self, tuple(self.words.split()), re.compile(self.hints), tuple(chosen))


@dataclass(frozen=True, slots=True)
class PluginFinder:
    """Finds what the patterns of one plugin match near its hints."""

    use: _Use
    words: tuple[str, ...]
    hints: re.Pattern[str]
    patterns: tuple[re.Pattern[str], ...]

    def find(self, text: str) -> Iterator[SecretSpan]:
        use = self.use
        done = 0  # what was looked at already
        for hint in self.hints.finditer(text):
            if hint.start() < done:
                continue
            for pattern in self.patterns:
                for match in pattern.finditer(text, max(done, hint.start() - use.before), hint.end() + use.after):
                    start, end = match.span(use.group)
                    tail = _TAIL.match(text, end)
                    done = end if tail is None else tail.end()
                    yield SecretSpan(start, done, use.kind, _RANK)


_QUOTED_40 = r"[\"'](?=[0-9A-Za-z/+]{40}[\"'])"

# Not used are those for high entropy and addresses, which find too much; those for keywords, OpenAI, npm, JWT and basic
# authentication, whose patterns ours include; and the single patterns that match ordinary words.
_USES = (
    _Use("artifactory-key", "artifactory.ArtifactoryDetector", "akc", "AKC", before=1, only=0),
    _Use("aws-access-key", "aws.AWSKeyDetector", "a3t asia akia abia acca", "A3T|A[BKS]IA|ACCA", only=0),
    _Use("aws-secret-key", "aws.AWSKeyDetector", "aws", _QUOTED_40, before=60, group=1, only=1),
    _Use("azure-storage-key", "azure_storage_key.AzureStorageKeyDetector", "accountkey=", "AccountKey="),
    _Use(
        "cloudant-key",
        "cloudant.CloudantDetector",
        "cl_ cl- clou",
        "(?i:cloudant|cl[_-]|clou)",
        before=3,
        group=1,
        only=0,
    ),
    _Use("discord-token", "discord.DiscordBotTokenDetector", ".", r"\.(?=[\w-]{6}\.)", before=26, after=40),
    _Use("github-token", "github_token.GitHubTokenDetector", "ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_"),
    _Use("gitlab-token", "gitlab_token.GitLabTokenDetector", "gl gr1348941", "gl[a-z]{2,5}-|GR1348941", after=1100),
    _Use("ibm-key", "ibm_cloud_iam.IbmCloudIamDetector", "ibm iam cloud_", "(?i:ibm|iam|cloud_)", before=3, group=1),
    _Use("ibm-key", "ibm_cos_hmac.IbmCosHmacDetector", "cos_ secret_", "(?i:cos_|secret_)", before=12, group=1),
    _Use("mailchimp-key", "mailchimp.MailchimpDetector", "-us", r"-us(?=\d)", before=32, after=2),
    _Use("pypi-token", "pypi_token.PypiTokenDetector", "pypi-a", "pypi-A", after=400),
    _Use("sendgrid-key", "sendgrid.SendGridDetector", "sg.", r"SG\."),
    _Use("slack-token", "slack.SlackDetector", "xox https://hooks", "(?i:xox|https://hooks)", after=200),
    _Use("softlayer-key", "softlayer.SoftlayerDetector", "softlayer sl_", "(?i:softlayer|sl_)", before=30, group=1),
    _Use("square-secret", "square_oauth.SquareOAuthDetector", "sq0csp-", "sq0csp-"),
    _Use("stripe-key", "stripe.StripeDetector", "k_live_", "[rs]k_live_"),
    _Use("telegram-token", "telegram_token.TelegramBotTokenDetector", ":aa", ":AA", before=10, after=40),
    _Use("twilio-key", "twilio.TwilioKeyDetector", "ac sk", "AC(?=[a-z0-9]{32})|SK(?=[a-z0-9]{32})"),
)


@cache
def plugin_finders() -> tuple[PluginFinder, ...]:
    """One for each plugin that is used."""
    # Importing them takes most of a second, for a library that fetches pages, and only who reads sessions needs it.
    return tuple(use.finder() for use in _USES)
