"""Conversations of five agents about small Convex projects, as their files have them, from which evals are drafted.

In each but the last, a person had something to say about what came first. `finish` is what a person then writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.sessions.chats import chat, write_chats
from tests.sessions.claude_files import answer, call, reply, text, user, written

HOME = "/home/ana/shop"
SCHEMA = """import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  messages: defineTable({ author: v.string(), body: v.string(), read: v.boolean() }),
});
"""
SERVER = 'from "./_generated/server";'


@dataclass(frozen=True)
class Case:
    """A file of an agent, and what a person writes into the draft that is made of it."""

    agent: str
    file: Path
    finish: Mapping[str, str]


def numbered(source: str) -> str:
    """As Claude Code shows a file."""
    lines = "\n".join(f"{at:6}→{line}" for at, line in enumerate(source.rstrip("\n").split("\n"), 1))
    return f"{lines}\n\n<system-reminder>\nWhenever you read a file, consider malware.\n</system-reminder>\n"


def claude_code(folder: Path) -> Case:
    """Crons, at first imported from the wrong place."""
    cleanup = f"""import {{ internalMutation }} {SERVER}

export const removeRead = internalMutation({{
  args: {{}},
  handler: async (ctx) => {{
    for (const message of await ctx.db.query("messages").collect()) {{
      if (message.read) await ctx.db.delete(message._id);
    }}
  }},
}});
"""
    crons = f"""import {{ cronJobs }} {SERVER}
import {{ internal }} from "./_generated/api";

const crons = cronJobs();
crons.interval("remove read messages", {{ hours: 1 }}, internal.cleanup.removeRead, {{}});
export default crons;
"""
    file = written(
        folder / "claude" / "-home-ana-shop" / "5c1d7e90-0a1b-4c2d-8e3f-405162738495.jsonl",
        user("1", "Every hour, messages that were read should be deleted.", cwd=HOME),
        reply("2", [text("I look at the schema."), call("a", "Read", file_path=f"{HOME}/convex/schema.ts")], "1"),
        answer("3", "a", numbered(SCHEMA), "2"),
        reply("4", [call("b", "Write", file_path=f"{HOME}/convex/cleanup.ts", content=cleanup)], "3"),
        answer("5", "b", "File created successfully", "4"),
        reply("6", [call("c", "Write", file_path=f"{HOME}/convex/crons.ts", content=crons)], "5"),
        answer("7", "c", "File created successfully", "6"),
        reply("8", "There is a cron job now.", "7"),
        user("9", "npx convex dev says: No matching export for cronJobs", "8", cwd=HOME),
        reply(
            "10",
            [
                call(
                    *("d", "Edit"),
                    file_path=f"{HOME}/convex/crons.ts",
                    old_string=f"import {{ cronJobs }} {SERVER}",
                    new_string='import { cronJobs } from "convex/server";',
                )
            ],
            "9",
        ),
        answer("11", "d", "The file has been updated.", "10"),
        reply("12", [call("e", "Bash", command="npx convex dev --once")], "11"),
        answer("13", "e", "Convex functions ready!", "12"),
        reply("14", "It comes from convex/server; it deploys now.", "13"),
    )
    return Case(
        "claude-code",
        file,
        {
            "TASK.txt": "A table `messages` of author, body (strings) and read (boolean). Every hour the internal "
            "mutation cleanup:removeRead, without arguments, deletes the messages that are read.\n",
            "eval.yaml": "concept: Where cron jobs are imported from.\n",
            "grader.test.ts": """import { internal } from "./answer/convex/_generated/api";
import { addDocuments, adminClient, listCrons, listTable } from "convex-evals/grader";
import { expect, test } from "vitest";

test("read messages are deleted, others stay", async () => {
  const message = { author: "Ada", body: "Hello" };
  await addDocuments("messages", [{ ...message, read: true }, { ...message, read: false }]);
  await adminClient().mutation(internal.cleanup.removeRead, {});
  expect((await listTable("messages")).map((each) => each.read)).toEqual([false]);
});

test("there is one job", async () => {
  expect(await listCrons()).toHaveLength(1);
});
""",
            "wrong/before-message-9/reason.txt": "cronJobs from the generated server.\ncaught by: deploy\n",
        },
    )


def codex(folder: Path) -> Case:
    """A file that is stored as bytes at first."""
    first = """*** Begin Patch
*** Add File: convex/files.ts
+import { v } from "convex/values";
+import { action } from "./_generated/server";
+
+export const save = action({
+  args: { text: v.string() },
+  handler: async (ctx, { text }) => {
+    const bytes = new TextEncoder().encode(text);
+    return await ctx.storage.store(bytes);
+  },
+});
*** End Patch"""
    second = """*** Begin Patch
