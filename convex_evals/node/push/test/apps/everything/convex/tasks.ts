import { internalMutation, query } from "./_generated/server";

export const list = query({ args: {}, handler: async (ctx) => ctx.db.query("tasks").collect() });

export const prune = internalMutation({
  args: {},
  handler: async (ctx) => {
    for (const task of await ctx.db.query("tasks").collect()) await ctx.db.delete(task._id);
  },
});
