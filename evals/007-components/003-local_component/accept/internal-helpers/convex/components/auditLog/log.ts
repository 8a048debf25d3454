import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation, query } from "./_generated/server";

const row = { action: v.string(), detail: v.string() };

export const wrote = mutation({
  args: { actor: v.string(), detail: v.string() },
  handler: async (ctx, args): Promise<string> => ctx.runMutation(internal.rows.insert, { ...args, action: "write" }),
});

export const removed = mutation({
  args: { actor: v.string(), detail: v.string() },
  handler: async (ctx, args): Promise<string> => ctx.runMutation(internal.rows.insert, { ...args, action: "remove" }),
});

export const page = query({
  args: { actor: v.string(), size: v.number() },
  returns: v.object({ rows: v.array(v.object(row)) }),
  handler: async (ctx, { actor, size }) => {
    const rows = await ctx.db
      .query("entries")
      .withIndex("by_actor", (q) => q.eq("actor", actor))
      .collect();
    return { rows: rows.reverse().slice(0, size).map(({ action, detail }) => ({ action, detail })) };
  },
});
