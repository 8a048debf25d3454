import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { line } from "./schema";

export const append = mutation({
  args: { line: v.object(line) },
  handler: async (ctx, { line }) => await ctx.db.insert("entries", line),
});

export const latest = query({
  args: { actor: v.string() },
  handler: async (ctx, { actor }) => {
    const lines: { action: string; detail: string; at: number }[] = [];
    for await (const entry of ctx.db.query("entries").order("desc")) {
      if (entry.actor !== actor) continue;
      lines.push({ action: entry.action, detail: entry.detail, at: entry._creationTime });
      if (lines.length >= 10) break;
    }
    return lines;
  },
});
