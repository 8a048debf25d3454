import { Workpool, vOnCompleteArgs } from "@convex-dev/workpool";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalMutation, mutation } from "./_generated/server";

const pool = new Workpool(components.webhookPool, { maxParallelism: 2 });

export const send = mutation({
  args: { url: v.string(), messages: v.array(v.string()) },
  handler: async (ctx, { url, messages }) => {
    const deliveries: Id<"deliveries">[] = [];
    for (const message of messages) {
      const delivery = await ctx.db.insert("deliveries", { url, message, status: "pending" });
      if (!message) throw new Error("a message must have text");
      const work = await pool.enqueueAction(ctx, internal.outgoing.post, { url, body: message }, {
        onComplete: internal.webhooks.finish,
        retry: { maxAttempts: 3, initialBackoffMs: 50, base: 2 },
      });
      await ctx.db.insert("jobs", { work, delivery });
      deliveries.push(delivery);
    }
    return deliveries;
  },
});

export const finish = internalMutation({
  args: vOnCompleteArgs(),
  handler: async (ctx, { workId, result }) => {
    const job = await ctx.db
      .query("jobs")
      .withIndex("by_work", (q) => q.eq("work", workId))
      .unique();
    if (job === null) throw new Error("no such job");
    const delivery = await ctx.db.get(job.delivery);
    if (delivery !== null) {
      const { _id, url, message } = delivery;
      const end = result.kind === "success" ? { status: "delivered" as const, answer: String(result.returnValue) } : { status: "failed" as const };
      await ctx.db.replace(_id, { url, message, ...end });
    }
    await ctx.db.delete(job._id);
  },
});
