import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

export const vote = mutation({
  args: { name: v.string() },
  returns: v.number(),
  handler: async (ctx, { name }) => {
    return await ctx.runMutation(components.counter.public.add, { name, amount: 1 });
  },
});

export const close = mutation({
  args: { name: v.string() },
  returns: v.null(),
  handler: async (ctx, { name }) => {
    const amount = await ctx.runQuery(components.counter.public.read, { name });
    await ctx.runMutation(components.archive.public.add, { name, amount });
    return null;
  },
});

export const totals = query({
  args: { name: v.string() },
  returns: v.object({ open: v.number(), archived: v.number() }),
  handler: async (ctx, { name }) => ({
    open: await ctx.runQuery(components.counter.public.read, { name }),
    archived: await ctx.runQuery(components.archive.public.read, { name }),
  }),
});
