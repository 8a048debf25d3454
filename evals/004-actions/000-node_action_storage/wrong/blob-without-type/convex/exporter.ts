"use node";

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { action } from "./_generated/server";

export const create = action({
  args: { account: v.string() },
  handler: async (ctx, args): Promise<Id<"exports">> => {
    const entries = await ctx.runQuery(internal.ledger.entriesOf, { account: args.account });
    if (entries.length === 0) {
      throw new Error(`Account ${args.account} has no entries`);
    }
    const text = entries.map(({ account, cents }) => `${account},${cents}\n`).join("");
    const file = new Blob([gzipSync(text)]);
    const fileId = await ctx.storage.store(file);
    return await ctx.runMutation(internal.ledger.recordExport, {
      account: args.account,
      fileId,
      sha256: createHash("sha256").update(text, "utf8").digest("hex"),
      entryCount: entries.length,
    });
  },
});
