import { components } from "./_generated/api";
import { mutation } from "./_generated/server";

export const visit = mutation({
  args: {},
  handler: async (ctx): Promise<number> => ctx.runMutation(components.counter.lib.increment, { name: "visits" }),
});