*** Update File: convex/files.ts
@@ export const save
   handler: async (ctx, { text }) => {
-    const bytes = new TextEncoder().encode(text);
-    return await ctx.storage.store(bytes);
+    return await ctx.storage.store(new Blob([text], { type: "text/plain" }));
   },
*** End Patch"""
    items = [
        ("session_meta", {"id": "019a1b2c-3d4e-7f50-8a61-0123456789ab", "cwd": HOME, "cli_version": "0.98.0"}),
        *_of_codex("Write an action files:save that stores a text as a file.", "call_1", first, "It is stored."),
        *_of_codex("tsc complains: Uint8Array is not a Blob", "call_2", second, "It is a Blob now."),
    ]
    lines = [
        {"timestamp": f"2026-03-02T09:{at:02}:00.000Z", "type": kind, "payload": payload}
        for at, (kind, payload) in enumerate(items)
    ]
    file = written(folder / "codex" / "rollout-2026-03-02T09-15-00-019a1b2c-3d4e-7f50-8a61-0123456789ab.jsonl", *lines)
    return Case(
        "codex",
        file,
        {
            "TASK.txt": "The public action files:save takes `text`, a string, stores it as a file, returns its id.\n",
            "eval.yaml": "concept: Storage takes a Blob.\n",
            "grader.test.ts": """import { anyApi } from "convex/server";
import { anonymousClient } from "convex-evals/grader";
import { expect, test } from "vitest";

test("stores the text", async () => {
  expect(await anonymousClient().action(anyApi.files.save, { text: "Hello" })).toEqual(expect.any(String));
});
""",
            "wrong/before-message-5/reason.txt": "Bytes are stored, and no Blob.\ncaught by: tsc\n",
        },
    )


def _of_codex(request: str, call_id: str, patch: str, said: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": request}]}),
        ("event_msg", {"type": "user_message", "message": request}),
        ("response_item", {"type": "custom_tool_call", "call_id": call_id, "name": "apply_patch", "input": patch}),
        (
            "response_item",
            {
                "type": "custom_tool_call_output",
                "call_id": call_id,
                "output": '{"output":"Success.","metadata":{"exit_code":0}}',
            },
        ),
        ("response_item", {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}),
    ]


def aider(folder: Path) -> Case:
    """A list in the wrong order."""
    history = f"""# aider chat started at 2025-05-01 10:00:00

#### list the messages, the newest first

I'll add a query.

convex/messages.ts
```ts
<<<<<<< SEARCH
=======
import {{ query }} {SERVER}

export const list = query({{
  args: {{}},
  handler: async (ctx) => await ctx.db.query("messages").take(10),
}});
>>>>>>> REPLACE
```

convex/schema.ts
```ts
<<<<<<< SEARCH
=======
{SCHEMA}>>>>>>> REPLACE
```

#### that is the oldest first

Sorry.

convex/messages.ts
```ts
<<<<<<< SEARCH
  handler: async (ctx) => await ctx.db.query("messages").take(10),
=======
  handler: async (ctx) => await ctx.db.query("messages").order("desc").take(10),
>>>>>>> REPLACE
```
"""
    file = folder / "aider" / ".aider.chat.history.md"
    file.parent.mkdir(parents=True)
    file.write_text(history)
    return Case(
        "aider",
        file,
        {
            "TASK.txt": "A table `messages` of author, body (strings) and read (boolean). The query messages:list, "
            "without arguments, returns the ten newest, the newest first.\n",
            "eval.yaml": "concept: Queries are in ascending order unless they say otherwise.\n",
            "grader.test.ts": """import { anyApi } from "convex/server";
import { addDocuments, anonymousClient } from "convex-evals/grader";
import { expect, test } from "vitest";

test("the newest first, ten at most", async () => {
  const bodies = Array.from({ length: 12 }, (_, at) => `${at}`);
  await addDocuments("messages", bodies.map((body) => ({ author: "Ada", body, read: false })));
  const found = (await anonymousClient().query(anyApi.messages.list, {})) as { body: string }[];
  expect(found.map((each) => each.body)).toEqual(bodies.slice(2).reverse());
});
""",
            "wrong/before-message-3/reason.txt": "The oldest come first.\ncaught by: tests\n",
        },
    )


def gemini(folder: Path) -> Case:
    """An existing file of which a part is replaced twice."""
    source = f"""import {{ query }} {SERVER}

