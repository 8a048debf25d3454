"""Projects that keep data between calls, and not in tables: on Convex it would be gone."""

from __future__ import annotations

from functools import partial

from tests.attacks.making import Attack, Constants, Files, project

STATE = "000-attacks/006-state"
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
}


def _keeping(place: str, _: Constants) -> Files:
    return project("export {};\n", {"convex/state.ts": _IMPORTS + place + _FUNCTIONS})


STATEFUL: tuple[Attack, ...] = tuple(
    Attack(
        f"state_{name}", f"keep data {what}", STATE, partial(_keeping, place), again=name not in ("module", "web_class")
    )
    for name, (what, place) in _PLACES.items()
)
