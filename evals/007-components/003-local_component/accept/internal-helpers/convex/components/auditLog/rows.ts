import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

export const insert = internalMutation({
  args: { actor: v.string(), action: v.string(), detail: v.string() },
  returns: v.id("entries"),
  handler: async (ctx, row) => ctx.db.insert("entries", row),
});
