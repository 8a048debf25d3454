"use node";

import { v } from "convex/values";
import { internalAction } from "./_generated/server";

export const post = internalAction({
  args: { url: v.string(), body: v.string() },
  handler: async (_ctx, { url, body }) => {
    const response = await fetch(url, { method: "post", body, headers: { "Content-Type": "text/plain" }, signal: AbortSignal.timeout(30_000) });
    if (response.status >= 200 && response.status < 300) return response.text();
    throw new Error(`${url}: ${response.statusText}`);
  },
});
