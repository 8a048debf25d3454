import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { entry, leaderboard, ofGame } from "./model/leaderboard";

const key = { game: v.string(), player: v.string() };

export const stats = query({
  args: { game: v.string() },
  handler: async (ctx, { game }) => {
    const [players, total, first] = await Promise.all([
      leaderboard.count(ctx, ofGame(game)),
      leaderboard.sum(ctx, ofGame(game)),
      leaderboard.min(ctx, ofGame(game)),
    ]);
    return { players, total, best: first ? first.sumValue : null };
  },
});

export const rank = query({
  args: key,
  handler: async ({ db, ...ctx }, { game, player }) => {
    const score = await db
      .query("scores")
      .withIndex("player", (q) => q.eq("player", player).eq("game", game))
      .first();
    return score ? 1 + (await leaderboard.indexOf(ctx, entry(score).key, ofGame(game))) : null;
  },
});

export const submit = mutation({
  args: { ...key, points: v.number(), replay: v.string() },
  handler: async (ctx, args) => {
    const old = await ctx.db
      .query("scores")
      .withIndex("player", (q) => q.eq("player", args.player).eq("game", args.game))
      .first();
    if (old) {
      if (old.points >= args.points) return false;
      await ctx.db.delete("scores", old._id);
      await leaderboard.delete(ctx, entry(old));
    }
    const _id = await ctx.db.insert("scores", args);
    await leaderboard.insert(ctx, entry({ ...args, _id }));
    return true;
  },
});

export const removePlayer = mutation({
  args: { player: v.string() },
  handler: async (ctx, { player }) => {
    const scores = await ctx.db
      .query("scores")
      .withIndex("player", (q) => q.eq("player", player))
      .collect();
    await Promise.all(scores.map(({ _id }) => ctx.db.delete("scores", _id)));
    for (const score of scores) await leaderboard.delete(ctx, entry(score));
    return scores.length;
  },
});
