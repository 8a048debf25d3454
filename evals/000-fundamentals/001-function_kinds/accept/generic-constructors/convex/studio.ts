import {
  internalActionGeneric,
  internalMutationGeneric,
  internalQueryGeneric,
  type ActionBuilder,
  type MutationBuilder,
  type QueryBuilder,
} from "convex/server";
import { v } from "convex/values";
import type { DataModel } from "./_generated/dataModel";
import schema from "./schema";

const read: QueryBuilder<DataModel, "internal"> = internalQueryGeneric;
const write: MutationBuilder<DataModel, "internal"> = internalMutationGeneric;
const act: ActionBuilder<DataModel, "internal"> = internalActionGeneric;

const { song, listener, status } = schema.tables.requests.validator.fields;
const requestId = v.id("requests");

export const next = read({
  args: {},
  returns: v.union(v.object({ _id: requestId, _creationTime: v.number(), song, listener, status }), v.null()),
  handler: async (ctx) =>
    await ctx.db
      .query("requests")
      .withIndex("by_status", (q) => q.eq("status", "waiting"))
      .first(),
});

export const setStatus = write({
  args: { requestId, status },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    if ((await ctx.db.get(args.requestId)) === null) return false;
    await ctx.db.patch(args.requestId, { status: args.status });
    return true;
  },
});

export const tweet = act({
  args: { song, listener },
  returns: v.null(),
  handler: async () => {},
});
