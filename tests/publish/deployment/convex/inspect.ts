/** For tests, which call these with the admin key; a real leaderboard has nothing of the kind. */
import { v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";

const RECORDED = ["models", "runs", "evals", "steps", "assets", "benchmarks"] as const;

export const everything = internalQuery({
  args: {},
  handler: async (ctx) => ({
    models: await ctx.db.query("models").collect(),
    runs: await ctx.db.query("runs").collect(),
    evals: await ctx.db.query("evals").collect(),
    steps: await ctx.db.query("steps").collect(),
    assets: await ctx.db.query("assets").collect(),
    benchmarks: await ctx.db.query("benchmarks").collect(),
    files: await ctx.db.system.query("_storage").collect(),
  }),
});

/** Everything but tokens. */
export const clear = internalMutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    for (const table of RECORDED) {
      for (const document of await ctx.db.query(table).collect()) await ctx.db.delete(document._id);
    }
    for (const file of await ctx.db.system.query("_storage").collect()) await ctx.storage.delete(file._id);
    return null;
  },
});

/** Deletes a stored file, as if it had been lost. */
export const loseFile = internalMutation({
  args: { storageId: v.id("_storage") },
  returns: v.null(),
  handler: async (ctx, { storageId }) => {
    await ctx.storage.delete(storageId);
    return null;
  },
});

/** Inserts the first document of a table once more. */
export const copy = internalMutation({
  args: { table: v.union(v.literal("runs"), v.literal("evals"), v.literal("steps")) },
  handler: async (ctx, { table }) => {
    const { _id, _creationTime, ...fields } = (await ctx.db.query(table).first())!;
    await ctx.db.insert(table, fields as never);
    return null;
  },
});
