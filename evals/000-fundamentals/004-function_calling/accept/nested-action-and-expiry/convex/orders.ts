import { makeFunctionReference } from "convex/server";
import { v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { action, internalMutation, query, type QueryCtx } from "./_generated/server";

const HOLD_MS = 15 * 60 * 1000;

const wish = v.object({ eventId: v.id("events"), buyer: v.string(), seats: v.number() });
type Held = { orderId: Id<"orders">; cents: number; url: string } | "too few";
const holdReference = makeFunctionReference<"mutation", Infer<typeof wish>, Held>("orders:hold");

export const buy = action({
  args: wish,
  handler: async (ctx, args) => {
    const held = await ctx.runMutation(holdReference, args);
    if (held === "too few") return { status: "soldOut" as const };
    const { orderId } = held;
    let paymentId: string;
    try {
      paymentId = await ctx.runAction(internal.payments.charge, held);
    } catch {
      await ctx.runMutation(internal.orders.release, { orderId });
      return { status: "declined" as const };
    }
    await ctx.runMutation(internal.orders.keep, { orderId, paymentId });
    return { status: "paid" as const, paymentId };
  },
});

export const hold = internalMutation({
  args: wish,
  handler: async (ctx, { eventId, buyer, seats }): Promise<Held> => {
    const event = await ctx.db.get("events", eventId);
    if (event === null || !Number.isSafeInteger(seats) || seats <= 0) throw new Error("This cannot be bought");
    if (seats > event.freeSeats) return "too few";
    const orderId = await ctx.db.insert("orders", { eventId, buyer, seats, status: "held" });
    await ctx.db.replace("events", eventId, { ...event, freeSeats: event.freeSeats - seats });
    // An action that dies must not hold its seats for ever.
    await ctx.scheduler.runAfter(HOLD_MS, internal.orders.release, { orderId });
    return { orderId, cents: event.priceCents * seats, url: event.paymentUrl };
  },
});

export const keep = internalMutation({
  args: { orderId: v.id("orders"), paymentId: v.string() },
  handler: async (ctx, { orderId, paymentId }) => {
    const order = await ctx.db.get("orders", orderId);
    if (order?.status !== "held") throw new Error("The order is not held any more");
    await ctx.db.patch("orders", orderId, { paymentId, status: "paid" });
  },
});

export const release = internalMutation({
  args: { orderId: v.id("orders") },
  handler: async (ctx, { orderId }) => {
    const order = await ctx.db.get("orders", orderId);
    if (order?.status !== "held") return;
    const event = await ctx.db.get("events", order.eventId);
    await ctx.db.patch("orders", orderId, { status: "released" });
    if (event) await ctx.db.patch("events", event._id, { freeSeats: event.freeSeats + order.seats });
  },
});

async function seatsIn(ctx: QueryCtx, eventId: Id<"events">, status: "held" | "paid") {
  let sum = 0;
  for await (const { seats } of ctx.db.query("orders").withIndex("by_event_and_status", (q) => q.eq("eventId", eventId).eq("status", status))) {
    sum += seats;
  }
  return sum;
}

export const overview = query({
  args: { eventId: v.id("events") },
  handler: async (ctx, { eventId }) => {
    const event = await ctx.db.get("events", eventId);
    if (event === null) return null;
    const { freeSeats } = event;
    return { freeSeats, heldSeats: await seatsIn(ctx, eventId, "held"), paidSeats: await seatsIn(ctx, eventId, "paid") };
  },
});
