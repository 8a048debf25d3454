import { defineSchema, defineTable } from "convex/server";
import { contact } from "./fields";

export default defineSchema({
  contacts: defineTable(contact),
});
