import { defineSchema, defineTable } from "convex/server";
import { requestFields } from "./validators";

export default defineSchema({
  requests: defineTable(requestFields),
});
