import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  // example
  boats: defineTable({ harbourId: v.id("harbours"), name: v.string(), length: v.number() }).index(
    "by_harbour_and_length",
    ["harbourId", "length"],
  ),
  exhibits: defineTable({ museumId: v.id("museums"), label: v.string() }).searchIndex("search_label", {
    searchField: "label",
    filterFields: ["museumId"],
  }),
  fish: defineTable({ pondId: v.id("ponds"), grams: v.number() }),
  harbours: defineTable({}),
  museums: defineTable({}),
  paintings: defineTable({ era: v.string(), title: v.string(), embedding: v.array(v.number()) }).vectorIndex(
    "by_embedding",
    { vectorField: "embedding", dimensions: 256, filterFields: ["era"] },
  ),
  plots: defineTable({ gardener: v.string(), name: v.string(), row: v.number(), litres: v.number() }),
  ponds: defineTable({}),
  seedlings: defineTable({ plotId: v.id("plots"), seed: v.string() }),
  sheets: defineTable({ state: v.string() }),
  trees: defineTable({ height: v.number(), volume: v.optional(v.number()) }),
});
