import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import { entry, leaderboard, place } from "./leaderboard";

async function findScore(
  ctx: Pick<QueryCtx, "db">,
  game: string,
  player: string,
): Promise<Doc<"scores"> | null> {
  return await ctx.db
    .query("scores")
    .withIndex("by_player_and_game", (q) =>
      q.eq("player", player).eq("game", game),
    )
    .unique();
}

export const submit = mutation({
  args: {
    game: v.string(),
    player: v.string(),
    points: v.number(),
    replay: v.string(),
  },
  returns: v.boolean(),
  handler: async (ctx, { game, player, points, replay }) => {
    const old = await findScore(ctx, game, player);

    if (old === null) {
      const _id = await ctx.db.insert("scores", {
        game,
        player,
        points,
        replay,
      });
      await leaderboard.insert(ctx, entry({ _id, game, points }));
      return true;
    }

    if (old.points >= points) {
      return false;
    }

    await ctx.db.patch("scores", old._id, { points, replay });
    await leaderboard.replace(
      ctx,
      place(old),
      entry({ _id: old._id, game, points }),
    );
    return true;
  },
});

export const removePlayer = mutation({
  args: { player: v.string() },
  returns: v.number(),
  handler: async (ctx, { player }) => {
    // A player plays at most ten games, so these are few.
    const scores = await ctx.db
      .query("scores")
      .withIndex("by_player_and_game", (q) => q.eq("player", player))
      .collect();
    for (const score of scores) {
      await leaderboard.delete(ctx, place(score), { async: true });
      await ctx.db.delete("scores", score._id);
    }
    return scores.length;
  },
});

export const stats = query({
  args: { game: v.string() },
  returns: v.object({
    players: v.number(),
    total: v.number(),
    best: v.union(v.number(), v.null()),
  }),
  handler: async (ctx, { game }) => {
    const [players, total, top] = await Promise.all([
      leaderboard.count(ctx, { namespace: game }),
      leaderboard.sum(ctx, { namespace: game }),
      leaderboard.max(ctx, { namespace: game }),
    ]);
    return { players, total, best: top === null ? null : top.key };
  },
});

export const rank = query({
  args: { game: v.string(), player: v.string() },
  returns: v.union(v.number(), v.null()),
  handler: async (ctx, { game, player }) => {
    const score = await findScore(ctx, game, player);
    if (score === null) {
      return null;
    }
    const better = await leaderboard.count(ctx, {
      namespace: game,
      bounds: { lower: { key: score.points, inclusive: false } },
    });
    return better + 1;
  },
});
