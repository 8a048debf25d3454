import type { UserIdentity } from "convex/server";
import { v } from "convex/values";
import { components } from "./_generated/api";
import { internalMutation } from "./_generated/server";

export function known(identity: UserIdentity | null) {
  if (identity) return identity.subject;
  throw new Error("unknown user");
}

export const note = internalMutation({
  args: { kind: v.union(v.literal("wrote"), v.literal("removed")), entryId: v.id("entries") },
  handler: async (ctx, { kind, entryId }) => {
    const actor = known(await ctx.auth.getUserIdentity());
    await ctx.runMutation(components.auditLog.log[kind], { actor, detail: entryId });
  },
});
