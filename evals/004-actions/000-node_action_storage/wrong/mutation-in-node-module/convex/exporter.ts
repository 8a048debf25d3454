"use node";

import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { action, internalMutation, type ActionCtx } from "./_generated/server";

const gzipAsync = promisify(gzip);
const PAGE_SIZE = 2000;

async function readLines(ctx: ActionCtx, account: string): Promise<string[]> {
  const lines: string[] = [];
  let cursor: string | null = null;
  for (;;) {
    const page: { cents: number[]; isDone: boolean; continueCursor: string } =
      await ctx.runQuery(internal.exportStore.entriesPage, {
        account,
        paginationOpts: { numItems: PAGE_SIZE, cursor },
      });
    for (const cents of page.cents) {
      lines.push(`${account},${cents}\n`);
    }
    if (page.isDone) {
      return lines;
    }
    cursor = page.continueCursor;
  }
}

export const create = action({
  args: { account: v.string() },
  returns: v.id("exports"),
  handler: async (ctx, { account }): Promise<Id<"exports">> => {
    const lines = await readLines(ctx, account);
    if (lines.length === 0) {
      throw new Error(`Account "${account}" has no entries to export`);
    }

    const plain = Buffer.from(lines.join(""), "utf8");
    const compressed = new Uint8Array(await gzipAsync(plain));
    const fileId = await ctx.storage.store(
      new Blob([compressed], { type: "application/gzip" }),
    );

    return await ctx.runMutation(internal.exporter.insertExport, {
      account,
      fileId,
      sha256: createHash("sha256").update(plain).digest("hex"),
      entryCount: lines.length,
    });
  },
});

export const insertExport = internalMutation({
  args: {
    account: v.string(),
    fileId: v.id("_storage"),
    sha256: v.string(),
    entryCount: v.number(),
  },
  returns: v.id("exports"),
  handler: async (ctx, fields) => await ctx.db.insert("exports", fields),
});
