import { v } from "convex/values";
import {
  internalAction,
  internalMutation,
  internalQuery,
} from "./_generated/server";
import { requestFields, requestStatus } from "./schema";

const requestDocument = v.object(requestFields);

/** The request that has been waiting for the longest time, if there is one. */
export const next = internalQuery({
  args: {},
  returns: v.union(requestDocument, v.null()),
  handler: async (ctx) => {
    // Within one status the index is ordered by creation time.
    return await ctx.db
      .query("requests")
      .withIndex("by_status", (q) => q.eq("status", "waiting"))
      .order("asc")
      .first();
  },
});

export const setStatus = internalMutation({
  args: { requestId: v.id("requests"), status: requestStatus },
  returns: v.boolean(),
  handler: async (ctx, { requestId, status }) => {
    const request = await ctx.db.get("requests", requestId);
    if (request === null) {
      return false;
    }
    await ctx.db.patch("requests", requestId, { status });
    return true;
  },
});

/** Will call an outside service one day, hence an action. */
export const tweet = internalAction({
  args: { song: v.string(), listener: v.optional(v.string()) },
  returns: v.null(),
  handler: async () => {
    return null;
  },
});
