import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation } from "./_generated/server";
import { toNewShape } from "./model/employees";

// At most 10 employees may be read or written. Half of that leaves room below
// the limits on bytes even if every one of them has a large photo.
const BATCH_SIZE = 5;

export const run = internalMutation({
  args: {},
  returns: v.null(),
  handler: async (ctx): Promise<null> => {
    const batch = await ctx.db
      .query("employees")
      .withIndex("by_remote", (q) => q.eq("remote", undefined))
      .take(BATCH_SIZE);

    for (const employee of batch) {
      await ctx.db.replace("employees", employee._id, toNewShape(employee));
    }

    // A full batch means that there may be more. Migrated employees have left
    // the range of the index, so the next run starts with the ones after them.
    if (batch.length === BATCH_SIZE) {
      await ctx.scheduler.runAfter(0, internal.migrations.run, {});
    }
    return null;
  },
});
