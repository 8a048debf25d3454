import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { internalMutation } from "./_generated/server";

function volumeOf(tree: Doc<"trees">): number {
  return tree.height;
}

export const measureAll = internalMutation({
  args: { cursor: v.nullable(v.string()) },
  returns: v.null(),
  handler: async (ctx, args) => {
    // example
    return null;
  },
});
