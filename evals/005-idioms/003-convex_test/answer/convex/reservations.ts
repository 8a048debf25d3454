import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, mutation, query, type QueryCtx } from "./_generated/server";

const MINUTES_TO_CONFIRM = 15;

async function currentUser(ctx: QueryCtx): Promise<string> {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) {
    throw new Error("Not logged in");
  }
  return identity.tokenIdentifier;
}

async function ownReservation(ctx: QueryCtx, reservationId: Id<"reservations">): Promise<Doc<"reservations">> {
  const user = await currentUser(ctx);
  const reservation = await ctx.db.get(reservationId);
  if (reservation === null || reservation.user !== user) {
    throw new Error("No such reservation");
  }
  return reservation;
}

export const create = mutation({
  args: { room: v.string(), from: v.number(), to: v.number() },
  returns: v.id("reservations"),
  handler: async (ctx, args) => {
    const user = await currentUser(ctx);
    if (args.from >= args.to) {
      throw new Error("A reservation must end after it begins");
    }
    const others = await ctx.db
      .query("reservations")
      .withIndex("by_room", (q) => q.eq("room", args.room))
      .collect();
    if (others.some((other) => args.from < other.to && other.from < args.to)) {
      throw new Error("The room is taken");
    }
    const reservationId = await ctx.db.insert("reservations", { ...args, user, confirmed: false });
    await ctx.scheduler.runAfter(MINUTES_TO_CONFIRM * 60 * 1000, internal.reservations.expire, { reservationId });
    return reservationId;
  },
});

export const confirm = mutation({
  args: { reservationId: v.id("reservations") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const reservation = await ownReservation(ctx, args.reservationId);
    await ctx.db.patch(reservation._id, { confirmed: true });
    return null;
  },
});

export const cancel = mutation({
  args: { reservationId: v.id("reservations") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const reservation = await ownReservation(ctx, args.reservationId);
    await ctx.db.delete(reservation._id);
    return null;
  },
});

export const listMine = query({
  args: {},
  handler: async (ctx) => {
    const user = await currentUser(ctx);
    return await ctx.db
      .query("reservations")
      .withIndex("by_user_and_from", (q) => q.eq("user", user))
      .collect();
  },
});

export const expire = internalMutation({
  args: { reservationId: v.id("reservations") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const reservation = await ctx.db.get(args.reservationId);
    if (reservation !== null && !reservation.confirmed) {
      await ctx.db.delete(reservation._id);
    }
    return null;
  },
});
