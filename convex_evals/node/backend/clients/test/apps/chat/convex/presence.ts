/** Who is in a room: clients report themselves, and a scheduled function removes who stopped doing so. */
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";

export const list = query({
  args: { room: v.string() },
  returns: v.array(v.object({ user: v.string(), typing: v.boolean() })),
  handler: async (ctx, { room }) => {
    const present = await ctx.db
      .query("presence")
      .withIndex("by_room", (q) => q.eq("room", room))
      .collect();
    return present.map(({ user, typing }) => ({ user, typing })).sort((a, b) => (a.user < b.user ? -1 : 1));
  },
});

export const heartbeat = mutation({
  args: { room: v.string(), user: v.string(), typing: v.boolean(), lifetimeMs: v.number() },
  returns: v.null(),
  handler: async (ctx, { room, user, typing, lifetimeMs }) => {
    const seenMs = Date.now();
    const known = await ctx.db
      .query("presence")
      .withIndex("by_room_and_user", (q) => q.eq("room", room).eq("user", user))
      .unique();
    const id = known?._id ?? (await ctx.db.insert("presence", { room, user, typing, seenMs }));
    await ctx.db.patch(id, { typing, seenMs });
    await ctx.scheduler.runAfter(lifetimeMs, internal.presence.leaveUnlessSeenSince, { id, seenMs });
    return null;
  },
});

export const leaveUnlessSeenSince = internalMutation({
  args: { id: v.id("presence"), seenMs: v.number() },
  returns: v.null(),
  handler: async (ctx, { id, seenMs }) => {
    const presence = await ctx.db.get(id);
    if (presence?.seenMs === seenMs) await ctx.db.delete(id);
    return null;
  },
});
