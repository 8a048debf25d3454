"""No key is left where a provider leads, or in what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from convex_evals.models.faults import Fault, ModelStopped
from tests.models.bench import ANTHROPIC, KEY, Api, Bench
from tests.provider import Provider, serve

pytestmark = pytest.mark.full


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("litellm", ["openai/model", ANTHROPIC])
def test_no_key_goes_where_a_redirect_leads(api: Api, litellm: str, bench: Bench, anthropic_anywhere: None) -> None:
    bench.api, bench.litellm = api, litellm
    with serve(Provider()) as thief:
        bench.stub.behave = lambda n, body: "redirects"
        bench.stub.elsewhere = f"{thief.url}/chat/completions"
        with pytest.raises(ModelStopped, match="base_url"):
            asyncio.run(bench.ask())
        assert len(bench.stub.requests) == 1 and KEY in str(bench.stub.headers[0])
        assert not thief.requests


@pytest.mark.parametrize("before", [*range(230, 300, 7), 3_990])
def test_no_part_of_a_key_is_left_of_an_error(before: int, bench: Bench) -> None:
    """Messages are cut, and a key on the edge would be cut with them."""
    bench.stub.behave = lambda n, body: "quotes_key_late"
    bench.stub.reply = "x" * before
    reply = asyncio.run(bench.ask())
    told = reply.generation.model_dump_json()
    assert reply.response is None and KEY[:8] not in told


@pytest.mark.parametrize("change", [str.upper, str.title])
def test_a_key_is_found_however_it_is_spelled(change: Callable[[str], str], bench: Bench) -> None:
    bench.stub.behave = lambda n, body: "says_reply"
    bench.stub.reply = f"no: {change(KEY)}"
    told = asyncio.run(bench.ask()).generation.model_dump_json()
    assert "[key]" in told and "planted" not in told.lower()


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_reply_that_quotes_the_key_is_none(api: Api, bench: Bench) -> None:
    """It would be a file, and may be published; it comes in pieces."""
    bench.api = api
    bench.stub.reply = f"Here it is: Bearer {KEY}\n"
    bench.stub.behave = lambda n, body: "ok" if n == 0 else "context"
    reply = asyncio.run(bench.ask())
    assert reply.response is None and reply.generation.attempts[0].fault == Fault.MALFORMED.word
    assert "quotes the API key" in str(reply.generation.attempts[0].message)
    assert all(KEY.encode() not in path.read_bytes() for path in bench.folder.rglob("*"))
