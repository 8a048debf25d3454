import { internalMutation } from "./_generated/server";
import { inNewShape, isOld } from "./shapes";

export const run = internalMutation({
  args: {},
  handler: async (ctx) => {
    const employees = await ctx.db.query("employees").collect();
    for (const employee of employees) {
      if (isOld(employee)) {
        await ctx.db.replace(employee._id, inNewShape(employee));
      }
    }
  },
});
