import { ConvexError, v } from "convex/values";
import { components } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

const HISTORY_LENGTH = 10;

type Activity = { action: string; detail: string };

/** The caller's name. Throws if they are not signed in. */
async function requireUser(ctx: Pick<QueryCtx, "auth">): Promise<string> {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) {
    throw new ConvexError("Please sign in first.");
  }
  return identity.tokenIdentifier;
}

async function audit(
  ctx: MutationCtx,
  actor: string,
  { action, detail }: Activity,
): Promise<void> {
  await ctx.runMutation(components.auditLog.log.record, {
    actor,
    action,
    detail,
  });
}

export const write = mutation({
  args: { text: v.string() },
  returns: v.id("entries"),
  handler: async (ctx, { text }): Promise<Id<"entries">> => {
    const author = await requireUser(ctx);
    const entryId = await ctx.db.insert("entries", { author, text });
    await audit(ctx, author, { action: "write", detail: entryId });
    return entryId;
  },
});

export const remove = mutation({
  args: { entryId: v.id("entries") },
  returns: v.null(),
  handler: async (ctx, { entryId }): Promise<null> => {
    const user = await requireUser(ctx);
    const entry = await ctx.db.get("entries", entryId);
    if (entry === null) {
      throw new ConvexError("There is no such entry.");
    }
    if (entry.author !== user) {
      throw new ConvexError("Only the author may remove an entry.");
    }
    await ctx.db.delete("entries", entryId);
    await audit(ctx, user, { action: "remove", detail: entryId });
    return null;
  },
});

export const history = query({
  args: {},
  returns: v.array(v.object({ action: v.string(), detail: v.string() })),
  handler: async (ctx): Promise<Activity[]> => {
    const actor = await requireUser(ctx);
    return await ctx.runQuery(components.auditLog.log.latest, {
      actor,
      limit: HISTORY_LENGTH,
    });
  },
});
