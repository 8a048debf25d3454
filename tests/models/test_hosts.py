"""A key goes to the provider's own servers, whatever strings LiteLLM builds their addresses from."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from convex_evals.errors import UserError
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.guard import Guard, guarded
from convex_evals.models.hosts import HOSTS, is_elsewhere, is_server_of
from convex_evals.models.keys import KEYS
from convex_evals.models.litellm_loader import load_litellm
from convex_evals.models.provider import Call, stream
from convex_evals.models.servers import refuse_stranger
from convex_evals.records.models import ModelEntry
from tests.commands import command
from tests.conftest import clean_environment
from tests.factories import make_eval, write_files
from tests.provider import Provider, serve

pytestmark = pytest.mark.full

AWS = {"AWS_ACCESS_KEY_ID": "AKIAPLANTED", "AWS_SECRET_ACCESS_KEY": "planted" * 4, "AWS_SESSION_TOKEN": "planted-token"}
CALL = Call([{"role": "user", "content": "x"}], 100, False, {})


@contextmanager
def listening() -> Iterator[tuple[int, list[object]]]:
    """A port, and who connected to it: over TLS, a connection is all that a test can see."""
    connected: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, peer = server.accept()
                except OSError:
                    return
                connected.append(peer)
                connection.close()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], connected
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("model", "region"),
    [
        ("sagemaker/x", "evil.example:PORT/"),
        ("sagemaker/x", "evil.example:PORT#"),
        ("bedrock/agentcore/arn:aws:bedrock-agentcore:us-east-1:1:runtime/theirs", "us-east-1"),
    ],
)
def test_a_region_is_no_address(model: str, region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even in the shell, where it may be somebody else's input. An agent of another account is no model."""
    lookup = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: lookup("127.0.0.1", *rest, **more))
    with listening() as (port, connected):
        for name, value in {**AWS, "AWS_REGION_NAME": region.replace("PORT", str(port))}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(ProviderFault) as caught:
            asyncio.run(stream(ModelEntry(slug="acme/x", litellm=model), CALL, print))
        assert connected == []
        assert caught.value.fault is Fault.WRONG_SERVER and "nothing was sent" in str(caught.value)


@pytest.mark.parametrize("name", ["AWS_REGION_NAME", "AWS_REGION", "AWS_DEFAULT_REGION", "VERTEXAI_LOCATION"])
@pytest.mark.parametrize("value", ["x@127.0.0.1:PORT/", "evil.example/", "evil.example#"])
def test_an_env_file_names_regions_only(name: str, value: str, tmp_path: Path) -> None:
    with listening() as (port, connected):
        make_eval(tmp_path)
        files = {"models.yaml": "models: [{slug: acme/x, litellm: sagemaker/x}]\n"}
        write_files(tmp_path, {**files, ".env": f"{name}='{value.replace('PORT', str(port))}'\n"})
        done = command(tmp_path, "models", "check", "acme/x", env=clean_environment(**AWS))
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
        assert f"{name} is not the name of a region" in done.stderr and connected == []


@pytest.mark.parametrize(
    "name",
    [
        "bedrock/agentcore/arn:aws:bedrock-agentcore:evil.example/y:1:runtime/z",
        "bedrock/agentcore/arn:aws:bedrock-agentcore:x@127.0.0.1/y:1:runtime/z",
        "bedrock/converse/arn:aws:bedrock:evil.example:1:inference-profile/z",
        "bedrock/arn:evil.example:bedrock:us-east-1:1:x",
        "sagemaker/arn:aws:sagemaker",
    ],
)
def test_an_arn_names_a_region(name: str) -> None:
    with pytest.raises(ValidationError, match="is not an ARN"):
        ModelEntry(slug="acme/x", litellm=name)


@pytest.mark.parametrize("provider", HOSTS)
def test_litellm_asks_where_we_expect_it(provider: str) -> None:
    """Else honest requests would be refused."""
    base = load_litellm().get_llm_provider(f"{provider}/model")[3]
    assert base is None or is_server_of(provider, base), base


def test_providers_with_a_key_have_servers() -> None:
    assert HOSTS.keys() >= KEYS.keys()


