"use node";

import ms, { type StringValue } from "ms";
import { v } from "convex/values";
import { action } from "./_generated/server";

export const parse = action({
  args: { text: v.string() },
  returns: v.number(),
  handler: async (_ctx, { text }) => ms(text as StringValue),
});
