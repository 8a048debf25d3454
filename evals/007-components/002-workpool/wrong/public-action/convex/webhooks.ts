import { vOnCompleteArgs, Workpool } from "@convex-dev/workpool";
import { v } from "convex/values";
import { api, components, internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { action, internalMutation, mutation } from "./_generated/server";

const pool = new Workpool(components.webhookPool, {
  maxParallelism: 2,
  retryActionsByDefault: true,
  defaultRetryBehavior: { maxAttempts: 3, initialBackoffMs: 50, base: 2 },
});

export const send = mutation({
  args: { url: v.string(), messages: v.array(v.string()) },
  returns: v.array(v.id("deliveries")),
  handler: async (ctx, args) => {
    const deliveryIds: Id<"deliveries">[] = [];
    for (const message of args.messages) {
      if (message === "") {
        throw new Error("A message must not be empty");
      }
      const deliveryId = await ctx.db.insert("deliveries", { url: args.url, message, status: "pending" });
      await pool.enqueueAction(
        ctx,
        api.webhooks.deliver,
        { url: args.url, message },
        { onComplete: internal.webhooks.delivered, context: { deliveryId } },
      );
      deliveryIds.push(deliveryId);
    }
    return deliveryIds;
  },
});

export const deliver = action({
  args: { url: v.string(), message: v.string() },
  returns: v.string(),
  handler: async (_ctx, args) => {
    const response = await fetch(args.url, { method: "POST", body: args.message });
    if (!response.ok) {
      throw new Error(`The receiver answered with status ${response.status}`);
    }
    return await response.text();
  },
});

export const delivered = internalMutation({
  args: vOnCompleteArgs(v.object({ deliveryId: v.id("deliveries") }), v.string()),
  returns: v.null(),
  handler: async (ctx, { context, result }) => {
    if (result.kind === "success") {
      await ctx.db.patch(context.deliveryId, { status: "delivered", answer: result.returnValue });
    } else {
      await ctx.db.patch(context.deliveryId, { status: "failed" });
    }
    return null;
  },
});
