"use node";
import { createHmac } from "node:crypto";
import { v } from "convex/values";
import { internalAction } from "./_generated/server";

export const sign = internalAction({
  args: { text: v.string() },
  returns: v.string(),
  handler: async (_ctx, { text }) => createHmac("sha256", process.env.RECEIPT_KEY ?? "no key").update(text).digest("base64url"),
});
