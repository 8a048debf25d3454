import { v } from "convex/values";
import { internalMutation, internalQuery, query } from "./_generated/server";
import schema from "./schema";

export const entriesAfter = internalQuery({
  args: { account: v.string(), after: v.number() },
  handler: ({ db }, { account, after }) =>
    db
      .query("entries")
      .withIndex("account", (q) => q.eq("account", account).gt("_creationTime", after))
      .take(250),
});

export const insertExport = internalMutation({
  args: { export: schema.tables.exports.validator },
  handler: async ({ db }, args) => await db.insert("exports", args.export),
});

export const listExports = query({
  args: { account: v.string() },
  returns: v.array(v.object({ entryCount: v.number(), sha256: v.string(), url: v.nullable(v.string()) })),
  handler: async ({ db, storage }, { account }) => {
    const rows = await db.query("exports").withIndex("account", (q) => q.eq("account", account)).collect();
    rows.reverse();
    return await Promise.all(rows.map(async (row) => ({ entryCount: row.entryCount, sha256: row.sha256, url: await storage.getUrl(row.fileId) })));
  },
});
