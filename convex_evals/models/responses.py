"""The Responses API: what LiteLLM's translation to chat chunks leaves out, and a package that it does not need."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

_GATEWAY = "litellm.responses.mcp.litellm_proxy_mcp_handler"


def do_without_gateway() -> None:
    """Let LiteLLM send requests to `/responses` without its MCP gateway.

    It imports the gateway, and with it a web server (45 MB, two seconds), to ask whether a tool is the gateway's own.
    None of ours is.
    """
    if _GATEWAY in sys.modules:
        return
    module = ModuleType(_GATEWAY)
    module.LiteLLM_Proxy_MCP_Handler = _NoGateway  # type: ignore[attr-defined]
    sys.modules[_GATEWAY] = module


def stream_for_real(litellm: Any, name: str) -> None:
    """Have replies of the model `name` streamed, although LiteLLM may not know it.

    It asks for the replies of unknown models in one piece, and then plays them as if they had streamed.
    """
    provider, _, model = name.partition("/")
    if name in litellm.model_cost or model in litellm.model_cost:
        return
    facts = {"litellm_provider": provider, "mode": "chat", "supports_native_streaming": True}
    litellm.register_model({name: facts})


class _NoGateway:
    @staticmethod
    def should_use_litellm_mcp_gateway(tools: object) -> bool:
        return False


class ResponseEvents:
    """The provider's events, on their way to LiteLLM's translation, which keeps neither searches nor refusals."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._iterator: Any = None
        self.searches = 0
        self.refused = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __aiter__(self) -> ResponseEvents:
        self._iterator = aiter(self._inner)
        return self

    async def __anext__(self) -> Any:
        event = await anext(self._iterator)
        kind = str(getattr(getattr(event, "type", ""), "value", getattr(event, "type", "")))
        if kind.startswith("response.refusal."):
            self.refused = True
        if kind == "response.output_item.done" and _field(getattr(event, "item", None), "type") == "web_search_call":
            self.searches += 1
        return event


def tap(completion_stream: Any) -> ResponseEvents | None:
    """Listen to the events below `completion_stream`; None where it is not one of the Responses API."""
    if type(completion_stream).__name__ != "OpenAiResponsesToChatCompletionStreamIterator":
        return None
    events = ResponseEvents(completion_stream.streaming_response)
    completion_stream.streaming_response = events
    return events


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)
