import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import { pool } from "./pool";

export const send = mutation({
  args: { url: v.string(), messages: v.array(v.string()) },
  returns: v.array(v.id("deliveries")),
  handler: async (ctx, { url, messages }): Promise<Id<"deliveries">[]> => {
    if (messages.includes("")) {
      throw new ConvexError("A message must not be empty.");
    }

    const ids: Id<"deliveries">[] = [];
    for (const message of messages) {
      const deliveryId = await ctx.db.insert("deliveries", {
        url,
        message,
        status: "pending",
      });
      await pool.enqueueAction(
        ctx,
        internal.delivery.attempt,
        { deliveryId, url, message },
        { onComplete: internal.delivery.settle, context: { deliveryId } },
      );
      ids.push(deliveryId);
    }
    return ids;
  },
});
