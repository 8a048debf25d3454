import { ConvexError, type Infer, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { action, query, type QueryCtx } from "./_generated/server";
import { requestPayment } from "./payment";

const purchase = v.union(
  v.object({ status: v.literal("soldOut") }),
  v.object({ status: v.literal("paid"), paymentId: v.string() }),
  v.object({ status: v.literal("declined") }),
);

export const buy = action({
  args: { eventId: v.id("events"), buyer: v.string(), seats: v.number() },
  returns: purchase,
  handler: async (
    ctx,
    { eventId, buyer, seats },
  ): Promise<Infer<typeof purchase>> => {
    if (!Number.isInteger(seats) || seats < 1) {
      throw new ConvexError("seats must be a whole number of at least 1");
    }

    const held = await ctx.runMutation(internal.booking.hold, {
      eventId,
      buyer,
      seats,
    });
    if (held === null) {
      return { status: "soldOut" };
    }

    const { orderId, cents, paymentUrl } = held;
    const paymentId = await requestPayment(paymentUrl, { orderId, cents });
    if (paymentId === null) {
      await ctx.runMutation(internal.booking.release, { orderId });
      return { status: "declined" };
    }

    await ctx.runMutation(internal.booking.confirm, { orderId, paymentId });
    return { status: "paid", paymentId };
  },
});

async function sumSeats(
  ctx: QueryCtx,
  eventId: Id<"events">,
  status: Doc<"orders">["status"],
): Promise<number> {
  const orders = await ctx.db
    .query("orders")
    .withIndex("by_event_and_status", (q) =>
      q.eq("eventId", eventId).eq("status", status),
    )
    .collect();
  return orders.reduce((sum, order) => sum + order.seats, 0);
}

export const overview = query({
  args: { eventId: v.id("events") },
  returns: v.union(
    v.null(),
    v.object({
      freeSeats: v.number(),
      heldSeats: v.number(),
      paidSeats: v.number(),
    }),
  ),
  handler: async (ctx, { eventId }) => {
    const event = await ctx.db.get("events", eventId);
    if (event === null) {
      return null;
    }
    return {
      freeSeats: event.freeSeats,
      heldSeats: await sumSeats(ctx, eventId, "held"),
      paidSeats: await sumSeats(ctx, eventId, "paid"),
    };
  },
});
