import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";
import { drop, plan } from "./deliveries";

const fields = { dueAt: v.number(), text: v.string() };

async function insert(ctx: MutationCtx, { text, dueAt }: Pick<Doc<"reminders">, "dueAt" | "text">) {
  if (text.length === 0) throw new Error("empty");
  const reminderId = await ctx.db.insert("reminders", { dueAt, text, status: "waiting" });
  await plan(ctx, reminderId, dueAt);
  return reminderId;
}

async function change(ctx: MutationCtx, id: Id<"reminders">, fields: Partial<Doc<"reminders">>) {
  const reminder = await ctx.db.get(id);
  if (!reminder || reminder.status !== "waiting") return false;
  await drop(ctx, id);
  await ctx.db.patch(id, fields);
  return true;
}

export const cancel = mutation({
  args: { reminderId: v.id("reminders") },
  handler: (ctx, { reminderId }) => change(ctx, reminderId, { status: "cancelled" }),
});

export const postpone = mutation({
  args: { dueAt: v.number(), reminderId: v.id("reminders") },
  handler: async (ctx, { reminderId, dueAt }) => {
    const changed = await change(ctx, reminderId, { dueAt });
    if (changed) await plan(ctx, reminderId, dueAt);
    return changed;
  },
});

export const create = mutation({ args: fields, handler: insert });

export const createAll = mutation({
  args: { reminders: v.array(v.object(fields)) },
  handler: async (ctx, { reminders }) => await Promise.all(reminders.map((reminder) => insert(ctx, reminder))),
});
