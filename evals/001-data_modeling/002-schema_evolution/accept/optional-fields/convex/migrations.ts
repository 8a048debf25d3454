import { internal } from "./_generated/api";
import { internalMutation } from "./_generated/server";
import { phonesOf } from "./employees";

export const run = internalMutation({
  handler: async (ctx) => {
    const old = await ctx.db
      .query("employees")
      .withIndex("deprecatedPhone", (q) => q.gte("phone", ""))
      .take(8);
    for (const employee of old) {
      await ctx.db.patch(employee._id, { phone: undefined, phones: phonesOf(employee), remote: false });
    }
    if (old.length > 0) await ctx.scheduler.runAfter(0, internal.migrations.run);
    return old.length;
  },
});
