"""The Python client of Convex (the PyPI package `convex`) against the embedded backend."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from convex_evals.grading.backends import ADMIN_KEY, Endpoints
from convex_evals.grading.backends.embedded import EmbeddedBackend
from convex_evals.grading.backends.push import push
from convex_evals.grading.checker import Checker
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.toolchain import locate_toolchain

convex = pytest.importorskip("convex", reason="needs the Python package `convex`: pip install -e '.[dev]'")

pytestmark = pytest.mark.grading

FILES = {
    "package.json": json.dumps({"name": "app", "dependencies": {"convex": "*"}}),
    "convex/notes.ts": """
import { query, mutation, action, internalMutation } from "./_generated/server";
import { internal } from "./_generated/api";
import { ConvexError, v } from "convex/values";
export const list = query({ args: { tag: v.string() }, handler: async (ctx, { tag }) => {
  if (tag === "forbidden") throw new ConvexError({ code: 403n, tag });
  return (await ctx.db.query("notes").collect()).filter((note) => note.tag === tag).map((note) => note.text);
} });
export const add = mutation({ args: { tag: v.string(), text: v.string() }, handler: async (ctx, note) => {
  if (note.text === "") throw new Error("empty");
  await ctx.db.insert("notes", note);
} });
export const echo = query({ args: { value: v.any() }, handler: async (_ctx, { value }) => value });
export const hide = internalMutation({ args: {}, handler: async (ctx) => {
  for (const note of await ctx.db.query("notes").collect()) await ctx.db.delete(note._id);
  return "hidden";
} });
export const shout = action({ args: { text: v.string() }, handler: async (_ctx, { text }) => text.toUpperCase() });
""",
}


@asynccontextmanager
async def deployed(folder: Path, toolchain_cache: Path) -> AsyncIterator[tuple[Endpoints, int]]:
    """A backend process with `FILES` deployed, and the port at which it honours the admin key."""
    toolchain = locate_toolchain(toolchain_cache)
    project, scratch, bundle = folder / "project", folder / "scratch", folder / "push.json"
    scratch.mkdir()
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    (project / "node_modules").symlink_to(toolchain.node_modules)
    async with (
        open_sandbox(Level.NONE, toolchain, scratch) as sandbox,
        Checker(toolchain, sandbox, scratch, folder) as checker,
        _for_tester(EmbeddedBackend(toolchain, sandbox), scratch) as (at, admin_port),
    ):
        await checker.request("bundle", project=project, out=bundle, timeout=60)
        await push(at, bundle, timeout=60)
        yield at, admin_port


@asynccontextmanager
async def _for_tester(backend: EmbeddedBackend, scratch: Path) -> AsyncIterator[tuple[Endpoints, int]]:
    with socket.create_server(("127.0.0.1", 0)) as way_in:
        async with backend.start(scratch, listening=[way_in.fileno()]) as at:
            yield at, way_in.getsockname()[1]


def use(url: str) -> None:
    """What a Python program does; blocking calls, as the package documents them."""
    client = convex.ConvexClient(url)
    assert client.query("notes:list", {"tag": "a"}) == []
    assert client.mutation("notes:add", {"tag": "a", "text": "first"}) is None
    assert client.query("notes:list", {"tag": "a"}) == ["first"]
    assert client.action("notes:shout", {"text": "hey"}) == "HEY"

    values: list[Any] = [
        None,
        True,
        1.5,
        "ü€😀",
        convex.ConvexInt64(2**62),
        b"\x00\xff",
        [1.0, []],
        {"a": {"b": [None]}},
    ]
    for value in values:
        assert client.query("notes:echo", {"value": value}) == (
            2**62 if isinstance(value, convex.ConvexInt64) else value
        )

    with pytest.raises(convex.ConvexError) as raised:
        client.query("notes:list", {"tag": "forbidden"})
    assert raised.value.data == {"code": 403, "tag": "forbidden"}
    with pytest.raises(Exception, match="Uncaught Error: empty"):
        client.mutation("notes:add", {"tag": "a", "text": ""})
    with pytest.raises(Exception, match="ArgumentValidationError"):
        client.query("notes:list", {"tag": 5})
    with pytest.raises(Exception, match="Could not find public function for 'notes:hide'"):
        client.mutation("notes:hide")

    client.set_admin_auth(ADMIN_KEY)
    with pytest.raises(Exception, match="Could not find public function"):
        client.mutation("notes:hide")


def administrate(url: str) -> None:
    client = convex.ConvexClient(url)
    client.set_admin_auth(ADMIN_KEY)
    assert client.mutation("notes:hide") == "hidden"
    client.clear_auth()
    with pytest.raises(Exception, match="Could not find public function"):
        client.mutation("notes:hide")


def subscribe(url: str) -> None:
    watcher, writer = convex.ConvexClient(url), convex.ConvexClient(url)
    updates = watcher.subscribe("notes:list", {"tag": "s"})
    assert next(updates) == []
    writer.mutation("notes:add", {"tag": "s", "text": "1"})
    assert next(updates) == ["1"]
    writer.mutation("notes:add", {"tag": "other", "text": "unseen"})
    writer.mutation("notes:add", {"tag": "s", "text": "2"})
    # The query reads the whole table, so it runs for the other tag too; the client hands on what did not change.
    assert next(texts for texts in updates if texts != ["1"]) == ["1", "2"]
    updates.unsubscribe()


async def subscribe_async(url: str) -> None:
    watcher, writer = convex.ConvexClient(url), convex.ConvexClient(url)
    seen = []
    async for texts in watcher.subscribe("notes:list", {"tag": "async"}):
        seen.append(texts)
        if len(texts) == 3:
            break
        await asyncio.to_thread(writer.mutation, "notes:add", {"tag": "async", "text": str(len(texts))})
    assert seen == [[], ["0"], ["0", "1"], ["0", "1", "2"]]


def test_the_python_client(tmp_path: Path, toolchain: Path) -> None:
    async def run() -> None:
        async with deployed(tmp_path, toolchain) as (at, admin_port):
            # Blocking calls of the client keep the interpreter lock only while Python runs.
            await asyncio.to_thread(use, f"http://127.0.0.1:{at.port}")
            await asyncio.to_thread(administrate, f"http://127.0.0.1:{admin_port}")
            await asyncio.to_thread(subscribe, f"http://127.0.0.1:{at.port}")
            await subscribe_async(f"http://127.0.0.1:{at.port}")

    asyncio.run(asyncio.wait_for(run(), 60))
