"""The worst that hostile data does to this process: how long other tasks wait, and the memory that it takes.

    python -m bench.bounds [--filter TEXT]

Prints a line for each: model replies, JSON documents, and what a provider sends over a real connection.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import multiprocessing.connection
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial

from convex_evals.inputs.bounded_json import decode
from convex_evals.models.faults import ProviderFault
from convex_evals.models.litellm_loader import load_litellm
from convex_evals.models.provider import Call, stream
from convex_evals.records.models import ModelEntry
from convex_evals.suite.extract import extract_aside
from tests.inputs import test_bounded_json
from tests.models import test_hostile_providers
from tests.provider import Provider, serve
from tests.suite import test_blocks

Work = Callable[[], Awaitable[object]]


def works() -> Iterator[tuple[str, Work]]:
    for name, text in test_blocks.HOSTILE.items():
        yield f"reply: {name}", partial(extract_aside, text)
    for name, document in test_bounded_json.HOSTILE.items():
        yield f"JSON: {name}", partial(_decoded, document)
    for way in (*test_hostile_providers._TOO_MUCH, "many_events"):
        for litellm in ("openai/model", "anthropic/claude-sonnet-4-5"):
            yield f"provider: {way}, {litellm.partition('/')[0]}", partial(_asked, way, litellm)


async def _decoded(document: bytes) -> None:
    with suppress(ValueError):
        decode(document, test_bounded_json.LIMITS)


async def _asked(way: str, litellm: str) -> None:
    parent, child = multiprocessing.Pipe()
    server = multiprocessing.get_context("fork").Process(target=_serve, args=(way, child), daemon=True)
    server.start()
    try:
        entry = ModelEntry(slug="stub/model", litellm=litellm, base_url=parent.recv(), key_env="STUB_KEY")
        with suppress(ProviderFault):
            await stream(entry, Call([{"role": "user", "content": "x"}], 100, False, {}), lambda piece: None)
    finally:
        server.kill()


def _serve(way: str, channel: multiprocessing.connection.Connection) -> None:
    with serve(Provider(behave=lambda n, body: way)) as provider:
        channel.send(provider.url)
        time.sleep(3600)


async def _watched(work: Work) -> float:
    """The longest time for which other tasks had to wait, in seconds of this thread's work."""
    task = asyncio.ensure_future(work())
    worst = 0.0
    while not task.done():
        before = time.thread_time()
        await asyncio.sleep(0.005)
        worst = max(worst, time.thread_time() - before)
    task.result()
    return worst


def _measure(work: Work, channel: multiprocessing.connection.Connection) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worst = asyncio.run(_watched(work))
    channel.send((worst, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--filter", default="", metavar="TEXT", help="only what has it in its name")
    wanted: str = parser.parse_args().filter
    os.environ["STUB_KEY"] = "a-key-of-nobody"
    load_litellm()
    found: list[tuple[float, float]] = []
    for name, work in works():
        if wanted not in name:
            continue
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(target=_measure, args=(work, theirs))
        process.start()
        worst, mib = ours.recv()
        process.join()
        found.append((worst, mib))
        print(f"{name:50} {worst * 1000:7.0f} ms {mib:6.0f} MiB", flush=True)
    if not found:
        sys.exit(f"--filter {wanted}: no name has it")
    print(f"{'worst':50} {max(w for w, _ in found) * 1000:7.0f} ms {max(m for _, m in found):6.0f} MiB")


if __name__ == "__main__":
    main()
