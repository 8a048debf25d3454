import { ConvexError, v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalMutation, query } from "./_generated/server";

const purchase = v.union(
  v.object({ status: v.literal("soldOut") }),
  v.object({ status: v.literal("paid"), paymentId: v.string() }),
  v.object({ status: v.literal("declined") }),
);

const hold = v.object({
  orderId: v.id("orders"),
  cents: v.number(),
  paymentUrl: v.string(),
});

/** Asks the payment service; null if there is no payment. */
async function pay(paymentUrl: string, order: { orderId: string; cents: number }): Promise<string | null> {
  try {
    const response = await fetch(paymentUrl, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(order),
    });
    if (response.status !== 200) {
      return null;
    }
    const answer = (await response.json()) as { paymentId?: unknown } | null;
    return typeof answer?.paymentId === "string" ? answer.paymentId : null;
  } catch (error) {
    console.warn("The payment service did not answer", error);
    return null;
  }
}

export const buy = action({
  args: { eventId: v.id("events"), buyer: v.string(), seats: v.number() },
  returns: purchase,
  handler: async (ctx, args): Promise<Infer<typeof purchase>> => {
    const held = await ctx.runMutation(internal.orders.holdSeats, args);
    if (held === null) {
      return { status: "soldOut" };
    }
    const { orderId, cents, paymentUrl } = held;
    const paymentId = await pay(paymentUrl, { orderId, cents });
    if (paymentId === null) {
      ctx.runMutation(internal.orders.release, { orderId }).catch(() => null);
      return { status: "declined" };
    }
    await ctx.runMutation(internal.orders.confirm, { orderId, paymentId });
    return { status: "paid", paymentId };
  },
});

/** Checks and takes the seats and stores the order, all in one transaction; null if there are too few seats. */
export const holdSeats = internalMutation({
  args: { eventId: v.id("events"), buyer: v.string(), seats: v.number() },
  returns: v.union(hold, v.null()),
  handler: async (ctx, args) => {
    if (!Number.isInteger(args.seats) || args.seats < 1) {
      throw new ConvexError("The number of seats must be a whole number of at least 1");
    }
    const event = await ctx.db.get("events", args.eventId);
    if (event === null) {
      throw new ConvexError("There is no such event");
    }
    if (event.freeSeats < args.seats) {
      return null;
    }
    await ctx.db.patch("events", event._id, { freeSeats: event.freeSeats - args.seats });
    const orderId = await ctx.db.insert("orders", {
      eventId: event._id,
      buyer: args.buyer,
      seats: args.seats,
      status: "held",
    });
    return { orderId, cents: args.seats * event.priceCents, paymentUrl: event.paymentUrl };
  },
});

export const confirm = internalMutation({
  args: { orderId: v.id("orders"), paymentId: v.string() },
  returns: v.null(),
  handler: async (ctx, args) => {
    await ctx.db.patch("orders", args.orderId, { status: "paid", paymentId: args.paymentId });
    return null;
  },
});

export const release = internalMutation({
  args: { orderId: v.id("orders") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const order = await ctx.db.get("orders", args.orderId);
    if (order?.status !== "held") {
      return null;
    }
    await ctx.db.patch("orders", order._id, { status: "released" });
    const event = await ctx.db.get("events", order.eventId);
    if (event !== null) {
      await ctx.db.patch("events", event._id, { freeSeats: event.freeSeats + order.seats });
    }
    return null;
  },
});

export const overview = query({
  args: { eventId: v.id("events") },
  returns: v.union(v.object({ freeSeats: v.number(), heldSeats: v.number(), paidSeats: v.number() }), v.null()),
  handler: async (ctx, args) => {
    const event = await ctx.db.get("events", args.eventId);
    if (event === null) {
      return null;
    }
    let heldSeats = 0;
    let paidSeats = 0;
    const orders = ctx.db.query("orders").withIndex("by_eventId", (q) => q.eq("eventId", args.eventId));
    for await (const order of orders) {
      if (order.status === "held") {
        heldSeats += order.seats;
      } else if (order.status === "paid") {
        paidSeats += order.seats;
      }
    }
    return { freeSeats: event.freeSeats, heldSeats, paidSeats };
  },
});
