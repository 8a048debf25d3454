import { ConvexError, v, type Infer } from "convex/values";
import { mutation, query } from "./_generated/server";
import { limits } from "./limits";

const postResult = v.union(
  v.object({ posted: v.literal(true) }),
  v.object({ posted: v.literal(false), retryAfter: v.number() }),
);

export const post = mutation({
  args: { author: v.string(), text: v.string() },
  returns: postResult,
  handler: async (ctx, { author, text }): Promise<Infer<typeof postResult>> => {
    if (text === "") {
      throw new ConvexError("A comment must not be empty.");
    }

    const status = await limits.limit(ctx, "postComment", { key: author });
    if (!status.ok) {
      return { posted: false, retryAfter: status.retryAfter };
    }

    await ctx.db.insert("comments", { author, text });
    return { posted: true };
  },
});

export const canPost = query({
  args: { author: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { author }): Promise<boolean> => {
    const { ok } = await limits.check(ctx, "postComment", { key: author });
    return ok;
  },
});
