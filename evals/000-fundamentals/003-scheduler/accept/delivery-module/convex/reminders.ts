import { ConvexError, type Infer, v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";
import { scheduleDelivery } from "./delivery";

const draft = v.object({ text: v.string(), dueAt: v.number() });

async function store(
  ctx: MutationCtx,
  { text, dueAt }: Infer<typeof draft>,
): Promise<Id<"reminders">> {
  if (text === "") {
    throw new ConvexError("A reminder needs a text");
  }
  const reminderId = await ctx.db.insert("reminders", {
    text,
    dueAt,
    status: "waiting",
  });
  const deliveryId = await scheduleDelivery(ctx, reminderId, dueAt);
  await ctx.db.patch("reminders", reminderId, { deliveryId });
  return reminderId;
}

/** The reminder if it is still waiting, otherwise null. */
async function getWaiting(
  ctx: MutationCtx,
  reminderId: Id<"reminders">,
): Promise<Doc<"reminders"> | null> {
  const reminder = await ctx.db.get("reminders", reminderId);
  return reminder?.status === "waiting" ? reminder : null;
}

async function unschedule(ctx: MutationCtx, reminder: Doc<"reminders">) {
  if (reminder.deliveryId !== undefined) {
    await ctx.scheduler.cancel(reminder.deliveryId);
  }
}

export const create = mutation({
  args: { text: v.string(), dueAt: v.number() },
  returns: v.id("reminders"),
  handler: async (ctx, args) => {
    return await store(ctx, args);
  },
});

export const createAll = mutation({
  args: { reminders: v.array(draft) },
  returns: v.array(v.id("reminders")),
  handler: async (ctx, { reminders }) => {
    // An error rolls back the whole transaction, what it scheduled included.
    const ids: Id<"reminders">[] = [];
    for (const reminder of reminders) {
      ids.push(await store(ctx, reminder));
    }
    return ids;
  },
});

export const postpone = mutation({
  args: { reminderId: v.id("reminders"), dueAt: v.number() },
  returns: v.boolean(),
  handler: async (ctx, { reminderId, dueAt }) => {
    const reminder = await getWaiting(ctx, reminderId);
    if (reminder === null) {
      return false;
    }
    await unschedule(ctx, reminder);
    const deliveryId = await scheduleDelivery(ctx, reminderId, dueAt);
    await ctx.db.patch("reminders", reminderId, { dueAt, deliveryId });
    return true;
  },
});

export const cancel = mutation({
  args: { reminderId: v.id("reminders") },
  returns: v.boolean(),
  handler: async (ctx, { reminderId }) => {
    const reminder = await getWaiting(ctx, reminderId);
    if (reminder === null) {
      return false;
    }
    await unschedule(ctx, reminder);
    await ctx.db.patch("reminders", reminderId, {
      status: "cancelled",
      deliveryId: undefined,
    });
    return true;
  },
});
