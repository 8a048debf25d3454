import { v } from "convex/values";
import { query } from "./_generated/server";

export const greet = query({
  args: { name: v.string() },
  handler: async (_ctx, { name }) => {
    if (name.length === 0) return "Hello, stranger!";
    return "Hello, " + name + "!";
  },
});
