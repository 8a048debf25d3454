import { v } from "convex/values";
import { action } from "./_generated/server";

export const similar = action({
  args: { vector: v.array(v.number()), era: v.string() },
  handler: async (ctx, args) => {
    // example
    return hits.map((hit) => hit._score);
  },
});
