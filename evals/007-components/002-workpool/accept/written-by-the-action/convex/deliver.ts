import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { DataModel, Doc, Id } from "./_generated/dataModel";
import { internalAction, internalMutation, internalQuery } from "./_generated/server";
import { pool } from "./pool";

export const load = internalQuery({
  args: { delivery: v.id("deliveries") },
  handler: async (ctx, { delivery }) => await ctx.db.get(delivery),
});

export const arrived = internalMutation({
  args: { delivery: v.id("deliveries"), answer: v.string() },
  handler: async (ctx, { delivery, answer }) => {
    await ctx.db.patch(delivery, { status: "delivered", answer });
  },
});

export const post = internalAction({
  args: { delivery: v.id("deliveries") },
  handler: async (ctx, { delivery }) => {
    const found: Doc<"deliveries"> | null = await ctx.runQuery(internal.deliver.load, { delivery });
    if (found === null) return;
    const response = await fetch(new Request(found.url, { method: "POST", body: found.message }));
    const answer = await response.text();
    if (response.status < 200 || response.status > 299) throw new Error(answer);
    await ctx.runMutation(internal.deliver.arrived, { delivery, answer });
  },
});

export const gaveUp = pool.defineOnComplete<DataModel>({
  handler: async (ctx, { context }) => {
    await ctx.db.patch("deliveries", context as Id<"deliveries">, { status: "failed" });
  },
});
