"use node";

import { promisify } from "util";
import { gzip } from "zlib";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action } from "./_generated/server";
import type { Id } from "./_generated/dataModel";

const compress = promisify(gzip);

async function digest(bytes: Uint8Array<ArrayBuffer>) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const create = action({
  args: { account: v.string() },
  returns: v.id("exports"),
  handler: async ({ runQuery, runMutation, storage }, { account }) => {
    const { text, entryCount }: { text: string; entryCount: number } = await runQuery(internal.internals.read.text, { account });
    const sha256 = await digest(new TextEncoder().encode(text));
    const bytes = new Uint8Array(await compress(Buffer.from(text, "utf8")));
    const fileId = await storage.store(new Blob([bytes], { type: "application/gzip" }));
    const id: Id<"exports"> = await runMutation(internal.internals.write.default, { account, entryCount, fileId, sha256 });
    return id;
  },
});
