"""Projects that store something wrong, and forge what a grader reads or adds."""

from __future__ import annotations

from functools import partial

from tests.attacks.making import Attack, Constants, Files, project

DOCUMENTS = "000-attacks/005-documents"
_SCHEMA = """import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({ notes: defineTable({ text: v.string() }) });
"""
_SAVE = """
export const save = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    forge(ctx);
    await ctx.db.insert("notes", { text: "planted" });
    return null;
  },
});
"""
_ATTEMPT = """import { v } from "convex/values";
import { mutation } from "./_generated/server";

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // closed
  }
}
const lie = (value: any): any =>
  typeof value === "string" ? value.replaceAll("planted", "harmless")
  : Array.isArray(value) ? value.map(lie)
  : value?.text ? { ...value, text: lie(value.text) }
  : value?.value ? { ...value, value: lie(value.value) }
  : value;
"""

# Each defines `forge`, which is called with the context of the mutation.
_FORGERS = {
    "system_calls": (
        "replace the global `Convex`, through which handlers reach the database",
        """
function forge(_: any): void {
  const real = (globalThis as any).Convex;
  const forged = {
    ...real,
    syscall: (op: string, args: string) => lie(real.syscall(op, args)),
    asyncSyscall: async (op: string, args: string) => lie(await real.asyncSyscall(op, args)),
  };
  attempt(() => { (globalThis as any).Convex = forged; });
  attempt(() => { delete (globalThis as any).Convex; (globalThis as any).Convex = forged; });
  attempt(() => Object.defineProperty(globalThis, "Convex", { configurable: true, get: () => forged }));
  attempt(() => Object.defineProperties(real, Object.getOwnPropertyDescriptors(forged)));
}
forge(undefined);
""",
    ),
    "shared_classes": (
        "change the classes of objects passed to handlers",
        """
function forge(ctx: any): void {
  for (const object of [ctx.db, ctx.db.query("notes"), ctx.db.query("notes").order("asc"), ctx.auth])
    for (let place = object; place && place !== Object.prototype; place = Object.getPrototypeOf(place))
      for (const name of ["next", "collect", "take", "order", "fullTableScan", Symbol.asyncIterator]) {
        const own = place[name];
        if (typeof own !== "function" || !Object.hasOwn(place, name)) continue;
        attempt(() => {
          place[name] = function (this: any, ...args: any[]) {
            const said = own.apply(this, args);
            return said instanceof Promise ? said.then(lie) : said;
          };
        });
      }
}
""",
    ),
    "own_json": (
        "replace `JSON`, which reads and writes documents",
        """
function forge(_: any): void {
  const real = JSON;
  const forged = {
    ...real,
    parse: (text: string) => lie(real.parse(text)),
    stringify: (value: any) => lie(real.stringify(value)),
  };
  attempt(() => Object.defineProperty(globalThis, "JSON", { value: forged }));
  attempt(() => { (globalThis as any).JSON = forged; });
  attempt(() => Object.assign(real, forged));
}
forge(undefined);
""",
    ),
    "engine": (
        "change the engine, through the storages that follow a call",
        """
function forge(_: any): void {
  const resource: any = new (globalThis as any).AsyncResource("x");
  const frames = Object.getOwnPropertySymbols(resource).map((symbol) => resource[symbol]);
  for (const frame of frames.filter((value) => typeof value?.values === "function"))
    for (const store of frame.values())
      attempt(() => {
        const data = Object.getPrototypeOf(store.components[""].db._committed);
        for (const name of ["get", "documents", "values"]) {
          const own = data[name];
          if (typeof own === "function") data[name] = function (...args: any[]) { return lie(own.apply(this, args)); };
        }
      });
}
""",
    ),
}


def _forging(forger: str, _: Constants) -> Files:
    return project("export {};\n", {"convex/schema.ts": _SCHEMA, "convex/notes.ts": _ATTEMPT + forger + _SAVE})


FORGED: tuple[Attack, ...] = tuple(
    Attack(f"forged_{name}", what, DOCUMENTS, partial(_forging, forger), any_level=True, again=name != "system_calls")
    for name, (what, forger) in _FORGERS.items()
)
