/** Keys of exports: `osk_` and 256 random bits, of which the deployment has the SHA-256 (`cli keys create`). */
import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { internalMutation, type MutationCtx } from "./_generated/server";
import { limiter } from "./auth";
import { equal, hashOf } from "./hashes";

const KEY = /^osk_[A-Za-z0-9_-]{43}$/;

type ExportKey = Doc<"exportKeys">["keys"][number];

/** Finds the key behind a text, and counts its use, or the refusal. */
export const check = internalMutation({
  args: { key: v.string() },
  returns: v.union(
    v.object({ kind: v.literal("ok"), name: v.string(), scopes: v.array(v.string()) }),
    v.object({ kind: v.literal("unknown") }),
    v.object({ kind: v.literal("ended"), name: v.string(), how: v.union(v.literal("expired"), v.literal("revoked")) }),
    v.object({ kind: v.literal("too many"), isKnown: v.boolean(), seconds: v.number() }),
  ),
  handler: async (ctx, args) => {
    const known = await find(ctx, args.key);
    const how = known && endOf(known);
    const isKnown = known !== null && how === null;
    const limited = isKnown
      ? await limiter.limit(ctx, "exports", { key: known.keySha256 })
      : await limiter.limit(ctx, "refusals");
    if (!limited.ok) {
      return { kind: "too many" as const, isKnown, seconds: Math.max(1, Math.ceil((limited.retryAfter ?? 0) / 1000)) };
    }
    if (!known) return { kind: "unknown" as const };
    if (how !== null) return { kind: "ended" as const, name: known.name, how };
    return { kind: "ok" as const, name: known.name, scopes: known.scopes };
  },
});

/** The time it takes says nothing about keys: all hashes are compared, each in constant time. */
async function find(ctx: MutationCtx, key: string): Promise<ExportKey | null> {
  if (!KEY.test(key)) return null;
  const digest = await hashOf(key);
  const { keys } = (await ctx.db.query("exportKeys").first()) ?? { keys: [] };
  let found: ExportKey | null = null;
  for (const each of keys) if (equal(each.keySha256, digest)) found = each;
  return found;
}

function endOf(key: ExportKey): "expired" | "revoked" | null {
  if (key.revoked !== null) return "revoked";
  const today = new Date(Date.now()).toISOString().slice(0, 10);
  return key.expires !== null && today > key.expires ? "expired" : null;
}
