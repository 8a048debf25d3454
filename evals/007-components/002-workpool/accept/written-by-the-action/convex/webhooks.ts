import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation } from "./_generated/server";
import { pool, THREE_ATTEMPTS } from "./pool";

export const send = mutation({
  args: { url: v.string(), messages: v.array(v.string()) },
  handler: async (ctx, { url, messages }) => {
    if (messages.some((message) => message.length === 0)) throw new Error("empty message");
    const ids = await Promise.all(messages.map((message) => ctx.db.insert("deliveries", { url, message, status: "pending" })));
    for (const delivery of ids) {
      await pool.enqueueAction(ctx, internal.deliver.post, { delivery }, {
        retry: THREE_ATTEMPTS,
        onComplete: internal.deliver.gaveUp,
        onCompleteExcludeKinds: ["success"],
        context: delivery,
      });
    }
    return ids;
  },
});
