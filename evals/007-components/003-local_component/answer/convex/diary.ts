import type { Auth } from "convex/server";
import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

/** The `subject` of whoever is calling. Components cannot ask for it: the app has to tell them. */
async function signedInUser(ctx: { auth: Auth }): Promise<string> {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) {
    throw new Error("Not signed in");
  }
  return identity.subject;
}

export const write = mutation({
  args: { text: v.string() },
  returns: v.id("entries"),
  handler: async (ctx, args) => {
    const user = await signedInUser(ctx);
    const entryId = await ctx.db.insert("entries", { author: user, text: args.text });
    await ctx.runMutation(components.auditLog.log.add, { actor: user, action: "write", detail: entryId });
    return entryId;
  },
});

export const remove = mutation({
  args: { entryId: v.id("entries") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const user = await signedInUser(ctx);
    const entry = await ctx.db.get(args.entryId);
    if (entry === null || entry.author !== user) {
      throw new Error("There is no such entry of yours");
    }
    await ctx.db.delete(args.entryId);
    await ctx.runMutation(components.auditLog.log.add, { actor: user, action: "remove", detail: args.entryId });
    return null;
  },
});

export const history = query({
  args: {},
  returns: v.array(v.object({ action: v.string(), detail: v.string() })),
  handler: async (ctx): Promise<{ action: string; detail: string }[]> => {
    const user = await signedInUser(ctx);
    return await ctx.runQuery(components.auditLog.log.newest, { actor: user, count: 10 });
  },
});
