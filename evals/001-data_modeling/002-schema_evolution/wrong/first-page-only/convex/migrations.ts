import { v } from "convex/values";
import { internalMutation } from "./_generated/server";
import { inNewShape, isOld } from "./shapes";

const PAGE_SIZE = 10;

export const run = internalMutation({
  args: { cursor: v.optional(v.string()) },
  returns: v.null(),
  handler: async (ctx, args) => {
    const { page } = await ctx.db
      .query("employees")
      .paginate({ numItems: PAGE_SIZE, cursor: args.cursor ?? null });
    for (const employee of page) {
      if (isOld(employee)) {
        await ctx.db.replace(employee._id, inNewShape(employee));
      }
    }
    return null;
  },
});
