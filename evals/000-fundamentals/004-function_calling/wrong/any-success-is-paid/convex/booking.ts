import { ConvexError, v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { internalMutation, type MutationCtx } from "./_generated/server";

// Every step of a purchase is one transaction, which moves the seats from one
// of the three numbers (free, held, paid) to another as a whole.

async function getHeldOrder(ctx: MutationCtx, orderId: Id<"orders">) {
  const order = await ctx.db.get("orders", orderId);
  if (order === null || order.status !== "held") {
    throw new Error(`Order ${orderId} is not held`);
  }
  return order;
}

/** Takes the seats and stores the order; null if there are too few of them. */
export const hold = internalMutation({
  args: { eventId: v.id("events"), buyer: v.string(), seats: v.number() },
  returns: v.union(
    v.null(),
    v.object({
      orderId: v.id("orders"),
      cents: v.number(),
      paymentUrl: v.string(),
    }),
  ),
  handler: async (ctx, { eventId, buyer, seats }) => {
    const event = await ctx.db.get("events", eventId);
    if (event === null) {
      throw new ConvexError("There is no such event");
    }
    if (event.freeSeats < seats) {
      return null;
    }
    await ctx.db.patch("events", eventId, {
      freeSeats: event.freeSeats - seats,
    });
    const orderId = await ctx.db.insert("orders", {
      eventId,
      buyer,
      seats,
      status: "held",
    });
    return {
      orderId,
      cents: seats * event.priceCents,
      paymentUrl: event.paymentUrl,
    };
  },
});

export const confirm = internalMutation({
  args: { orderId: v.id("orders"), paymentId: v.string() },
  returns: v.null(),
  handler: async (ctx, { orderId, paymentId }) => {
    await getHeldOrder(ctx, orderId);
    await ctx.db.patch("orders", orderId, { status: "paid", paymentId });
    return null;
  },
});

/** Gives the seats of an order back. */
export const release = internalMutation({
  args: { orderId: v.id("orders") },
  returns: v.null(),
  handler: async (ctx, { orderId }) => {
    const order = await getHeldOrder(ctx, orderId);
    await ctx.db.patch("orders", orderId, { status: "released" });

    const event = await ctx.db.get("events", order.eventId);
    if (event !== null) {
      await ctx.db.patch("events", order.eventId, {
        freeSeats: event.freeSeats + order.seats,
      });
    }
    return null;
  },
});
