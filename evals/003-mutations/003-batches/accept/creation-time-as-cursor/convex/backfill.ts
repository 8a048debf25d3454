import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { handleBatch } from "./lib/batch";

export const progress = query({
  args: {},
  handler: async ({ db }) => {
    const state = await db.query("state").unique();
    return state && { status: state.running ? ("running" as const) : ("done" as const), processed: state.handled };
  },
});

export const start = mutation({
  args: { batchSize: v.number() },
  handler: async (ctx, { batchSize }) => {
    const state = await ctx.db.query("state").unique();
    if (state?.running) return false;
    if (state) await ctx.db.replace("state", state._id, { running: true, handled: 0 });
    else await ctx.db.insert("state", { running: true, handled: 0 });
    await handleBatch(ctx, { after: 0, batchSize });
    return true;
  },
});
