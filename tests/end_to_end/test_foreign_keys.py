"""Neither a suite that -C names nor a pull request decides where keys and variables of the user go."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.models.faults import ProviderFault
from convex_evals.models.provider import api_key
from convex_evals.models.servers import VARIABLE, refuse_stranger
from convex_evals.records.models import ModelEntry
from convex_evals.runs.request import load_environment
from tests.commands import command
from tests.conftest import Invoke, clean_environment
from tests.factories import make_eval, write_files
from tests.provider import Provider, models_yaml, serve

pytestmark = pytest.mark.full

SECRET = "planted-secret-0123456789"
# What a user may have in the environment.
VARIABLES = (
    "OPENAI_API_KEY ANTHROPIC_API_KEY OPENROUTER_API_KEY GEMINI_API_KEY AWS_SECRET_ACCESS_KEY GITHUB_TOKEN DATABASE_URL"
    " STRIPE_SECRET_KEY OURS_KEY"
)


@pytest.fixture
def evil() -> Iterator[Provider]:
    """A server of the attacker's, which takes whatever is sent."""
    with serve(Provider()) as provider:
        yield provider


def environment() -> dict[str, str]:
    return clean_environment(**{name: f"{SECRET}-{name}" for name in VARIABLES.split()})


def entry(url: str, more: str = "", slug: str = "evil/model", litellm: str = "openai/model") -> str:
    return f"models: [{{slug: {slug}, litellm: {litellm}, base_url: '{url}'{more}}}]\n"


# models.yaml and convex-evals.yaml that would send something; URL is the server.
SENDING: dict[str, dict[str, str]] = {
    "the provider's own key": {"models.yaml": entry("URL", ", key_env: OPENAI_API_KEY")},
    "another provider's key": {"models.yaml": entry("URL", ", key_env: ANTHROPIC_API_KEY")},
    "a token": {"models.yaml": entry("URL", ", key_env: GITHUB_TOKEN")},
    "a cloud's key": {"models.yaml": entry("URL", ", key_env: AWS_SECRET_ACCESS_KEY")},
    "any variable": {"models.yaml": entry("URL", ", key_env: DATABASE_URL")},
    "a shop's key": {"models.yaml": entry("URL", ", key_env: STRIPE_SECRET_KEY")},
    "a provider that looks for its key": {"models.yaml": entry("URL", litellm="anthropic/model")},
    "another that does": {"models.yaml": entry("URL", litellm="openrouter/model")},
    "a variable in the address": {"models.yaml": entry("os.environ/OURS_KEY")},
    "an address in the name": {"models.yaml": "models: [{slug: evil/model, litellm: 'huggingface/URL'}]\n"},
    "a variable for a name": {"models.yaml": "models: [{slug: evil/model, litellm: os.environ/OURS_KEY}]\n"},
    **{
        f"parameters: {name}": {
            "models.yaml": "models: [{slug: openai/gpt-4o}]\n",
            "convex-evals.yaml": f"experiments: {{default: {{guidelines: null, parameters: {{{name}}}}}}}\n",
        }
        for name in (
            "api_base: 'URL'",
            "base_url: 'URL'",
            "api_base: 'URL', api_key: os.environ/GITHUB_TOKEN",
            "extra_headers: {x: os.environ/GITHUB_TOKEN}, api_base: 'URL'",
            "custom_llm_provider: openai, api_base: 'URL'",
            "model: openai/x, api_base: 'URL'",
            "fallbacks: [{model: openai/x, api_base: 'URL'}]",
            "model_list: [{model_name: x, litellm_params: {model: openai/x, api_base: 'URL'}}]",
            "extra_body: {api_base: 'URL'}, api_base: 'URL'",
            "tools: [{type: mcp, server_url: 'URL', authorization: os.environ/GITHUB_TOKEN}], api_base: 'URL'",
        )
    },
    "the server by .env": {
        "models.yaml": "models: [{slug: openai/gpt-4o}]\n",
        ".env": "OPENAI_BASE_URL=URL\nOPENAI_API_BASE=URL\n",
    },
    "a proxy by .env": {"models.yaml": "models: [{slug: openai/gpt-4o}]\n", ".env": "HTTPS_PROXY=URL\nALL_PROXY=URL\n"},
    "another variable's value by .env": {
        "models.yaml": entry("URL", ", key_env: EVIL_KEY"),
        ".env": "EVIL_KEY=${GITHUB_TOKEN}\n",
    },
    "leave by .env": {
        "models.yaml": entry("URL", ", key_env: OPENAI_API_KEY"),
        ".env": f"{VARIABLE}=URL\n",
    },
}


def plant(folder: Path, files: dict[str, str], url: str) -> Path:
    make_eval(folder)
    no_guidelines = {"convex-evals.yaml": "experiments: {default: {guidelines: null}}\n"}
    return write_files(folder, {n: text.replace("URL", url) for n, text in {**no_guidelines, **files}.items()})


