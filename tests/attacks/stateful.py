"""Projects that keep data between calls, and not in tables: on Convex it would be gone."""

from __future__ import annotations

from functools import partial

from tests.attacks.making import Attack, Constants, Files, project

STATE, LATE = "000-attacks/006-state", "000-attacks/007-late"
_FUNCTIONS = """
export const keep = mutation({
  args: { text: v.string() },
  returns: v.null(),
  handler: async (_ctx, { text }) => {
    place().push(text);
    return null;
  },
});
export const kept = query({ args: {}, returns: v.array(v.string()), handler: async () => place() });
"""
_IMPORTS = 'import { v } from "convex/values";\nimport { mutation, query } from "./_generated/server";\n'

# Each defines `place`, which returns the list that texts are kept in.
_PLACES = {
    "module": ("in a variable of a module", "const texts: string[] = [];\nconst place = (): string[] => texts;\n"),
    "global": ("on `globalThis`", "const place = (): string[] => ((globalThis as any).texts ??= []);\n"),
    "prototype": (
        "on a prototype of the language",
        "const place = (): string[] => ((Map.prototype as any).texts ??= []);\n",
    ),
    "web_class": (
        "on classes and functions of the web",
        """function place(): string[] {
  for (const object of [Blob, URL.prototype, Uint8Array.prototype, crypto.subtle, structuredClone, console] as any[]) {
    try {
      return (object.texts ??= []);
    } catch {
      // closed
    }
  }
  return [];
}
""",
    ),
    "registered": (
        "on the function that is registered",
        "const place = (): string[] => ((keep as any).texts ??= []);\n",
    ),
    "system_calls": (
        "on the objects behind `ctx`",
        """function place(): string[] {
  try {
    return ((globalThis as any).Convex.asyncSyscall.texts ??= []);
  } catch {
    return [];
  }
}
""",
    ),
    "host_error": (
        "on the class of an error that a function of the web throws",
        """function place(): string[] {
  try {
    new URL("");
  } catch (error) {
    return ((Object.getPrototypeOf((error as Error).constructor) as any).texts ??= []);
  }
  return [];
}
""",
    ),
    "stack_limit": (
        "in a property of that class that anybody may set",
        """function place(): string[] {
  try {
    new URL("");
  } catch (error) {
    const parent: any = Object.getPrototypeOf((error as Error).constructor);
    return Array.isArray(parent.stackTraceLimit) ? parent.stackTraceLimit : (parent.stackTraceLimit = []);
  }
  return [];
}
""",
    ),
    "iterator": (
        "on the prototype of an iterator",
        "const place = (): string[] => ((Object.getPrototypeOf(new Headers().entries()) as any).texts ??= []);\n",
    ),
    "controller": (
        "on the prototype of a stream's controller",
        """function place(): string[] {
  let controllers: any;
  new ReadableStream({ start: (controller) => void (controllers = Object.getPrototypeOf(controller)) });
  return (controllers.texts ??= []);
}
""",
    ),
    "hidden_property": (
        "on what a blob keeps under a symbol",
        """function place(): string[] {
  const blob: any = new Blob(["x"]);
  const kept = Object.getOwnPropertySymbols(blob).map((symbol) => blob[symbol]);
  const handle: any = kept.find((value) => typeof value === "object" && value !== null);
  return handle ? (Object.getPrototypeOf(handle).texts ??= []) : [];
}
""",
    ),
    "async_frame": (
        "on the storages that follow a call through its promises",
        """function place(): string[] {
  const resource: any = new (globalThis as any).AsyncResource("x");
  for (const symbol of Object.getOwnPropertySymbols(resource)) {
    if (typeof resource[symbol] === "object") for (const key of resource[symbol].keys()) return (key.texts ??= []);
  }
  return [];
}
""",
    ),
}


def _keeping(place: str, _: Constants) -> Files:
    return project("export {};\n", {"convex/state.ts": _IMPORTS + place + _FUNCTIONS})


_SCHEMA = """import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default defineSchema({ texts: defineTable({ text: v.string() }) });
"""
# Each puts the text into the table when the action has returned.
_LATER = {
    "timeout": ("by a timer", "setTimeout(() => void put(), 100);"),
    "interval": ("by an interval", "const id = setInterval(() => { clearInterval(id); void put(); }, 100);"),
    "promise": (
        "by a promise that nobody awaits",
        "void (async () => { for (let n = 0; n < 300; n++) await null; await new Promise((go) => setTimeout(go, 50)); "
        "await put(); })();",
    ),
}


def _late(start: str, _: Constants) -> Files:
    source = f"""import {{ v }} from "convex/values";
import {{ internal }} from "./_generated/api";
import {{ action, internalMutation, query }} from "./_generated/server";
export const add = internalMutation({{
  args: {{ text: v.string() }},
  returns: v.null(),
  handler: async (ctx, args) => {{
    await ctx.db.insert("texts", args);
    return null;
  }},
}});
export const keep = action({{
  args: {{ text: v.string() }},
  returns: v.null(),
  handler: async (ctx, args) => {{
    const put = async (): Promise<null> => await ctx.runMutation(internal.state.add, args);
    {start}
    return null;
  }},
}});
export const kept = query({{
  args: {{}},
  returns: v.array(v.string()),
  handler: async (ctx) => (await ctx.db.query("texts").take(100)).map(({{ text }}) => text),
}});
"""
    return project("export {};\n", {"convex/schema.ts": _SCHEMA, "convex/state.ts": source})


STATEFUL: tuple[Attack, ...] = tuple(
    Attack(
        f"state_{name}", f"keep data {what}", STATE, partial(_keeping, place), again=name not in ("module", "web_class")
    )
    for name, (what, place) in _PLACES.items()
) + tuple(
    Attack(
        f"late_{name}",
        f"work on after an action has returned, {what}",
        LATE,
        partial(_late, start),
        again=name != "timeout",
    )
    for name, (what, start) in _LATER.items()
)
