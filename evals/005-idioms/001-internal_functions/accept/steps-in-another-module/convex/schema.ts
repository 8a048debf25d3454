import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const shop = defineTable({ apiKey: v.string(), paymentUrl: v.string() });
const cards = defineTable({ credits: v.number() });
const payments = defineTable({ receipt: v.string(), cardId: v.id("cards"), credits: v.number() })
  .index("receipt", ["receipt"])
  .index("card", ["cardId"]);

export default defineSchema({ shop, cards, payments });
