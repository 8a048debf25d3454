/** Users in the database, stored when they log in, as in https://docs.convex.dev/auth/database-auth */
import { mutation, query } from "./_generated/server";

export const store = mutation({
  args: {},
  handler: async (ctx) => {
    const identity = await ctx.auth.getUserIdentity();
    if (!identity) throw new Error("Called storeUser without authentication present");
    const known = await ctx.db
      .query("users")
      .withIndex("by_token", (q) => q.eq("tokenIdentifier", identity.tokenIdentifier))
      .unique();
    const name = identity.name ?? "Anonymous";
    if (known === null) return await ctx.db.insert("users", { name, tokenIdentifier: identity.tokenIdentifier });
    if (known.name !== name) await ctx.db.patch(known._id, { name });
    return known._id;
  },
});

export const current = query({
  args: {},
  handler: async (ctx) => {
    const identity = await ctx.auth.getUserIdentity();
    if (identity === null) return null;
    const user = await ctx.db
      .query("users")
      .withIndex("by_token", (q) => q.eq("tokenIdentifier", identity.tokenIdentifier))
      .unique();
    return { email: identity.email ?? null, stored: user?.name ?? null };
  },
});