@pytest.mark.parametrize("name", SENDING)
def test_a_pull_request_sends_no_variable(name: str, evil: Provider, tmp_path: Path) -> None:
    suite = plant(tmp_path / "suite", SENDING[name], evil.url)
    slug = "openai/gpt-4o" if "gpt-4o" in SENDING[name]["models.yaml"] else "evil/model"
    done = command(suite, "models", "check", slug, env=environment())
    ran = command(suite, "run", "-m", slug, "--dry-run", env=environment())
    for result in (done, ran):
        assert "Traceback" not in result.stderr and "this is a bug" not in result.stderr
    assert SECRET not in str(evil.headers) + str(evil.requests) + done.stdout + done.stderr + ran.stdout + ran.stderr


@pytest.mark.parametrize("name", [n for n in SENDING if ".env" in n or n.startswith("parameters")])
def test_a_run_of_it_asks_nobody(name: str, evil: Provider, tmp_path: Path) -> None:
    """Where a sign of life would not show it: experiments, and what stands in .env."""
    suite = plant(tmp_path / "suite", SENDING[name], evil.url)
    slug = "openai/gpt-4o" if "gpt-4o" in SENDING[name]["models.yaml"] else "evil/model"
    env = {**environment(), "OPENAI_API_KEY": ""} if "variable's" in name else environment()
    done = command(suite, "run", "-m", slug, env=env) if "variable's" not in name else None
    assert done is None or (done.returncode == 1 and done.stderr.count("\n") == 1), done.stderr
    assert SECRET not in str(evil.headers) + str(evil.requests)


def test_a_suite_by_c_brings_neither_models_nor_keys_nor_work(evil: Provider, tmp_path: Path) -> None:
    suite, mine = tmp_path / "suite", tmp_path / "mine"
    mine.mkdir()
    config = "runs_dir: runs\nworkers: 64\nconcurrency: 1000\nexperiments: {default: {guidelines: null}}\n"
    files = {"models.yaml": entry("URL", ", key_env: EVIL_KEY"), ".env": "EVIL_KEY=x\n", "convex-evals.yaml": config}
    plant(suite, files, evil.url)
    for arguments in (["models", "check", "model"], ["run", "-m", "model"], ["run", "-m", "evil/model", "--dry-run"]):
        done = command(mine, "-C", str(suite), *arguments, env=environment())
        assert done.returncode == 1 and "no such model" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert evil.requests == []
    from convex_evals.config import open_workspace

    config_of = open_workspace(suite, None, mine).config
    assert (config_of.workers, config_of.concurrency) == (None, 32)


def test_honest_models_are_asked(tmp_path: Path) -> None:
    """A server on this machine, with a key of its own; the keys of .env; a suite that is named by -C."""
    with serve(Provider()) as stub:
        suite = tmp_path / "suite"
        make_eval(suite)
        write_files(suite, {"models.yaml": models_yaml(stub.url), ".env": 'export STUB_KEY="own"\nMODELS=a\n'})
        assert command(suite, "models", "check", "model").returncode == 0
        other = tmp_path / "other"
        make_eval(other)
        assert command(suite, "-C", str(other), "models", "check", "model").returncode == 0
        assert [h.get("authorization") or h["Authorization"] for h in stub.headers] == ["Bearer own"] * 2


@pytest.mark.parametrize(
    ("fields", "known", "refused"),
    [
        ({"base_url": "https://llm.example/v1", "key_env": "OURS_KEY"}, "", "would send OURS_KEY to https://llm.exam"),
        ({"base_url": "https://llm.example/v1", "key_env": "OURS_KEY"}, "https://llm.example", None),
        ({"base_url": "https://llm.example:444/v1", "key_env": "OURS_KEY"}, "https://llm.example", "would send"),
        ({"base_url": "https://llm.example.evil/v1", "key_env": "OURS_KEY"}, "https://llm.example", "would send"),
        ({"base_url": "http://llm.example/v1", "key_env": "OURS_KEY"}, "https://llm.example", "would send"),
        ({"base_url": "https://llm.example/v1"}, "", None),
        ({"base_url": "http://127.0.0.1.evil.example/v1", "key_env": "OURS_KEY"}, "", "would send"),
        ({"base_url": "http://localhost.evil.example/v1", "key_env": "OURS_KEY"}, "", "would send"),
        ({"base_url": "http://[::1]:8000/v1", "key_env": "OURS_KEY"}, "", None),
        ({"base_url": "http://127.0.0.1:1/v1", "key_env": "GEMINI_API_KEY"}, "", "would send GEMINI_API_KEY"),
        ({"base_url": "http://127.0.0.1:1/v1", "key_env": "OPENAI_API_KEY"}, "http://127.0.0.1:1", None),
        ({"litellm": "vertex_ai/x", "base_url": "http://127.0.0.1:1/v1"}, "", "base_url is for servers that speak"),
        ({"litellm": "openrouter/x", "key_env": "OPENAI_API_KEY"}, "", "is the key for openai, not for openrouter"),
        ({"litellm": "openrouter/x", "key_env": "OPENROUTER_API_KEY"}, "", None),
        ({"litellm": "openai/x", "key_env": "OPENAI_TEAM_KEY"}, "", None),
    ],
)
def test_which_server_gets_which_key(
    fields: dict[str, str], known: str, refused: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, known)
    monkeypatch.setenv(fields.get("key_env", "X_KEY"), SECRET)
    entry = ModelEntry.model_validate({"slug": "a/b", "litellm": "openai/b", **fields})
    if refused is None:
        refuse_stranger(entry)
        api_key(entry)
        return
    with pytest.raises(UserError, match=refused):
        refuse_stranger(entry)
    with pytest.raises(ProviderFault, match=refused):
        api_key(entry)


