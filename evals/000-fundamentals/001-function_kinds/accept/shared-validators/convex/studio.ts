import { v } from "convex/values";
import { internalAction, internalMutation, internalQuery } from "./_generated/server";
import { request, status, wish } from "./validators";

export const tweet = internalAction({ args: wish.fields, returns: v.null(), handler: async () => null });

export const setStatus = internalMutation({
  args: v.object({ status, requestId: v.id("requests") }),
  returns: v.boolean(),
  handler: async ({ db }, args) => {
    const found = await db.get(args.requestId);
    if (found) await db.replace(found._id, { ...found, status: args.status });
    return found !== null;
  },
});

export const next = internalQuery({
  args: {},
  returns: v.union(v.null(), request),
  handler: async ({ db }) => {
    const [oldest] = await db
      .query("requests")
      .filter((q) => q.eq(q.field("status"), "waiting"))
      .order("asc")
      .take(1);
    return oldest ?? null;
  },
});
