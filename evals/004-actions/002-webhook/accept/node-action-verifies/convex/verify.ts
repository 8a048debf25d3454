"use node";

import { createHmac, timingSafeEqual } from "node:crypto";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction } from "./_generated/server";

/** Verifies a request and, if it is what it should be, stores its payment. Returns the status of the answer. */
export const handle = internalAction({
  args: { shop: v.string(), signature: v.string(), body: v.bytes() },
  handler: async (ctx, { shop, signature, body }): Promise<number> => {
    const found = await ctx.runQuery(internal.payments.shopByName, { name: shop });
    if (!found) return 401;
    const bytes = Buffer.from(body);
    const expected = Buffer.from("sha256=" + createHmac("sha256", found.secret).update(bytes).digest("hex"));
    const given = Buffer.from(signature);
    if (given.byteLength !== expected.byteLength || !timingSafeEqual(given, expected)) return 401;

    let event;
    try {
      event = JSON.parse(bytes.toString("utf8"));
    } catch {
      return 400;
    }
    if (typeof event?.id !== "string" || typeof event?.type !== "string") return 400;
    if (event.type !== "payment.succeeded") return 200;
    const { order, cents } = event.data ?? {};
    if (typeof order !== "string" || typeof cents !== "number") return 400;
    await ctx.runMutation(internal.payments.store, { payment: { shop, eventId: event.id, order, cents } });
    return 200;
  },
});
