/** Reminders at a time, which can be called off; their states as in https://docs.convex.dev/scheduling/scheduled-functions#checking-the-status */
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction, internalMutation, mutation, query } from "./_generated/server";

export const create = mutation({
  args: { text: v.string(), atMs: v.number() },
  handler: async (ctx, { text, atMs }) => {
    const id = await ctx.db.insert("reminders", { text, jobId: null, sent: 0 });
    const jobId = await ctx.scheduler.runAt(atMs, internal.reminders.deliver, { id });
    await ctx.db.patch(id, { jobId });
    return id;
  },
});

export const callOff = mutation({
  args: { id: v.id("reminders") },
  handler: async (ctx, { id }) => {
    const reminder = await ctx.db.get(id);
    if (reminder?.jobId) await ctx.scheduler.cancel(reminder.jobId);
  },
});

export const status = query({
  args: { id: v.id("reminders") },
  handler: async (ctx, { id }) => {
    const reminder = await ctx.db.get(id);
    const job = reminder?.jobId ? await ctx.db.system.get(reminder.jobId) : null;
    return { sent: reminder?.sent ?? 0, job: job?.state.kind ?? null };
  },
});

export const deliver = internalAction({
  args: { id: v.id("reminders") },
  handler: async (ctx, { id }): Promise<void> => {
    if ((await ctx.runMutation(internal.reminders.markSent, { id })) === "fail") throw new Error("The post office is closed");
  },
});

export const markSent = internalMutation({
  args: { id: v.id("reminders") },
  handler: async (ctx, { id }) => {
    const reminder = await ctx.db.get(id);
    if (reminder === null) return "gone";
    await ctx.db.patch(id, { sent: reminder.sent + 1 });
    return reminder.text;
  },
});

export const tick = internalMutation({
  args: { source: v.string() },
  handler: async (ctx, { source }) => {
    await ctx.db.insert("ticks", { source });
  },
});

export const ticks = query({
  args: { source: v.string() },
  handler: async (ctx, { source }) =>
    (
      await ctx.db
        .query("ticks")
        .withIndex("by_source", (q) => q.eq("source", source))
        .collect()
    ).length,
});
