import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalAction, internalMutation, type MutationCtx } from "./_generated/server";

export async function plan(ctx: MutationCtx, reminderId: Id<"reminders">, dueAt: number) {
  const delay = Math.max(dueAt - Date.now(), 0);
  const jobId = await ctx.scheduler.runAfter(delay, internal.deliveries.run, { reminderId });
  await ctx.db.insert("deliveries", { reminderId, jobId });
}

export async function drop(ctx: MutationCtx, reminderId: Id<"reminders">) {
  const planned = await ctx.db
    .query("deliveries")
    .withIndex("reminder", (q) => q.eq("reminderId", reminderId))
    .collect();
  await Promise.all(planned.flatMap(({ _id, jobId }) => [ctx.scheduler.cancel(jobId), ctx.db.delete(_id)]));
}

export const markSent = internalMutation({
  args: { reminderId: v.id("reminders") },
  handler: async (ctx, { reminderId }) => {
    const reminder = await ctx.db.get(reminderId);
    if (reminder === null || reminder.status !== "waiting") return;
    await ctx.db.patch(reminderId, { status: "sent", sentAt: Date.now() });
    for await (const { _id } of ctx.db.query("deliveries").withIndex("reminder", (q) => q.eq("reminderId", reminderId))) {
      await ctx.db.delete(_id);
    }
  },
});

/** An action, since mails will be sent from here. */
export const run = internalAction({
  args: { reminderId: v.id("reminders") },
  handler: async (ctx, args) => {
    await ctx.runMutation(internal.deliveries.markSent, args);
  },
});
