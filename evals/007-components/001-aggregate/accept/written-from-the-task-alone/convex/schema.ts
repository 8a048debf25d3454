import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  scores: defineTable({
    game: v.string(),
    player: v.string(),
    points: v.number(),
    replay: v.string(),
  }).index("by_player_and_game", ["player", "game"]),
});
