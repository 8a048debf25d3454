import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalMutation, mutation, type MutationCtx } from "./_generated/server";

async function store(ctx: MutationCtx, text: string, dueAt: number): Promise<Id<"reminders">> {
  if (text === "") {
    throw new ConvexError("A reminder needs a text");
  }
  const reminderId = await ctx.db.insert("reminders", { text, dueAt, status: "waiting" });
  const jobId = await ctx.scheduler.runAt(dueAt, internal.reminders.deliver, { reminderId });
  await ctx.db.patch("reminders", reminderId, { jobId });
  return reminderId;
}

export const create = mutation({
  args: { text: v.string(), dueAt: v.number() },
  returns: v.id("reminders"),
  handler: async (ctx, args) => {
    return await store(ctx, args.text, args.dueAt);
  },
});

export const createAll = mutation({
  args: { reminders: v.array(v.object({ text: v.string(), dueAt: v.number() })) },
  returns: v.array(v.id("reminders")),
  handler: async (ctx, args) => {
    const ids: Id<"reminders">[] = [];
    for (const { text, dueAt } of args.reminders) {
      ids.push(await store(ctx, text, dueAt));
    }
    return ids;
  },
});

export const postpone = mutation({
  args: { reminderId: v.id("reminders"), dueAt: v.number() },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const reminder = await ctx.db.get("reminders", args.reminderId);
    if (reminder?.status !== "waiting") {
      return false;
    }
    if (reminder.jobId !== undefined) {
      await ctx.scheduler.cancel(reminder.jobId);
    }
    const jobId = await ctx.scheduler.runAt(args.dueAt, internal.reminders.deliver, { reminderId: reminder._id });
    await ctx.db.patch("reminders", reminder._id, { dueAt: args.dueAt, jobId });
    return true;
  },
});

export const cancel = mutation({
  args: { reminderId: v.id("reminders") },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const reminder = await ctx.db.get("reminders", args.reminderId);
    if (reminder?.status !== "waiting") {
      return false;
    }
    await ctx.db.patch("reminders", reminder._id, { status: "cancelled", jobId: undefined });
    return true;
  },
});

export const deliver = internalMutation({
  args: { reminderId: v.id("reminders") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const reminder = await ctx.db.get("reminders", args.reminderId);
    if (reminder?.status === "waiting") {
      await ctx.db.patch("reminders", reminder._id, { status: "sent", sentAt: Date.now(), jobId: undefined });
    }
    return null;
  },
});