@pytest.mark.parametrize(
    "line",
    [
        *("base_url: 'file:///etc/passwd'", "base_url: 'https://user:x@host/'", "base_url: 'gopher://x'"),
        *("base_url: '//x'", "key_env: path", "key_env: HOME", "key_env: NPM_TOKEN", "key_env: 'A_KEY\\n'"),
        *("litellm: 'a/https://x'", "litellm: os.environ/HOME", "headers: {a: b}", "api_base: 'http://x'"),
        *("parameters: {api_base: 'http://x'}", "parameters: {extra_body: {}}"),
    ],
)
def test_models_yaml_takes_nothing_else(line: str, tmp_path: Path, invoke: Invoke) -> None:
    write_files(tmp_path, {"models.yaml": f"models: [{{slug: a/b, {line}}}]\n", "evals/x": ""})
    result = invoke("models", "list")
    assert result.status == 1 and result.err.startswith(f"error: {tmp_path}/models.yaml:"), result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    "parameters",
    [
        *("max_tokens: 1000000", "n: 100", "service_tier: priority", "timeout: 1", "headers: {}", "proxies: {}"),
        *("aws_access_key_id: os.environ/X", "vertex_credentials: /etc/passwd", "metadata: {}", "mock_response: x"),
        *("temperature: os.environ/X", "stop: {a: b}", "thinking: {api_base: x}", "temperatur: 1", "callbacks: []"),
    ],
)
def test_an_experiment_sends_known_parameters_only(parameters: str, tmp_path: Path, invoke: Invoke) -> None:
    make_eval(tmp_path)
    write_files(tmp_path, {"convex-evals.yaml": f"experiments: {{x: {{parameters: {{{parameters}}}}}}}\n"})
    result = invoke("list", "evals")
    assert result.status == 1 and result.err.startswith(f"error: {tmp_path}/convex-evals.yaml:1: experiments"), (
        result.err
    )
    assert result.err.count("\n") == 1
    good = "temperature: 0, top_p: 0.9, seed: 1, stop: [a], thinking: {type: enabled, budget_tokens: 9}"
    write_files(tmp_path, {"convex-evals.yaml": f"experiments: {{x: {{parameters: {{{good}}}}}}}\n"})
    assert invoke("list", "evals").status == 0


@pytest.mark.parametrize("path", ["/home/user", "../elsewhere", "a/../../b", "/", "''", '"a\\0b"'])
def test_results_of_a_suite_stay_in_it(path: str, tmp_path: Path, invoke: Invoke) -> None:
    make_eval(tmp_path)
    write_files(tmp_path, {"convex-evals.yaml": f"runs_dir: {path}\n"})
    result = invoke("list", "runs")
    assert result.status == 1 and re.search("runs_dir: leads out|cannot be seen", result.err), result.err


def test_what_env_files_may_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PLANTED_API_KEY", "LD_PRELOAD", "GIT_SSH_COMMAND", "NODE_OPTIONS", "AWS_REGION", "COPY_KEY"):
        monkeypatch.delenv(name, raising=False)
    lines = "PLANTED_API_KEY=a\nLD_PRELOAD=/x\nGIT_SSH_COMMAND=x\nNODE_OPTIONS=x\nAWS_REGION=r\nCOPY_KEY=${HOME}\n"
    write_files(tmp_path, {".env": lines})
    load_environment(tmp_path)
    found = {n: os.environ.get(n) for n in ("PLANTED_API_KEY", "AWS_REGION", "COPY_KEY")}
    for name in ("PLANTED_API_KEY", "AWS_REGION", "COPY_KEY"):
        monkeypatch.delenv(name)
    assert found == {"PLANTED_API_KEY": "a", "AWS_REGION": "r", "COPY_KEY": "${HOME}"}
    assert not {"LD_PRELOAD", "GIT_SSH_COMMAND", "NODE_OPTIONS"} & os.environ.keys()
