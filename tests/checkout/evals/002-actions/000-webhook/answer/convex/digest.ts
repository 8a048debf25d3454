"use node";

import { v } from "convex/values";
import { createHash } from "node:crypto";
import { internalAction } from "./_generated/server";

export const sha256 = internalAction({
  args: { text: v.string() },
  returns: v.string(),
  handler: async (_ctx, { text }) => createHash("sha256").update(text).digest("hex"),
});
