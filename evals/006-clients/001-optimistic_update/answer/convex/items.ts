import { v } from "convex/values";
import { mutation, query, type MutationCtx } from "./_generated/server";

/** The items of a list, the oldest first. */
export const inList = query({
  args: { list: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("items")
      .withIndex("by_list", (q) => q.eq("list", args.list))
      .take(200);
  },
});

/** A list that was closed cannot be changed any more. */
async function mustBeOpen(ctx: MutationCtx, list: string) {
  const closure = await ctx.db
    .query("closures")
    .withIndex("by_list", (q) => q.eq("list", list))
    .first();
  if (closure !== null) {
    throw new Error("This list is closed");
  }
}

export const add = mutation({
  args: { list: v.string(), name: v.string() },
  handler: async (ctx, args) => {
    await mustBeOpen(ctx, args.list);
    await ctx.db.insert("items", { list: args.list, name: args.name, bought: false });
  },
});

export const setBought = mutation({
  args: { itemId: v.id("items"), bought: v.boolean() },
  handler: async (ctx, args) => {
    const item = await ctx.db.get(args.itemId);
    if (item !== null) {
      await mustBeOpen(ctx, item.list);
      await ctx.db.patch(args.itemId, { bought: args.bought });
    }
  },
});
