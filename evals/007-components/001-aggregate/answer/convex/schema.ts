import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  scores: defineTable({
    game: v.string(),
    player: v.string(),
    points: v.number(),
    replay: v.string(),
  })
    .index("by_game_and_player", ["game", "player"])
    .index("by_player", ["player"]),
});
