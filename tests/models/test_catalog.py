"""Models by name: a repository's own, those that ship, and what LiteLLM knows without an entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.models.catalog import Catalog, find_model, load_catalog, shipped_models
from convex_evals.models.keys import KEYS, key_of
from convex_evals.models.litellm_loader import load_litellm
from convex_evals.models.price import most_output_tokens, price_map, tariff_of
from convex_evals.records.models import ModelEntry
from tests.factories import write_files
from tests.models.recorded import ASKED

SHIPPED = {entry.slug: entry for entry in shipped_models()}
DIRECT = [slug for slug in SHIPPED if not slug.startswith("openrouter/")]
# By OpenRouter's name of a maker, LiteLLM's.
MAKERS = {
    "google": "gemini",
    "x-ai": "xai",
    "mistralai": "mistral",
    "qwen": "dashscope",
    "moonshotai": "moonshot",
    "z-ai": "zai",
}


def known(slug: str) -> dict[str, object]:
    costs = price_map()
    return costs.get(slug) or costs[slug.partition("/")[2]]


def test_every_main_provider_ships() -> None:
    assert {slug.partition("/")[0] for slug in SHIPPED} == set(ASKED)


@pytest.mark.parametrize("slug", DIRECT)
def test_litellm_knows_what_ships(slug: str) -> None:
    entry, facts = SHIPPED[slug], known(slug)
    assert load_litellm().get_llm_provider(entry.litellm_name)[1] == entry.provider == facts["litellm_provider"]
    assert facts["mode"] == "chat" and "deprecation_date" not in facts
    price = tariff_of(entry).price
    assert entry.price is None and price is not None and 0 < price.input < price.output
    context = facts["max_input_tokens"]
    assert isinstance(context, int) and context >= 100_000
    assert 16_000 < most_output_tokens(entry) <= context / 2


@pytest.mark.parametrize("slug", [slug for slug in SHIPPED if slug not in DIRECT])
def test_openrouter_takes_what_makers_do(slug: str) -> None:
    _, maker, name = slug.split("/")
    direct = ModelEntry(slug=f"{MAKERS.get(maker, maker)}/{name.replace('.', '-') if maker == 'anthropic' else name}")
    entry, price = SHIPPED[slug], tariff_of(direct).price
    assert load_litellm().get_llm_provider(entry.litellm_name)[1] == "openrouter" and price and entry.price
    assert (entry.price.input, entry.price.output) == pytest.approx((price.input, price.output))
    most = entry.most_output_tokens
    assert most and 16_000 < most <= most_output_tokens(direct)


@pytest.mark.parametrize("slug", SHIPPED)
def test_each_says_which_key_it_wants(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = SHIPPED[slug]
    for name in KEYS[entry.provider]:
        monkeypatch.delenv(name, raising=False)
    key = key_of(entry)
    assert (key.variable, key.state) == (ASKED[entry.provider].key, "missing")
    monkeypatch.setenv(ASKED[entry.provider].key, "x")
    assert key_of(entry).state == "set"


def catalog(tmp_path: Path, text: str = "") -> Catalog:
    return load_catalog(write_files(tmp_path, {"models.yaml": text}))


def test_own_entries_replace_and_precede(tmp_path: Path) -> None:
    own = "models:\n  - {slug: ours/coder, base_url: 'http://127.0.0.1:1/v1', litellm: openai/coder}\n"
    found = catalog(tmp_path, own + "  - {slug: openai/gpt-5, name: Mine, parameters: {reasoning_effort: low}}\n")
    assert find_model("gpt-5", found).name == "Mine" and find_model("coder", found).slug == "ours/coder"
    slugs = [entry.slug for entry in found.entries]
    assert slugs[:2] == ["ours/coder", "openai/gpt-5"] and slugs.count("openai/gpt-5") == 1
    assert len(slugs) == len(SHIPPED) + 1
    clash = catalog(tmp_path, own.replace("ours/coder", "ours/gpt-5"))
    assert find_model("gpt-5", clash).slug == "ours/gpt-5", "one's own comes first"
    assert find_model("openai/gpt-5", clash).slug == "openai/gpt-5"


@pytest.mark.parametrize(
    ("name", "api"),
    [
        ("anthropic/claude-opus-4-8", "chat"),
        ("groq/openai/gpt-oss-120b", "chat"),
        ("openai/gpt-5.3-codex", "responses"),
        ("openrouter/somebody/new-model", "chat"),
    ],
)
def test_what_litellm_knows_needs_no_entry(name: str, api: str, tmp_path: Path) -> None:
    entry = find_model(name, catalog(tmp_path))
    assert (entry.slug, entry.litellm_name, entry.api) == (name, name, api)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gpt5", "did you mean 'gpt-5'?"),
        ("openai/gpt-51", "did you mean 'openai/gpt-5"),
        ("nobody/knows", "LiteLLM does not know it either; add it to models.yaml"),
        ("claude-opus-4-8", "did you mean 'anthropic/claude-opus-4-8'?"),
        ("openai/text-embedding-3-small", "LiteLLM"),
        ("openrouter/a/name of words", "LiteLLM"),
    ],
)
def test_what_nobody_knows(name: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such model") as error:
        find_model(name, catalog(tmp_path))
    assert hint in str(error.value)
