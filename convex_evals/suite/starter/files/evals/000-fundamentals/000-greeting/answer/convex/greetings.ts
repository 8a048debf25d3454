import { v } from "convex/values";
import { query } from "./_generated/server";

export const greet = query({
  args: { name: v.string() },
  returns: v.string(),
  handler: async (ctx, args) => `Hello, ${args.name === "" ? "stranger" : args.name}!`,
});
