"use node";
import { createHash } from "node:crypto";
import { v } from "convex/values";
import { action } from "./_generated/server";

export const store = action({
  args: { text: v.string() },
  handler: async (ctx, args) => {
    const id = await ctx.storage.store(new Blob([args.text]));
    return { url: await ctx.storage.getUrl(id), sha256: createHash("sha256").update(args.text).digest("hex") };
  },
});
