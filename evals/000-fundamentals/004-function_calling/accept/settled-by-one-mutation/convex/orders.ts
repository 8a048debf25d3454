import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, query } from "./_generated/server";
import { askForMoney } from "./model/payment";

type Purchase = { status: "soldOut" | "declined" } | { status: "paid"; paymentId: string };

export const buy = action({
  args: { buyer: v.string(), eventId: v.id("events"), seats: v.number() },
  async handler({ runMutation, runQuery }, args): Promise<Purchase> {
    const { take, settle, event: eventById } = internal.seats;
    if (args.seats < 1 || args.seats % 1 !== 0) throw new Error("seats");
    // The price and the address are read before: only the seats change.
    const event = await runQuery(eventById, { id: args.eventId });
    if (event === null) throw new Error("event");
    const id = await runMutation(take, args);
    if (id === null) return { status: "soldOut" };
    const payment = await askForMoney(event.paymentUrl, id, event.priceCents * args.seats);
    if (payment.paid) {
      await runMutation(settle, { id, paymentId: payment.paymentId });
      return { paymentId: payment.paymentId, status: "paid" };
    }
    await runMutation(settle, { id });
    return { status: "declined" };
  },
});

export const overview = query({
  args: { eventId: v.id("events") },
  handler: async ({ db }, { eventId }) => {
    const orders = await db
      .query("orders")
      .withIndex("by_eventId", (q) => q.eq("eventId", eventId))
      .collect();
    const count = (status: "held" | "paid") => orders.filter((order) => order.status === status).reduce((sum, { seats }) => sum + seats, 0);
    const event = await db.get(eventId);
    return event && { paidSeats: count("paid"), heldSeats: count("held"), freeSeats: event.freeSeats };
  },
});
