import { ConvexError, v, type ObjectType } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalMutation, mutation, query, type MutationCtx } from "./_generated/server";

const wish = { text: v.string(), dueAt: v.number() };
const reminderId = v.id("reminders");

async function createOne({ db, scheduler }: MutationCtx, { text, dueAt }: ObjectType<typeof wish>) {
  const id = await db.insert("reminders", { text, dueAt, status: "waiting" });
  await scheduler.runAt(new Date(dueAt), internal.delivery.default, { id });
  if (!text) throw new ConvexError({ code: "EMPTY" });
  return id;
}

/** The pending delivery of a reminder, found by its arguments. */
async function unschedule({ db, scheduler }: MutationCtx, id: Id<"reminders">) {
  for await (const job of db.system.query("_scheduled_functions").order("desc")) {
    const [args] = job.args as [{ id?: string }?];
    if (job.state.kind === "pending" && args?.id === id) return await scheduler.cancel(job._id);
  }
}

export const create = mutation({ args: wish, returns: reminderId, handler: createOne });

export const createNext = internalMutation({ args: wish, returns: reminderId, handler: createOne });

export const createAll = mutation({
  args: { reminders: v.array(v.object(wish)) },
  returns: v.array(reminderId),
  handler: async (ctx, { reminders }): Promise<Id<"reminders">[]> => {
    const ids: Id<"reminders">[] = [];
    for (const next of reminders) ids.push(await ctx.runMutation(internal.reminders.createNext, next));
    return ids;
  },
});

export const postpone = mutation({
  args: { reminderId, dueAt: v.number() },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const reminder = await ctx.db.get(args.reminderId);
    if (reminder?.status !== "waiting") return false;
    await unschedule(ctx, reminder._id);
    await ctx.scheduler.runAt(args.dueAt, internal.delivery.default, { id: reminder._id });
    await ctx.db.patch(reminder._id, { dueAt: args.dueAt });
    return true;
  },
});

export const cancel = mutation({
  args: { reminderId },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const reminder = await ctx.db.get(args.reminderId);
    const waiting = reminder?.status === "waiting";
    if (waiting) {
      await ctx.db.patch(reminder._id, { status: "cancelled" });
      await unschedule(ctx, reminder._id);
    }
    return waiting;
  },
});

export const list = query({ args: {}, handler: async (ctx) => await ctx.db.query("reminders").take(100) });
