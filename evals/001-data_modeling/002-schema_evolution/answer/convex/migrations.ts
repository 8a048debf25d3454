import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation } from "./_generated/server";
import { inNewShape, isOld } from "./shapes";

const PAGE_SIZE = 10;

export const run = internalMutation({
  args: { cursor: v.optional(v.string()) },
  returns: v.null(),
  handler: async (ctx, args) => {
    const { page, isDone, continueCursor } = await ctx.db
      .query("employees")
      .paginate({ numItems: PAGE_SIZE, cursor: args.cursor ?? null });
    for (const employee of page) {
      if (isOld(employee)) {
        await ctx.db.replace(employee._id, inNewShape(employee));
      }
    }
    if (!isDone) {
      await ctx.scheduler.runAfter(0, internal.migrations.run, { cursor: continueCursor });
    }
    return null;
  },
});