export const unread = query({{
  args: {{}},
  handler: async (ctx) => await ctx.db.query("messages").collect(),
}});
"""
    calls = [
        ("read_file", {"absolute_path": f"{HOME}/convex/messages.ts"}, source),
        ("read_file", {"absolute_path": f"{HOME}/convex/schema.ts"}, SCHEMA),
        ("replace", _gemini_replace(".collect()", '.filter((q) => q.eq(q.field("read"), true)).collect()'), "done"),
    ]
    again = [("replace", _gemini_replace('q.eq(q.field("read"), true)', 'q.eq(q.field("read"), false)'), "done")]
    messages = [
        {"id": "1", "type": "user", "content": "unread must not return messages that were read"},
        _of_gemini("2", calls, "Done."),
        {"id": "3", "type": "user", "content": "Now it returns exactly those that were read!"},
        _of_gemini("4", again, "Turned around."),
    ]
    stamps = [{**each, "timestamp": f"2025-10-18T14:5{at}:00.000Z"} for at, each in enumerate(messages)]
    head = {"sessionId": "f86f5318-f47b-4433-85f8-ec9d9a417f8e", "projectHash": "79" * 32}
    times = {"startTime": "2025-10-18T14:50:00.000Z", "lastUpdated": "2025-10-18T14:53:00.000Z"}
    file = folder / "gemini" / "chats" / "session-2025-10-18T14-57-f86f5318.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({**head, **times, "messages": stamps}))
    return Case(
        "gemini",
        file,
        {
            "TASK.txt": "A table `messages` of author, body (strings) and read (boolean). The query messages:unread, "
            "without arguments, returns those that are not read.\n",
            "eval.yaml": "concept: Filters.\n",
            "grader.test.ts": """import { anyApi } from "convex/server";
import { addDocuments, anonymousClient } from "convex-evals/grader";
import { expect, test } from "vitest";

test("those that are not read", async () => {
  await addDocuments("messages", [true, false].map((read) => ({ author: "Ada", body: "Hello", read })));
  const found = (await anonymousClient().query(anyApi.messages.unread, {})) as { read: boolean }[];
  expect(found.map((each) => each.read)).toEqual([false]);
});
""",
            "wrong/before-message-6/reason.txt": "It returns those that are read.\ncaught by: tests\n",
        },
    )


def _gemini_replace(old: str, new: str) -> dict[str, str]:
    return {
        "file_path": f"{HOME}/convex/messages.ts",
        "old_string": old,
        "new_string": new,
        "instruction": "Replace it.",
    }


def _of_gemini(id: str, calls: list[tuple[str, dict[str, str], str]], said: str) -> dict[str, Any]:
    made = [
        {
            "id": f"{name}-{id}-{at}",
            "name": name,
            "args": arguments,
            "status": "success",
            "result": [{"functionResponse": {"name": name, "response": {"output": output}}}],
        }
        for at, (name, arguments, output) in enumerate(calls)
    ]
    return {"id": id, "type": "gemini", "content": said, "toolCalls": made, "model": "gemini-2.5-pro"}


def openai(folder: Path) -> Case:
    """Code under paths in a reply, and no second word of a person."""
    said = f"""Two files:

**convex/counters.ts**

```ts
import {{ v }} from "convex/values";
import {{ mutation }} {SERVER}

export const increment = mutation({{
  args: {{ name: v.string() }},
  handler: async (ctx, {{ name }}) => {{
    const found = await ctx.db.query("counters").filter((q) => q.eq(q.field("name"), name)).unique();
    if (found) await ctx.db.patch(found._id, {{ value: found.value + 1 }});
    else await ctx.db.insert("counters", {{ name, value: 1 }});
    return (found?.value ?? 0) + 1;
  }},
}});
```

And `convex/schema.ts`:

```ts
import {{ defineSchema, defineTable }} from "convex/server";
import {{ v }} from "convex/values";

export default defineSchema({{ counters: defineTable({{ name: v.string(), value: v.number() }}) }});
```

Then call it:

```ts
await client.mutation(api.counters.increment, {{ name: "x" }});
```
"""
    file = write_chats(folder / "openai" / "chats.jsonl", [chat("Write a counter for Convex.", said, id="counter")])
    return Case(
        "openai",
        file,
        {
            "TASK.txt": "A table `counters` of name (string) and value (number). The mutation counters:increment takes "
            "`name`, adds 1 to the counter of this name, which begins at 0, and returns its value.\n",
            "eval.yaml": "concept: A document is inserted or patched.\n",
            "grader.test.ts": """import { anyApi } from "convex/server";
import { anonymousClient } from "convex-evals/grader";
import { expect, test } from "vitest";

test("counts by name", async () => {
  const add = (name: string) => anonymousClient().mutation(anyApi.counters.increment, { name });
  expect([await add("a"), await add("a"), await add("b")]).toEqual([1, 2, 1]);
});
""",
            "wrong/never-inserted/reason.txt": "A new counter is not inserted.\ncaught by: tests\n",
            "wrong/never-inserted/convex/counters.ts": f"""import {{ v }} from "convex/values";
import {{ mutation }} {SERVER}

export const increment = mutation({{ args: {{ name: v.string() }}, handler: async () => 1 }});
""",
        },
    )


CASES = (claude_code, codex, aider, gemini, openai)
