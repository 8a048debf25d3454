/** For tests, which call these with the admin key; a real leaderboard has nothing of the kind. */
import { v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";
import { limiter } from "./auth";

const RECORDED = ["models", "runs", "evals", "steps", "assets", "benchmarks", "sessions", "exportKeys"] as const;
const DERIVED = ["scores", "tallies", "modelStats", "experimentStats"] as const;

export const everything = internalQuery({
  args: {},
  handler: async (ctx) => {
    const tables = await Promise.all(
      [...RECORDED, ...DERIVED].map(async (table) => [table, await ctx.db.query(table).collect()] as const),
    );
    return { ...Object.fromEntries(tables), files: await ctx.db.system.query("_storage").collect() };
  },
});

/** Everything but tokens, refusals that were counted included. */
export const clear = internalMutation({
  args: {},
  handler: async (ctx) => {
    for (const table of [...RECORDED, ...DERIVED]) {
      for (const document of await ctx.db.query(table).collect()) await ctx.db.delete(document._id);
    }
    for (const file of await ctx.db.system.query("_storage").collect()) await ctx.storage.delete(file._id);
    await limiter.reset(ctx, "refusals");
    return null;
  },
});

/** Inserts the first session as so many others, with the same files. */
export const copySessions = internalMutation({
  args: { count: v.number() },
  handler: async (ctx, { count }) => {
    const { _id, _creationTime, ...fields } = (await ctx.db.query("sessions").first())!;
    for (let n = 0; n < count; n++) {
      await ctx.db.insert("sessions", { ...fields, sessionId: n.toString(16).padStart(20, "0"), order: n });
    }
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

/** Makes sums of experiments as versions left them that did not name models. */
export const forgetModels = internalMutation({
  args: {},
  handler: async (ctx) => {
    for (const stats of await ctx.db.query("experimentStats").collect()) {
      await ctx.db.patch(stats._id, { models: undefined });
    }
    return null;
  },
});

/** Makes what is computed wrong, as an older version may have left it. */
export const spoilScores = internalMutation({
  args: {},
  handler: async (ctx) => {
    for (const score of await ctx.db.query("scores").collect()) await ctx.db.patch(score._id, { totalScore: 0.123 });
    for (const run of await ctx.db.query("runs").collect()) {
      await ctx.db.patch(run._id, { result: { passed: 0, scored: 1, categories: {}, costUsd: null } });
    }
    return null;
  },
});
