import { v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";

export const event = internalQuery({
  args: { id: v.id("events") },
  handler: (ctx, { id }) => ctx.db.get(id),
});

/** The id of an order that holds the seats, or null. */
export const take = internalMutation({
  args: { eventId: v.id("events"), buyer: v.string(), seats: v.number() },
  handler: async ({ db }, order) => {
    const event = await db.get(order.eventId);
    if (!event || event.freeSeats - order.seats < 0) return null;
    const [id] = await Promise.all([
      db.insert("orders", { ...order, status: "held" }),
      db.patch(order.eventId, { freeSeats: event.freeSeats - order.seats }),
    ]);
    return id;
  },
});

export const settle = internalMutation({
  args: { id: v.id("orders"), paymentId: v.optional(v.string()) },
  handler: async ({ db }, { id, paymentId }) => {
    const order = (await db.get(id))!;
    if (order.status !== "held") return;
    if (paymentId !== undefined) return await db.patch(id, { status: "paid", paymentId });
    const { freeSeats } = (await db.get(order.eventId))!;
    await db.patch(order.eventId, { freeSeats: freeSeats + order.seats });
    await db.patch(id, { status: "released" });
  },
});
