"use node";

import * as crypto from "crypto";
import * as zlib from "zlib";
import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { action, type ActionCtx } from "./_generated/server";

export const create = action({
  args: { account: v.string() },
  returns: v.id("exports"),
  handler: async (ctx, { account }): Promise<Id<"exports">> => {
    const hash = crypto.createHash("sha256");
    const gzip = zlib.createGzip({ level: 9 });
    const chunks: Buffer[] = [];
    const compressed = new Promise<void>((resolve, reject) => {
      gzip.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", resolve).on("error", reject);
    });
    let entryCount = 0;
    for await (const entries of pagesOf(ctx, account)) {
      const lines = entries.map(({ cents }) => `${account},${cents}\n`).join("");
      hash.update(lines);
      gzip.write(lines);
      entryCount += entries.length;
    }
    gzip.end();
    await compressed;
    if (entryCount === 0) throw new ConvexError("nothing to export");
    const fileId = await ctx.storage.store(new Blob([new Uint8Array(Buffer.concat(chunks))], { type: "application/gzip" }));
    return await ctx.runMutation(internal.ledger.insertExport, { export: { account, entryCount, fileId, sha256: hash.digest().toString("hex") } });
  },
});

async function* pagesOf(ctx: ActionCtx, account: string): AsyncGenerator<Doc<"entries">[]> {
  let after = 0;
  for (;;) {
    const page: Doc<"entries">[] = await ctx.runQuery(internal.ledger.entriesAfter, { account, after });
    if (page.length === 0) return;
    yield page;
    after = page[page.length - 1]!._creationTime;
  }
}
