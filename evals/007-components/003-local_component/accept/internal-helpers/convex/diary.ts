import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import { known } from "./users";

type Line = { action: string; detail: string };

export const write = mutation({
  args: { text: v.string() },
  handler: async (ctx, { text }): Promise<Id<"entries">> => {
    const author = known(await ctx.auth.getUserIdentity());
    const entryId = await ctx.db.insert("entries", { author, text });
    await ctx.runMutation(internal.users.note, { kind: "wrote", entryId });
    return entryId;
  },
});

export const remove = mutation({
  args: { entryId: v.id("entries") },
  handler: async (ctx, { entryId }): Promise<null> => {
    const author = known(await ctx.auth.getUserIdentity());
    const entry = await ctx.db.get(entryId);
    if (entry === null) throw new Error("gone");
    if (entry.author !== author) throw new Error("not yours");
    await ctx.runMutation(internal.users.note, { kind: "removed", entryId });
    await ctx.db.delete(entryId);
    return null;
  },
});

export const history = query({
  args: {},
  handler: async (ctx): Promise<Line[]> => {
    const actor = known(await ctx.auth.getUserIdentity());
    const { rows } = await ctx.runQuery(components.auditLog.log.page, { actor, size: 10 });
    return rows;
  },
});
