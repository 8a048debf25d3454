import { TableAggregate } from "@convex-dev/aggregate";
import { v } from "convex/values";
import { components } from "./_generated/api";
import type { DataModel } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";

const pointsByGame = new TableAggregate<{
  Namespace: string;
  Key: number;
  DataModel: DataModel;
  TableName: "scores";
}>(components.aggregate, {
  namespace: (score) => score.game,
  sortKey: (score) => score.points,
  sumValue: (score) => score.points,
});

async function findScore(ctx: QueryCtx, game: string, player: string) {
  return await ctx.db
    .query("scores")
    .withIndex("by_game_and_player", (q) => q.eq("game", game).eq("player", player))
    .unique();
}

export const submit = mutation({
  args: { game: v.string(), player: v.string(), points: v.number(), replay: v.string() },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const score = await findScore(ctx, args.game, args.player);
    if (score === null) {
      const id = await ctx.db.insert("scores", args);
      const inserted = await ctx.db.get(id);
      await pointsByGame.insert(ctx, inserted!);
      return true;
    }
    if (args.points <= score.points) {
      return false;
    }
    await ctx.db.patch(score._id, { points: args.points, replay: args.replay });
    const improved = await ctx.db.get(score._id);
    await pointsByGame.replace(ctx, score, improved!);
    return true;
  },
});

export const removePlayer = mutation({
  args: { player: v.string() },
  returns: v.number(),
  handler: async (ctx, args) => {
    let removed = 0;
    const scores = ctx.db.query("scores").withIndex("by_player", (q) => q.eq("player", args.player));
    for await (const score of scores) {
      await ctx.db.delete(score._id);
      await pointsByGame.delete(ctx, score);
      removed += 1;
    }
    return removed;
  },
});

export const stats = query({
  args: { game: v.string() },
  returns: v.object({ players: v.number(), total: v.number(), best: v.union(v.number(), v.null()) }),
  handler: async (ctx, args) => {
    const inGame = { namespace: args.game };
    const best = await pointsByGame.max(ctx, inGame);
    return {
      players: await pointsByGame.count(ctx, inGame),
      total: await pointsByGame.sum(ctx, inGame),
      best: best === null ? null : best.key,
    };
  },
});

export const rank = query({
  args: { game: v.string(), player: v.string() },
  returns: v.union(v.number(), v.null()),
  handler: async (ctx, args) => {
    const score = await findScore(ctx, args.game, args.player);
    if (score === null) {
      return null;
    }
    return (await pointsByGame.indexOf(ctx, score.points, { namespace: args.game })) + 1;
  },
});
