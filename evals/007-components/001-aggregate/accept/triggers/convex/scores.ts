import { v } from "convex/values";
import { query } from "./_generated/server";
import { mutation, places, totals } from "./triggers";

export const submit = mutation({
  args: { game: v.string(), player: v.string(), points: v.number(), replay: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { game, player, points, replay }) => {
    const current = await ctx.db
      .query("scores")
      .withIndex("by_game_and_player", (q) => q.eq("game", game).eq("player", player))
      .unique();
    if (current === null) await ctx.db.insert("scores", { game, player, points, replay });
    else if (current.points < points) await ctx.db.replace(current._id, { game, player, points, replay });
    else return false;
    return true;
  },
});

export const removePlayer = mutation({
  args: { player: v.string() },
  returns: v.number(),
  handler: async (ctx, { player }) => {
    const scores = await ctx.db
      .query("scores")
      .withIndex("by_player", (q) => q.eq("player", player))
      .collect();
    for (const { _id } of scores) await ctx.db.delete(_id);
    return scores.length;
  },
});

export const stats = query({
  args: { game: v.string() },
  returns: v.object({ players: v.number(), total: v.number(), best: v.nullable(v.number()) }),
  handler: async (ctx, { game: namespace }) => ({
    players: await totals.count(ctx, { namespace }),
    total: await totals.sum(ctx, { namespace }),
    best: (await places.max(ctx, { namespace }))?.key ?? null,
  }),
});

export const rank = query({
  args: { game: v.string(), player: v.string() },
  returns: v.nullable(v.number()),
  handler: async (ctx, { game, player }) => {
    const score = await ctx.db
      .query("scores")
      .withIndex("by_game_and_player", (q) => q.eq("game", game).eq("player", player))
      .unique();
    if (score === null) return null;
    return (await places.indexOf(ctx, score.points, { namespace: game, order: "desc" })) + 1;
  },
});