@pytest.mark.parametrize(
    ("provider", "url", "expected"),
    [
        ("openai", "https://api.openai.com/v1/chat/completions", True),
        ("openai", "https://api.openai.com:443/v1", True),
        ("openai", "http://api.openai.com/v1", False),
        ("openai", "https://api.openai.com:8443/v1", False),
        ("openai", "https://api.openai.com.evil.example/v1", False),
        ("openai", "https://evil.example/api.openai.com", False),
        ("openai", "https://api.openai.com@evil.example/v1", False),
        ("openai", "https://evil.example\\@api.openai.com/v1", False),
        ("openai", "https://api.openai.com\n.evil.example/v1", False),
        ("openai", "https://apixopenai.com/v1", False),
        ("openai", "https://api.anthropic.com/v1", False),
        ("bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com/model/x/converse", True),
        ("bedrock", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn/model/x", True),
        ("bedrock", "https://bedrock-runtime.evil.example/y.amazonaws.com/", False),
        ("bedrock", "https://bedrock-agentcore.us-east-1.amazonaws.com/runtimes/x", False),
        ("bedrock", "https://evil.s3.us-east-1.amazonaws.com/", False),
        ("sagemaker", "https://runtime.sagemaker.eu-west-1.amazonaws.com/endpoints/x", True),
        ("vertex_ai", "https://us-central1-aiplatform.googleapis.com/v1", True),
        ("vertex_ai", "https://storage.googleapis.com/evil", False),
        ("azure", "https://mine.openai.azure.com/openai", False),
        ("ollama", "http://localhost:11434/api/chat", True),
        ("nobody", "https://api.openai.com/v1", False),
    ],
)
def test_which_servers_are_a_providers(provider: str, url: str, expected: bool) -> None:
    assert is_server_of(provider, url) is expected


def test_a_shell_names_the_server_of_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_API_BASE", "https://mine.openai.azure.com/")
    monkeypatch.setenv("FIREWORKS_API_BASE", "https://fireworks.example/v1")
    assert is_server_of("azure", "https://mine.openai.azure.com/openai/x")
    assert not is_server_of("azure", "https://theirs.openai.azure.com/openai/x")
    assert is_server_of("fireworks_ai", "https://fireworks.example/v1/chat")
    assert not is_server_of("openai", "https://mine.openai.azure.com/openai/x")


@pytest.mark.parametrize(
    ("slug", "server", "expected"),
    [
        ("openai/gpt-5", "https://api.openai.com", False),
        ("openai/gpt-5", "https://api.openai.com:443", False),
        ("openai/gpt-5", "https://mine.openai.azure.com", False),
        ("anthropic/claude-sonnet-5", "https://bedrock-runtime.eu-west-1.amazonaws.com", False),
        ("openai/gpt-5", "https://api.openai.com.evil.example", True),
        ("openai/gpt-5", "http://api.openai.com", True),
        ("openai/gpt-5", "http://127.0.0.1:4000", True),
        ("anthropic/claude-sonnet-5", "https://proxy.example", True),
        ("ours/gpt-5", "https://proxy.example", False),
        ("ollama/llama3", "http://localhost:11434", False),
        ("azure/gpt-5", "https://gateway.example", False),
        ("openai/gpt-5", None, False),
    ],
)
def test_whose_server_answered(slug: str, server: str | None, expected: bool) -> None:
    assert is_elsewhere(slug, server) is expected


@pytest.mark.parametrize("blocking", [True, False])
def test_nothing_is_sent_elsewhere(blocking: bool) -> None:
    """Whichever client of httpx a provider's code uses."""

    async def ask(url: str) -> None:
        guard = Guard.of_tokens(10, web_search=False, asks=lambda url: is_server_of("openai", url))
        async with guarded(guard):
            if blocking:
                httpx.Client().post(url, headers={"authorization": "Bearer planted"}, json={})
            else:
                await httpx.AsyncClient().post(url, headers={"authorization": "Bearer planted"}, json={})

    with serve(Provider()) as evil:
        with pytest.raises(ProviderFault, match="nothing was sent") as caught:
            asyncio.run(ask(f"{evil.url}/chat/completions"))
        assert caught.value.fault is Fault.WRONG_SERVER and evil.requests == []


@pytest.mark.parametrize(
    ("litellm", "key", "refused"),
    [
        ("openai/x", "SENDGRID_API_KEY", "SENDGRID_API_KEY is not known to be a key for openai"),
        ("bedrock/anthropic.x", "SENDGRID_API_KEY", "not known to be a key for bedrock"),
        ("gemini/x", "OPENAI_API_KEY", "is the key for openai, not for gemini"),
        ("openai/x", "OPEN_AI_KEY", "call yours like OPENAI_TEAM_API_KEY"),
        ("openai/x", "OPENAI_TEAM_KEY", None),
        ("fireworks_ai/x", "FIREWORKS_TEAM_KEY", None),
        ("gemini/x", "GOOGLE_API_KEY", None),
        ("github_copilot/gpt-4o", None, "github_copilot is not a provider whose servers we know"),
        ("langgraph/agent", None, "langgraph is not a provider whose servers we know"),
        ("aiohttp_openai/x", "OPENAI_API_KEY", "aiohttp_openai is not a provider whose servers we know"),
        ("gpt-4o", None, "write litellm: openai/NAME with base_url"),
    ],
)
def test_whose_key_it_is(litellm: str, key: str | None, refused: str | None) -> None:
    entry = ModelEntry(slug="acme/x", litellm=litellm, key_env=key)
    if refused is None:
        refuse_stranger(entry)
        return
    with pytest.raises(UserError, match=refused):
        refuse_stranger(entry)
