import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

/** The articles on a topic page by page, the newest first. */
export const onTopic = query({
  args: { topic: v.string(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("articles")
      .withIndex("by_topic", (q) => q.eq("topic", args.topic))
      .order("desc")
      .paginate(args.paginationOpts);
  },
});
