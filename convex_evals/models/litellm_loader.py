"""LiteLLM, loaded once and kept quiet."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from convex_evals.models.responses import do_without_gateway


@cache
def load_litellm() -> Any:
    """LiteLLM, quiet, with the price map that it brings: nothing is fetched, nothing is reported to anybody."""
    # Otherwise it would read a .env of its own finding.
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    import logging
    import warnings

    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    with _uncollected():
        import litellm

    do_without_gateway()
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    litellm.telemetry = False
    # Where a provider counts no tokens LiteLLM would, in time that grows with the square of a long word.
    litellm.disable_token_counter = True
    for name in ("LiteLLM", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector, which would look at 300,000 new objects again and again and find none to drop.

    They stay for as long as the process does, so it need not look at them later either.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.enable()


def takes_search_options(name: str) -> bool:
    """Whether chat completions of the model `name` can be asked to search."""
    litellm = load_litellm()
    try:
        model, provider, _, _ = litellm.get_llm_provider(name)
        return "web_search_options" in (litellm.get_supported_openai_params(model, custom_llm_provider=provider) or ())
    except litellm.exceptions.BadRequestError:
        return False
