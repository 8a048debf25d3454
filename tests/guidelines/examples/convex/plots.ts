import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import schema from "./schema";

export const claim = mutation({
  args: { row: v.number() },
  handler: async (ctx, { row }) => await ctx.db.insert("plots", { gardener: "eve", name: "", row, litres: 0 }),
});
export const plant = mutation({ args: { plotId: v.id("plots"), seed: v.string() }, handler: async () => null });
export const water = mutation({ args: { plotId: v.id("plots"), litres: v.number() }, handler: async () => null });
export const get = query({
  args: { plotId: v.id("plots") },
  returns: v.nullable(schema.doc("plots")),
  handler: async (ctx, args) => await ctx.db.get("plots", args.plotId),
});
export const list = query({
  args: { row: v.number() },
  returns: v.array(schema.doc("plots")),
  handler: async (ctx) => await ctx.db.query("plots").take(10),
});
