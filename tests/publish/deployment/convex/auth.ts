import { v } from "convex/values";
import { internalMutation, type MutationCtx } from "./_generated/server";

export async function requireToken(ctx: MutationCtx, token: string): Promise<void> {
  const known = await ctx.db
    .query("authTokens")
    .withIndex("by_value", (q) => q.eq("value", token))
    .first();
  if (!known) throw new Error("Invalid authentication token");
}

export const createToken = internalMutation({
  args: { name: v.string() },
  returns: v.object({ tokenId: v.id("authTokens"), name: v.string(), value: v.string() }),
  handler: async (ctx, { name }) => {
    const value = Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join("");
    return { tokenId: await ctx.db.insert("authTokens", { name, value }), name, value };
  },
});
