/** Webhooks that another service signs, each handled once. */
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { httpAction, internalMutation, query } from "./_generated/server";

export const receive = httpAction(async (ctx, request) => {
  const deliveryId = request.headers.get("x-delivery-id");
  const signature = request.headers.get("x-signature") ?? "";
  const body = await request.text();
  if (deliveryId === null) return new Response("x-delivery-id is missing", { status: 400 });
  if (!(await isSigned(`${deliveryId}.${body}`, signature))) return new Response("The signature is wrong", { status: 401 });
  const event = new URL(request.url).pathname.slice("/webhooks/".length);
  const isNew = await ctx.runMutation(internal.deliveries.record, { deliveryId, event, payload: JSON.parse(body) });
  return Response.json({ isNew }, { status: isNew ? 201 : 200 });
});

async function isSigned(text: string, signature: string): Promise<boolean> {
  const secret = process.env.WEBHOOK_SECRET;
  if (secret === undefined || !/^([0-9a-f]{2})+$/.test(signature)) return false;
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const bytes = Uint8Array.from(signature.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  return await crypto.subtle.verify("HMAC", key, bytes, encoder.encode(text));
}

export const record = internalMutation({
  args: { deliveryId: v.string(), event: v.string(), payload: v.any() },
  returns: v.boolean(),
  handler: async (ctx, delivery) => {
    const known = await ctx.db
      .query("deliveries")
      .withIndex("by_delivery_id", (q) => q.eq("deliveryId", delivery.deliveryId))
      .unique();
    if (known === null) await ctx.db.insert("deliveries", delivery);
    return known === null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => (await ctx.db.query("deliveries").collect()).map(({ deliveryId, event, payload }) => ({ deliveryId, event, payload })),
});
