import { vOnCompleteArgs } from "@convex-dev/workpool";
import { v } from "convex/values";
import { internalAction, internalMutation } from "./_generated/server";

/** One attempt to send a message. Throws if it failed, so that the pool retries. */
export const attempt = internalAction({
  args: { url: v.string(), message: v.string() },
  returns: v.string(),
  handler: async (_ctx, { url, message }): Promise<string> => {
    const response = await fetch(url, {
      method: "POST",
      body: message,
      // A redirection is an answer like any other, and no success.
      redirect: "manual",
    });
    if (response.status < 200 || response.status > 299) {
      throw new Error(`${url} answered with the status ${response.status}`);
    }
    return await response.text();
  },
});

/** Called by the pool once, when a message is sent or given up. */
export const settle = internalMutation({
  args: vOnCompleteArgs(
    v.object({ deliveryId: v.id("deliveries") }),
    v.string(),
  ),
  handler: async (ctx, { context: { deliveryId }, result }) => {
    const delivery = await ctx.db.get("deliveries", deliveryId);
    if (delivery === null) {
      return;
    }
    if (result.kind === "success") {
      await ctx.db.patch("deliveries", deliveryId, {
        status: "delivered",
        answer: result.returnValue,
      });
    } else {
      await ctx.db.patch("deliveries", deliveryId, { status: "failed" });
    }
  },
});
